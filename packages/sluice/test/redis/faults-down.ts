import { Redis } from 'ioredis'
import { freePort } from '../../../../scripts/redis-server.mjs'
import { ioredisOptions, type RedisStoreOptions, redisStore } from '../../src/stores/redis/index.js'

/** A client of a server that is not there, and may come to be at `port`. */
export async function unconnectedClient() {
  const port = await freePort()
  const client = new Redis(port, '127.0.0.1', { ...ioredisOptions, retryStrategy: () => 20 })
  client.on('error', () => {})
  return { port, client, close: () => client.disconnect() }
}

/** A store whose client has ended: every call fails at once. */
export function downStore(options?: RedisStoreOptions) {
  const client = new Redis({ ...ioredisOptions, lazyConnect: true, retryStrategy: () => null })
  client.disconnect()
  return redisStore(client, options)
}
