import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { createLimiter, tokenBucket } from '../../src/index.js'
import { type RedisStoreOptions, redisStore } from '../../src/stores/redis/index.js'
import { CLIENT_NAMES, connected, onServer, type TestClient, timesAsked } from './faults-clients.js'
import { until } from './faults-until.js'

const limit = tokenBucket({ capacity: 1_000, refill: '1/h' })

let server: RedisServer
let client: TestClient

beforeEach(async () => {
  server = await startRedis()
  client = await connected('ioredis', server.port)
})

afterEach(async () => {
  client?.close()
  await server?.stop()
})

function limiterOf(options: RedisStoreOptions, { client: redis } = client) {
  const store = redisStore(redis, { deadlineMs: 20_000, ...options })
  return { store, limiter: createLimiter({ name: 'a', limit, store }) }
}

it.each(CLIENT_NAMES)(
  'calls of one turn leave in two batches, or more if a batch would have over 128 (%s)',
  async (name) => {
    const other = await connected(name, server.port)
    const { store, limiter } = limiterOf({}, other)
    const asked = async (calls: number) => {
      const before = await timesAsked(server.port, 'evalsha', 'eval')
      await Promise.all(Array.from({ length: calls }, (_, i) => limiter.tryAcquire(`user:${i}`)))
      return (await timesAsked(server.port, 'evalsha', 'eval')) - before
    }
    await limiter.peek('key')
    expect(await asked(1)).toBe(1)
    // Too few to be worth a second system call.
    expect(await asked(4)).toBe(1)
    // Redis works on one half while this process reads the answers of the other.
    expect(await asked(100)).toBe(2)
    expect(await asked(256)).toBe(2)
    expect(await asked(300)).toBe(3)
    expect(store.stats()).toMatchObject({ batches: 10, scriptsSent: 1, pending: 0, batchesInFlight: 0 })
    other.close()
  },
)

it('units that an earlier call of a turn takes are gone for a later one', async () => {
  const { limiter } = limiterOf({ maxBatch: 3 })
  const decisions = await Promise.all([5, 900, 95, 1].map((cost) => limiter.tryAcquire('key', { cost })))
  expect(decisions.map(({ remaining }) => remaining)).toEqual([995, 95, 0, 0])
  expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, true, false])
})

it('at most maxBatchesInFlight calls of the script wait for Redis', async () => {
  const { store, limiter } = limiterOf({ maxBatch: 5, maxBatchesInFlight: 2 })
  await limiter.peek('key')
  await onServer(server.port, (redis) => redis.client('PAUSE', 60_000, 'WRITE'))
  const decisions = Promise.all(Array.from({ length: 50 }, () => limiter.tryAcquire('key')))
  await until('calls wait', () => store.stats().batchesInFlight === 2)
  for (let turn = 0; turn < 100; turn++) {
    await new Promise(setImmediate)
    expect(store.stats().batchesInFlight).toBe(2)
  }
  expect(store.stats().pending).toBe(50)
  await onServer(server.port, (redis) => redis.client('UNPAUSE'))
  expect((await decisions).filter(({ degraded }) => degraded !== undefined)).toEqual([])
  expect(store.stats()).toMatchObject({ batches: 11, batchesInFlight: 0, pending: 0 })
})

it('requests beyond those that may wait are answered at once', async () => {
  const { store, limiter } = limiterOf({ maxPending: 10, onFailure: 'closed' })
  await limiter.peek('key')
  const decisions = Promise.all(Array.from({ length: 25 }, () => limiter.tryAcquire('key')))
  expect(store.stats().pending).toBe(10)
  const degraded = (await decisions).map((decision) => decision.degraded)
  expect(degraded).toEqual([...Array(10).fill(undefined), ...Array(15).fill('closed')])
  expect((await limiter.tryAcquire('key')).degraded).toBeUndefined()
  expect(store.stats()).toMatchObject({ pending: 0, breaker: 'closed', degraded: { overload: 15, error: 0 } })
})

it('a call that still waits here at its deadline is never sent', async () => {
  const { store, limiter } = limiterOf({ deadlineMs: 50, maxBatch: 1, maxBatchesInFlight: 2, onFailure: 'closed' })
  await limiter.peek('key')
  server.signal('SIGSTOP')
  const decisions = await Promise.all(Array.from({ length: 200 }, () => limiter.tryAcquire('key')))
  expect(decisions.every(({ degraded }) => degraded === 'closed')).toBe(true)
  expect(store.stats().batches).toBe(3)
  server.signal('SIGCONT')
  await until('Redis answers again', async () => (await limiter.peek('key')).degraded === undefined)
  expect((await limiter.peek('key')).remaining).toBe(998)
})

it('a call of the script reads the clock once, however much it decides', async () => {
  const { store, limiter } = limiterOf({})
  await limiter.peek('key')
  const [before, { batches }] = [await timesAsked(server.port, 'time'), store.stats()]
  await Promise.all(Array.from({ length: 100 }, (_, i) => limiter.tryAcquire(`user:${i}`)))
  expect((await timesAsked(server.port, 'time')) - before).toBe(store.stats().batches - batches)
})

it('if nothing is under way, a call leaves at the end of its task, with the calls that promises of the task make', async () => {
  const { store, limiter } = limiterOf({})
  await limiter.peek('key')
  const { batches } = store.stats()
  const decisions = Promise.all([
    limiter.tryAcquire('key'),
    Promise.resolve().then(() => limiter.tryAcquire('key')),
    Promise.resolve().then(async () => limiter.tryAcquire('key')),
  ])
  await new Promise((resolve) => queueMicrotask(() => process.nextTick(() => process.nextTick(resolve))))
  expect(store.stats()).toMatchObject({ batches: batches + 1, batchesInFlight: 1, pending: 3 })
  await decisions
  expect(store.stats().batches).toBe(batches + 1)
})
