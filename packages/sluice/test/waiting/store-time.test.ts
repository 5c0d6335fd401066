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
  it('is taken from the first answer, as long as no other is known', () => {
    expect(ask(new StoreTime(), 0, 3, 5)).toBe(5)
  })

  it('is known as closely as the quickest answer allows, and is never too early', () => {
    const time = new StoreTime()
    expect(ask(time, 0, 1, 2)).toBe(2)
    expect(ask(time, 100, 1, 40)).toBeCloseTo(2.07)
    expect(ask(time, 200, 1, 1)).toBe(1)
    expect(ask(time, 300, 50, 50)).toBeCloseTo(1.1)
  })

  it('is known less closely as time passes, because clocks drift', () => {
    const time = new StoreTime()
    ask(time, 0, 1, 1)
    expect(ask(time, 2_000, 1, 8)).toBeCloseTo(2)
    expect(ask(time, 10_000, 1, 8)).toBeCloseTo(6)
    expect(ask(time, 30_000, 1, 8)).toBe(8)
  })

  it('is never before the question, even if a clock is set', () => {
    const time = new StoreTime()
    ask(time, 0, 1, 1)
    // The store's clock is set back by an hour.
    expect(ask(time, 100 - 3_600_000, 1, 5, DISTANCE_MS + 3_600_000)).toBe(5)
    // It is set forward by an hour.
    expect(ask(time, 200 + 3_600_000, 1, 5, DISTANCE_MS - 3_600_000)).toBe(5)
  })

  it('is in doubt after a first answer that was read late, and so are answers to earlier questions', () => {
    const time = new StoreTime()
    expect(ask(time, 0, 1, 4_000)).toBe(undefined)
    expect(ask(time, 10, 3_000, 1_000)).toBe(undefined)
    expect(ask(time, 4_011, 1, 2)).toBe(2)
    expect(ask(time, 4_020, 1, 4_000)).toBeLessThan(5)
  })

  it('is in doubt after a long silence, if the next answer is read late', () => {
    const time = new StoreTime()
    ask(time, 0, 1, 1)
    expect(ask(time, 3_600_000, 1, 1_000)).toBe(undefined)
    expect(ask(time, 3_601_001, 1, 2)).toBe(2)
  })

  it('is accepted as it is if answers are always slow', () => {
    const time = new StoreTime()
    expect(ask(time, 0, 50, 50)).toBe(undefined)
    for (let i = 1; i < 100; i++) expect(ask(time, i * 1_000, 50, 50)).toBe(50)
    // The same holds if answers become slow.
    ask(time, 100_000, 1, 1)
    const later = Array.from({ length: 200 }, (_, i) => ask(time, 101_000 + i * 1_000, 40, 40))
    expect(later.filter((madeMs) => madeMs === undefined)).toHaveLength(1)
  })

  it('is accepted at every second answer at least, if the process is always held up', () => {
    const time = new StoreTime()
    const made = Array.from({ length: 10 }, (_, i) => ask(time, i * 10_000, 1, 500 * (i + 1)))
    expect(made.filter((madeMs) => madeMs !== undefined).length).toBeGreaterThanOrEqual(5)
  })
})
