import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { createLimiter } from '../../src/index.js'
import { type RedisStore, redisStore } from '../../src/stores/redis/index.js'
import { connected, type TestClient, timesAsked } from './faults-clients.js'
import { limitsOver, QUOTA } from './fleet-limits.js'

let server: RedisServer
let client: TestClient
let store: RedisStore

beforeAll(async () => {
  server = await startRedis()
  client = await connected('ioredis', server.port)
  store = redisStore(client.client, { deadlineMs: 10_000, onFailure: 'closed' })
})

afterAll(async () => {
  client?.close()
  await server?.stop()
})

const writes = () => timesAsked(server.port, 'set', 'del', 'setrange', 'append', 'expire', 'pexpire', 'pexpireat')

it.each([...limitsOver('1h')])('a denial writes nothing (%s)', async (name, limit) => {
  const limiter = createLimiter({ name, limit, store })
  expect((await limiter.tryAcquire('denied', { cost: QUOTA })).allowed).toBe(true)
  await limiter.block('blocked', { duration: '1h' })
  const before = await writes()
  const denied = await Promise.all([
    ...Array.from({ length: 20 }, (_, i) => limiter.tryAcquire('denied', { cost: 1 + i })),
    ...Array.from({ length: 20 }, (_, i) => limiter.tryAcquire('blocked', { cost: 1 + i })),
  ])
  expect(denied.filter(({ allowed, degraded }) => allowed || degraded !== undefined)).toEqual([])
  await limiter.peek('denied')
  await limiter.peek('fresh')
  expect(await writes()).toBe(before)
})

it('a group that one limit denies writes to none', async () => {
  const demands = [...limitsOver('1h')].map(([name, limit]) => ({ name, limit, key: 'group', cost: 1 }))
  await store.charge({ ...demands[3], cost: QUOTA })
  const before = await writes()
  const { allowed, decisions } = await store.decide(demands)
  expect(allowed).toBe(false)
  expect(decisions.map((decision) => decision.allowed)).toEqual(demands.map((_, i) => i !== 3))
  expect(await writes()).toBe(before)
})
