import { afterEach, expect, it, vi } from 'vitest'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
  unlimited,
} from '../../src/index.js'
import { downStore } from './faults-down.js'

afterEach(() => void vi.restoreAllMocks())

const NOTHING = [
  tokenBucket({ capacity: 0, refill: '5/s' }),
  leakyBucket({ capacity: 0, drain: '5/s' }),
  fixedWindow({ quota: 0, window: '1m' }),
  slidingWindow({ quota: 0, window: '1m' }),
  slidingLog({ quota: 0, window: '1m' }),
  concurrency({ max: 0 }),
]

it.each(NOTHING)(
  'a limit of 0 denies everything in an outage, by every rule, without a warning: $algorithm',
  async (limit) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    for (const onFailure of ['open', 'closed', 'local'] as const) {
      const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure, instances: 100 }) })
      expect(await limiter.tryAcquire('key')).toMatchObject({
        allowed: false,
        quota: 0,
        remaining: 0,
        retryAfterMs: Infinity,
        degraded: onFailure,
      })
      expect((await limiter.peek('key', { cost: 0 })).allowed).toBe(onFailure !== 'closed')
    }
    expect(warn.mock.calls.filter((call) => (call as unknown[])[2] === 'SLUICE_NO_SHARE')).toEqual([])
  },
)

it('an unlimited key is allowed in an outage unless the rule is closed, and stays blocked in this process', async () => {
  for (const onFailure of ['open', 'closed', 'local'] as const) {
    const store = downStore({ onFailure, instances: 100 })
    const limiter = createLimiter({ name: 'a', limit: unlimited(), store })
    const allowed = onFailure !== 'closed'
    const left = allowed ? Infinity : 0
    const decision = await limiter.tryAcquire('key', { cost: 1_000 })
    expect(decision).toMatchObject({ allowed, quota: Infinity, remaining: left, degraded: onFailure })
    await expect(limiter.block('key', { duration: '1h' })).rejects.toThrow()
    expect((await limiter.tryAcquire('key')).allowed).toBe(false)
  }
})

it('a cost above any other quota is let go by the rule open', async () => {
  const limit = tokenBucket({ capacity: 10, refill: '1/s' })
  const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'open' }) })
  expect((await limiter.tryAcquire('key', { cost: 11 })).allowed).toBe(true)
})
