import { once } from 'node:events'
import { Redis } from 'ioredis'
import { startRedis } from '../../../../../scripts/redis-server.mjs'
import type { Clock } from '../../../src/clock.js'
import { microseconds } from '../../../src/limits/index.js'
import { ioredisRunner } from '../../../src/stores/redis/clients/ioredis-client.js'
import { ioredisOptions, type RedisStoreOptions } from '../../../src/stores/redis/index.js'
import { RedisStore } from '../../../src/stores/redis/redis-store.js'
import { injectedTime } from '../../../src/stores/redis/time-source.js'

/** A server, and stores on it that share all they keep, as processes of a fleet do; a clock of the test is Redis's. */
export async function startProcesses() {
  const server = await startRedis()
  const client = new Redis(server.port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
  client.on('error', () => {})
  await Promise.all([once(client, 'ready'), client.connect()])
  return {
    server,
    client,
    /** What one process holds. Those with the same prefix see each other. */
    store(clock: Clock, prefix: string, options: RedisStoreOptions = {}): RedisStore {
      const time = injectedTime(() => microseconds(clock.now()))
      return new RedisStore(ioredisRunner(client), { prefix, deadlineMs: 20_000, ...options }, time)
    },
    async stop() {
      client.disconnect()
      await server.stop()
    },
  }
}

export type Processes = Awaited<ReturnType<typeof startProcesses>>
