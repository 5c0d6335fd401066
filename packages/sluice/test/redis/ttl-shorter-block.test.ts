import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { createLimiter } from '../../src/index.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { connected, type TestClient } from './faults-clients.js'
import { limitsOver } from './fleet-limits.js'

let server: RedisServer
let redis: Redis
let client: TestClient

beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.port)
  client = await connected('ioredis', server.port)
})

afterAll(async () => {
  client?.close()
  redis?.disconnect()
  await server?.stop()
})

it('a shorter block in the place of a longer one shortens the lives of keys that hold nothing else', async () => {
  const store = redisStore(client.client, { deadlineMs: 10_000 })
  const [[name, limit]] = limitsOver('1s')
  const limiter = createLimiter({ name, limit, store })
  await limiter.block('key', { duration: '1h' })
  await limiter.block('key', { duration: '1m' })
  const keys = await redis.keys('*')
  expect(keys).toHaveLength(5)
  for (const key of keys) expect(await redis.pttl(key)).toBeLessThanOrEqual(60_002)
})
