import { afterEach, expect, it, vi } from 'vitest'
import {
  concurrency,
  createLimiter,
  createPolicy,
  createShaper,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../src/index.js'
import { downStore } from './faults-down.js'

afterEach(() => void vi.restoreAllMocks())

const warnings = () => {
  const spy = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  return () => spy.mock.calls.filter((call) => (call as unknown[])[2] === 'SLUICE_NO_SHARE')
}

it('a limit of which no share can be counted is denied in an outage, and the process goes on', async () => {
  warnings()
  const limit = tokenBucket({ capacity: 1, refill: '0.95/365d' })
  const store = downStore({ onFailure: 'local', instances: 100 })
  const limiter = createLimiter({ name: 'a', limit, store })
  for (let i = 0; i < 5; i++) {
    expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: false, remaining: 0, degraded: 'local' })
  }
  expect((await limiter.tryAcquire('key')).retryAfterMs).toBeLessThan(Infinity)
  expect((await limiter.tryAcquire('key', { cost: 2 })).retryAfterMs).toBe(Infinity)
  expect(await limiter.charge('key')).toMatchObject({ allowed: false, degraded: 'local' })
  expect(await limiter.refund('key')).toMatchObject({ allowed: false, degraded: 'local' })
})

it.each<[string, Limit]>([
  ['token bucket', tokenBucket({ capacity: 3, refill: '1/s' })],
  ['leaky bucket', leakyBucket({ capacity: 3, drain: '1/s' })],
  ['fixed window', fixedWindow({ quota: 3, window: '1000d' })],
  ['sliding window', slidingWindow({ quota: 3, window: '1h', slices: 6 })],
  ['sliding log', slidingLog({ quota: 3, window: '1h' })],
  ['concurrency limit', concurrency({ max: 3, ttl: '1h' })],
])('of a %s smaller than the number of instances, none has a unit, which is said when it is made', async (_, limit) => {
  const said = warnings()
  const store = downStore({ onFailure: 'local', instances: 4 })
  const limiter = createLimiter({ name: 'small', limit, store })
  expect(said()).toEqual([[expect.stringContaining("'small'"), 'SluiceWarning', 'SLUICE_NO_SHARE']])
  expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: false, quota: 3, degraded: 'local' })
  expect(await limiter.tryAcquire('other')).toMatchObject({ allowed: false, quota: 3, degraded: 'local' })
  expect(said()).toHaveLength(1)
})

it('a policy says which levels have no share, and a level that is open needs none', async () => {
  const said = warnings()
  const limit = fixedWindow({ quota: 3, window: '1h' })
  const levels = [
    { name: 'one', limit, onFailure: 'local' as const },
    { name: 'two', limit },
    {
      name: 'three',
      key: 'user',
      limit: fixedWindow({ quota: 8, window: '1h' }),
      onFailure: 'local' as const,
      overrides: [{ when: { user: 'small' }, limit }],
    },
  ]
  const policy = createPolicy({ name: 'p', levels, store: downStore({ onFailure: 'open', instances: 4 }) })
  expect(said().map(([message]) => /'([^']+)'/.exec(message as string)?.[1])).toEqual(['p/one', 'p/three'])
  const verdict = await policy.check({ user: 'large' })
  expect(verdict).toMatchObject({ allowed: false, deniedBy: ['one'], degraded: 'open' })
  expect(verdict.levels.map(({ decision }) => decision.degraded)).toEqual(['local', 'open', 'local'])
})

it('a shaper of which there is no share refuses in an outage, and says so when it is made', async () => {
  const said = warnings()
  const store = downStore({ instances: 4 })
  const shaper = createShaper({ name: 'bank', drain: '10/s', capacity: 3, store })
  expect(said()).toHaveLength(1)
  await expect(shaper.wait()).rejects.toMatchObject({ code: 'SLUICE_QUEUE_FULL' })
  await shaper.close()
})

it('a demand that no limiter has made is answered too', async () => {
  const limit = tokenBucket({ capacity: 1, refill: '0.95/365d' })
  const store = downStore({ onFailure: 'local', instances: 100 })
  const json = JSON.parse(JSON.stringify(limit)) as Limit
  for (const each of [limit, json]) {
    const { allowed, decisions } = await store.decide([{ name: 'a', limit: each, key: 'key', cost: 1 }])
    expect([allowed, decisions[0].degraded]).toEqual([false, 'local'])
  }
})

it('what is kept here while Redis is away is bounded, and the bound is an option', async () => {
  const limit = tokenBucket({ capacity: 5, refill: '1/h' })
  const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'local', maxLocalKeys: 10 }) })
  const log = createLimiter({
    name: 'b',
    limit: slidingLog({ quota: 500, window: '1h' }),
    store: downStore({ onFailure: 'local', maxLocalKeys: 100 }),
  })
  let allowed = 0
  // The first ten have buckets of their own; all others share 1,024.
  for (let i = 0; i < 12_000; i++) if ((await limiter.tryAcquire(`key ${i}`)).allowed) allowed++
  expect(allowed).toBeLessThanOrEqual(10 + 5 * 1_024)
  let logged = 0
  for (let i = 0; i < 200; i++) if ((await log.tryAcquire('key')).allowed) logged++
  expect(logged).toBeGreaterThan(30)
  expect(logged).toBeLessThanOrEqual(100)
  expect(() => downStore({ maxLocalKeys: 0 })).toThrow('maxLocalKeys must be a whole number from 1 to')
})

it('a block that finds no room here is still told to Redis, and the next too', async () => {
  const store = downStore({ onFailure: 'open', maxLocalKeys: 1 })
  const limiter = createLimiter({ name: 'a', limit: tokenBucket({ capacity: 5, refill: '1/h' }), store })
  for (const key of ['one', 'two', 'three']) {
    const blocked = limiter.block(key, { duration: '1h' })
    await expect(blocked).rejects.toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE' })
  }
  expect((await limiter.tryAcquire('one')).allowed).toBe(false)
  expect((await limiter.tryAcquire('two')).allowed).toBe(true)
})
