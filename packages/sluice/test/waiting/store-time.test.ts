import { describe, expect, it } from 'vitest'
import { StoreTime } from '../../src/waiting/store-time.js'

/** Our clock is ahead of the store's by this much. */
const DISTANCE_MS = 1_000_000

/**
 * Asks at `askedMs` by the store's clock. The store makes the answer `thereMs` later, and it arrives `backMs` after that.
 * Returns by how many milliseconds the time of the answer is overestimated; `undefined` if it is in doubt.
 */
function ask(time: StoreTime, askedMs: number, thereMs: number, backMs: number, distanceMs = DISTANCE_MS) {
  const storeMs = askedMs + thereMs
  const isKnown = time.learn(storeMs, askedMs + distanceMs, storeMs + backMs + distanceMs)
  return isKnown ? time.mostGapMs - distanceMs : undefined
}

describe('the time of a store', () => {
  it('is that of the answer as long as no other is known', () => {
    expect(ask(new StoreTime(), 0, 3, 5)).toBe(5)
  })

  it('is known as closely as the quickest answer tells, and never early', () => {
    const time = new StoreTime()
    expect(ask(time, 0, 1, 2)).toBe(2)
    expect(ask(time, 100, 1, 40)).toBeCloseTo(2.07)
    expect(ask(time, 200, 1, 1)).toBe(1)
    expect(ask(time, 300, 50, 50)).toBeCloseTo(1.1)
  })

  it('is known less and less closely, because clocks drift', () => {
    const time = new StoreTime()
    ask(time, 0, 1, 1)
    expect(ask(time, 2_000, 1, 8)).toBeCloseTo(2)
    expect(ask(time, 10_000, 1, 8)).toBeCloseTo(6)
    expect(ask(time, 30_000, 1, 8)).toBe(8)
  })

  it('is never before the question, however the clocks were set', () => {
    const time = new StoreTime()
    ask(time, 0, 1, 1)
    // The store's clock has been set back by an hour, and so is further from ours.
    expect(ask(time, 100 - 3_600_000, 1, 5, DISTANCE_MS + 3_600_000)).toBe(5)
    // It has been set forward by one.
    expect(ask(time, 200 + 3_600_000, 1, 5, DISTANCE_MS - 3_600_000)).toBe(5)
  })

  it('is not known from a first answer that was read late, nor from others that were asked for before', () => {
    const time = new StoreTime()
    expect(ask(time, 0, 1, 4_000)).toBe(undefined)
    expect(ask(time, 10, 3_000, 1_000)).toBe(undefined)
    expect(ask(time, 4_011, 1, 2)).toBe(2)
    expect(ask(time, 4_020, 1, 4_000)).toBeLessThan(5)
  })

  it('is not known after a long silence if the next answer is read late', () => {
    const time = new StoreTime()
    ask(time, 0, 1, 1)
    expect(ask(time, 3_600_000, 1, 1_000)).toBe(undefined)
    expect(ask(time, 3_601_001, 1, 2)).toBe(2)
  })

  it('is what can be known where answers are always slow', () => {
    const time = new StoreTime()
    expect(ask(time, 0, 50, 50)).toBe(undefined)
    for (let i = 1; i < 100; i++) expect(ask(time, i * 1_000, 50, 50)).toBe(50)
    // And where they become so.
    ask(time, 100_000, 1, 1)
    const later = Array.from({ length: 200 }, (_, i) => ask(time, 101_000 + i * 1_000, 40, 40))
    expect(later.filter((madeMs) => madeMs === undefined)).toHaveLength(1)
  })

  it('is taken as it is by a process that is always held up, at every other answer', () => {
    const time = new StoreTime()
    const made = Array.from({ length: 10 }, (_, i) => ask(time, i * 10_000, 1, 500 * (i + 1)))
    expect(made.filter((madeMs) => madeMs !== undefined).length).toBeGreaterThanOrEqual(5)
  })
})
