import { describe, expect, it } from 'vitest'
import { StoreTime } from '../../src/shaper/store-time.js'

/** The store's clock says 0 when ours says this. */
const DISTANCE_MS = 1_000_000

/** Asks at `askedMs` of the store's clock; the answer is made `thereMs` later and comes `backMs` after that. */
function ask(time: StoreTime, askedMs: number, thereMs: number, backMs: number, distanceMs = DISTANCE_MS): number {
  const storeMs = askedMs + thereMs
  const made = time.madeMs(storeMs, askedMs + distanceMs, storeMs + backMs + distanceMs)
  return made - distanceMs - storeMs
}

describe('the time of a store', () => {
  it('is that of the answer as long as no other is known', () => {
    expect(ask(new StoreTime(), 0, 3, 5)).toBe(5)
  })

  it('is known as closely as the quickest answer of late tells, and never early', () => {
    const time = new StoreTime()
    expect(ask(time, 0, 1, 2)).toBe(2)
    expect(ask(time, 100, 1, 40)).toBe(2)
    expect(ask(time, 200, 1, 1)).toBe(1)
    expect(ask(time, 300, 50, 50)).toBe(1)
  })

  it('forgets what was long ago, because clocks drift', () => {
    const time = new StoreTime()
    ask(time, 0, 1, 1)
    expect(ask(time, 1_500, 1, 10)).toBe(1)
    expect(ask(time, 2_600, 1, 10)).toBe(10)
    expect(ask(time, 10_000, 1, 30)).toBe(30)
  })

  it('is never before the question, however the clocks were set', () => {
    const time = new StoreTime()
    ask(time, 0, 1, 1)
    // The store's clock has been set back by an hour, and so is further from ours.
    expect(ask(time, 100 - 3_600_000, 1, 5, DISTANCE_MS + 3_600_000)).toBe(-1)
    // It has been set forward by one.
    expect(ask(time, 200 + 3_600_000, 1, 5, DISTANCE_MS - 3_600_000)).toBe(5)
  })
})
