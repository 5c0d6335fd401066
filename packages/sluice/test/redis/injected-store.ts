import { Redis } from 'ioredis'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import type { Clock } from '../../src/clock.js'
import { microseconds } from '../../src/limits/index.js'
import { ioredisRunner } from '../../src/stores/redis/clients/ioredis-client.js'
import { RedisStore } from '../../src/stores/redis/redis-store.js'
import { injectedTime } from '../../src/stores/redis/time-source.js'

/** A server, and stores on it that tell time by a clock of the test. Each finds Redis empty: it has its own prefix. */
export async function startInjected() {
  const server = await startRedis()
  const client = new Redis(server.port)
  let stores = 0
  return {
    client,
    create(clock: Clock): RedisStore {
      return this.createWithPrefix(clock).store
    },
    createWithPrefix(clock: Clock): { store: RedisStore; prefix: string } {
      const time = injectedTime(() => microseconds(clock.now()))
      const prefix = `test-${++stores}:`
      return { store: new RedisStore(ioredisRunner(client), { prefix, deadlineMs: 60_000 }, time), prefix }
    },
    async stop() {
      client.disconnect()
      await server.stop()
    },
  }
}
