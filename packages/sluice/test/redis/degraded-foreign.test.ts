import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { createLimiter } from '../../src/index.js'
import { type RedisStore, redisStore } from '../../src/stores/redis/index.js'
import { connected, onServer, type TestClient } from './faults-clients.js'
import { limitsOver } from './fleet-limits.js'

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

const letters: Readonly<Record<string, string>> = {
  'token-bucket': 't',
  'leaky-bucket': 'l',
  'fixed-window': 'f',
  'sliding-window': 's',
  'sliding-log': 'g',
}

it.each([...limitsOver('1h')])(
  'a key that holds something else spoils its own call and no other (%s)',
  async (name, limit) => {
    const limiter = createLimiter({ name, limit, store })
    const keyOf = (key: string) => `sluice:${letters[limit.algorithm]}:{${key}}${name}`
    await onServer(server.port, async (redis) => {
      await redis.lpush(keyOf('list'), 'something')
      await redis.set(keyOf('text'), 'something else')
    })
    const { foreign } = store.stats().degraded
    const keys = ['a', 'list', 'b', 'text', 'c']
    const decisions = await Promise.all(keys.map((key) => limiter.tryAcquire(key)))
    expect(decisions.map(({ degraded }) => degraded)).toEqual([undefined, 'closed', undefined, 'closed', undefined])
    expect(decisions[4]).toMatchObject({ allowed: true, remaining: 4 })
    await limiter.charge('list')
    await limiter.refund('text')
    expect(store.stats().degraded).toMatchObject({ foreign: foreign + 4, error: 0, deadline: 0 })
    expect(store.stats().breaker).toBe('closed')
    expect(await onServer(server.port, (redis) => redis.type(keyOf('list')))).toBe('list')
  },
)

it('a group with a key that holds something else takes from none', async () => {
  const demands = [...limitsOver('1h')].map(([name, limit]) => ({ name, limit, key: 'group', cost: 1 }))
  const spoiled = demands[5]
  await onServer(server.port, (redis) => redis.lpush(`sluice:s:{group}${spoiled.name}`, 'something'))
  const { allowed, decisions } = await store.decide(demands)
  expect(allowed).toBe(false)
  expect(decisions.every(({ degraded }) => degraded === 'closed')).toBe(true)
  const others = await store.decide(
    demands.filter((demand) => demand !== spoiled).map((each) => ({ ...each, cost: 0 })),
  )
  expect(others.decisions.map(({ remaining }) => remaining)).toEqual(others.decisions.map(({ quota }) => quota))
})
