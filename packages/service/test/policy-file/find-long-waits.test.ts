import fc from 'fast-check'
import {
  createLimiter,
  type Duration,
  fixedWindow,
  type Level,
  readPolicy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { findLongWaits } from '../../src/policy-file/find-long-waits.js'

const warnings = (...levels: Level[]) => findLongWaits(readPolicy({ levels }).levels)

/** The longest window that all numbers of slices here divide into whole milliseconds. */
const WINDOW_MS = 2_520
const START_MS = 1_000 * WINDOW_MS

/** The longest wait of a denied request of `cost` that a limiter tells, over calls at times that are shares of a slice. */
function longestWaitMs(quota: number, slices: number, cost: number, traces: readonly (readonly Step[])[]): number {
  let longest = 0
  for (const trace of traces) {
    const clock = new ManualClock(START_MS)
    const limit = slidingWindow({ quota, window: `${WINDOW_MS}ms`, slices })
    const limiter = createLimiter({ limit, clock })
    for (const { afterMs, units } of trace) {
      clock.advance(afterMs)
      limiter.tryAcquire('a', { cost: Math.min(units, quota) })
      const { allowed, retryAfterMs } = limiter.tryAcquire('a', { cost })
      if (!allowed) longest = Math.max(longest, retryAfterMs)
    }
  }
  return longest
}

interface Step {
  readonly afterMs: number
  readonly units: number
}

/** Calls at random, and the whole quota at the beginning of a slice. */
const TRACES: readonly (readonly Step[])[] = [
  [{ afterMs: 0, units: 100 }],
  ...fc.sample(
    fc.array(
      fc.record({
        afterMs: fc.oneof(
          fc.constantFrom(0, 1, 210, 252, 360, 504, 1_260, 2_519),
          fc.integer({ min: 0, max: WINDOW_MS }),
        ),
        units: fc.integer({ min: 0, max: 30 }),
      }),
      { minLength: 1, maxLength: 30 },
    ),
    { numRuns: 40, seed: 7 },
  ),
]

describe('a warning about long waits', () => {
  it('comes for a sliding window if and only if a limiter can tell a wait of more than a tenth above the window', () => {
    let warned = 0
    for (let quota = 1; quota <= 12; quota++) {
      for (const slices of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12]) {
        for (const cost of [1, 2, 5, quota].filter((each) => each <= quota)) {
          const longest = longestWaitMs(quota, slices, cost, TRACES)
          expect(longest).toBe(Math.ceil(WINDOW_MS * (1 + cost / (quota * slices)) - 1e-6))
          const limit = slidingWindow({ quota, window: `${WINDOW_MS}ms`, slices })
          const isLong = longest > Math.ceil(1.1 * WINDOW_MS)
          expect(warnings({ name: 'a', limit, cost }), JSON.stringify({ limit, cost })).toHaveLength(isLong ? 1 : 0)
          if (isLong) warned++
        }
      }
    }
    expect(warned).toBeGreaterThan(50)
  })

  it('names slices that make the wait short, and the sliding log', () => {
    const limit = slidingWindow({ quota: 2, window: '1h' })
    const message =
      "'exports' may make a client wait 90m in a sliding window of 1h, because its quota is small; " +
      'slices: 5 makes that 66m, and a sliding-log never waits longer than 1h'
    expect(warnings({ name: 'exports', limit })).toEqual([{ path: ['levels', 0, 'limit', 0], message }])
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 200 }), (quota, cost) => {
        fc.pre(cost <= quota)
        const [warning] = warnings({ name: 'a', limit: slidingWindow({ quota, window: '1m' }), cost })
        fc.pre(warning !== undefined)
        const slices = Number(/slices: (\d+)/.exec(warning.message)?.[1])
        const sliced = { name: 'a', limit: slidingWindow({ quota, window: '1m', slices }), cost }
        expect(warnings(sliced)).toEqual([])
        if (slices > 2)
          expect(
            warnings({ ...sliced, limit: slidingWindow({ quota, window: '1m', slices: slices - 1 }) }),
          ).toHaveLength(1)
        expect(warnings({ ...sliced, limit: slidingLog({ quota, window: '1m' }) })).toEqual([])
      }),
    )
  })

  it('names only what can be made', () => {
    const long: Duration = '36500d'
    const [first] = warnings({ name: 'a', limit: slidingWindow({ quota: 1, window: long }) })
    expect(first.message).not.toContain('slices:')
    expect(first.message).toContain('sliding-log')
    const [second] = warnings({ name: 'a', limit: slidingWindow({ quota: 2_000_000, window: '1m' }), cost: 1_000_000 })
    expect(second.message).toContain('slices: 5')
    expect(second.message).not.toContain('sliding-log')
  })

  it('comes for every limit of a list and of an override, at its place', () => {
    const small = slidingWindow({ quota: 3, window: '1m' })
    const overrides = [{ when: { plan: 'free' }, limit: [tokenBucket({ capacity: 1, refill: '1/s' }), small] }]
    const level: Level = { name: 'a', key: 'plan', limit: [small, fixedWindow({ quota: 1, window: '1m' })], overrides }
    expect(
      warnings({ name: 'b', limit: slidingWindow({ quota: 10, window: '1m' }) }, level).map(({ path }) => path),
    ).toEqual([
      ['levels', 1, 'limit', 0],
      ['levels', 1, 'overrides', 0, 'limit', 1],
    ])
  })

  it('does not come for a shadow level, for a level that takes nothing, or for a cost that never passes', () => {
    const limit = slidingWindow({ quota: 2, window: '1m' })
    expect(warnings({ name: 'a', limit, shadow: true })).toEqual([])
    expect(warnings({ name: 'a', limit, cost: 0 })).toEqual([])
    expect(warnings({ name: 'a', limit, cost: 3 })).toEqual([])
    expect(warnings({ name: 'a', limit, cost: 'units' })).toHaveLength(1)
  })
})
