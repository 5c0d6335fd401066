import { once } from 'node:events'
import { Redis } from 'ioredis'
import { ioredisOptions, type RedisStore, redisStore } from 'sluice/redis'
import { startRedis } from '../../../../../scripts/redis-server.mjs'

/** A server, and stores on it that each have a client of their own, as processes of a fleet do. */
export async function startRedisStores() {
  const redis = await startRedis()
  const clients: Redis[] = []
  return {
    async store(): Promise<RedisStore> {
      const client = new Redis(redis.port, '127.0.0.1', { ...ioredisOptions })
      clients.push(client)
      await once(client, 'ready')
      return redisStore(client, { deadlineMs: 5_000 })
    },
    async stop(): Promise<void> {
      for (const client of clients) client.disconnect()
      await redis.stop()
    },
  }
}
