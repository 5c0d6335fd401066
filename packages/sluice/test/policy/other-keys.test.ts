import {
  createPolicy,
  fixedWindow,
  type Limit,
  leakyBucket,
  memoryStore,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

/** For each algorithm, a limit that is whole again after an hour, and one after a second. */
const LIMITS: readonly (readonly [Limit, Limit])[] = [
  [tokenBucket({ capacity: 5, refill: '5/h' }), tokenBucket({ capacity: 5, refill: '5/s' })],
  [leakyBucket({ capacity: 5, drain: '5/h' }), leakyBucket({ capacity: 5, drain: '5/s' })],
  [fixedWindow({ quota: 5, window: '1h' }), fixedWindow({ quota: 5, window: '1s' })],
  [slidingWindow({ quota: 5, window: '1h' }), slidingWindow({ quota: 5, window: '1s' })],
  [slidingLog({ quota: 5, window: '1h' }), slidingLog({ quota: 5, window: '1s' })],
]
const OTHERS = Array.from({ length: 2_000 }, (_, i) => ({ merchant: `m${i}` }))
const big = { merchant: 'big' }

const CASES = LIMITS.map(([slow, fast]) => ({ algorithm: slow.algorithm, slow, fast }))

describe.each(CASES)('an exhausted $algorithm', ({ slow, fast }) => {
  it('is not forgotten because another key of the level has a faster limit', () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1))
    const policy = createPolicy({
      name: 'api',
      levels: [
        { name: 'merchant', key: 'merchant', limit: slow, overrides: [{ when: { merchant: 'big' }, limit: fast }] },
      ],
      store: memoryStore({ clock }),
    })
    policy.override('merchant', 'bigger', fast)
    for (const each of OTHERS) policy.check(each, { cost: 5 })
    // Enough calls for the store to sweep every key.
    for (let i = 0; i < 20_000; i++) {
      if (i % 100 === 0) clock.advance(100)
      policy.check(i % 2 === 0 ? big : { merchant: 'bigger' })
    }
    expect(OTHERS.filter((each) => policy.check(each, { cost: 3 }).allowed)).toEqual([])
  })

  it('is not forgotten because the store is full of other keys', () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1))
    const policy = createPolicy({
      name: 'api',
      levels: [
        { name: 'all', limit: tokenBucket({ capacity: 1_000_000, refill: '1/s' }) },
        { name: 'merchant', key: 'merchant', limit: slow },
        { name: 'again', key: 'merchant', limit: fast },
      ],
      store: memoryStore({ clock, maxKeys: 500, onFull: 'deny' }),
    })
    policy.check(big, { cost: 5 })
    for (const each of OTHERS) policy.check(each)
    const { allowed, deniedBy } = policy.check(big, { cost: 5 })
    expect([allowed, deniedBy]).toEqual([false, ['merchant', 'again']])
    // A request that finds no room takes from no level.
    const taken = 1_000_000 - policy.peek({ merchant: null }).levels[0].decision.remaining
    const served = OTHERS.filter((each) => policy.peek(each).levels[1].decision.remaining === 4).length
    expect(taken).toBe(5 + served)
  })
})
