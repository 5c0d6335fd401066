import type { Arithmetic, Words } from './arithmetic.js'
import { arithmeticOf } from './arithmetic-of.js'
import { type LeaseGrant, type LeaseTerms, nextRoundEndsUs, roundLengthUs } from './leased-bucket.js'
import type { FixedWindow, SlidingWindow } from './limit.js'
import { SliceGrid } from './slice-grid.js'

/**
 * A window that lends units. They are simply taken in advance, so nothing but the count is kept. A lease ends with its
 * window, a sliding one with its slice, and at the latest with the round after the one of the grant:
 *
 *     end = min(end of the slice, end of the next round)
 *
 * Units that a node has spent need no report. Units that come back are refunded to the slice in which they were taken. A
 * return that comes more than a round after the end is ignored, so a request that arrives twice need not be remembered for
 * longer than that.
 *
 * Refuses windows that begin at the first request: what `leaseUs` calls 0 long is not leased.
 */
export class LeasedWindow {
  readonly #arithmetic: Arithmetic
  readonly #grid: SliceGrid

  constructor(limit: FixedWindow | SlidingWindow) {
    this.#arithmetic = arithmeticOf(limit)
    // A fixed window is a slice.
    const [windowUs, , , slices = 1] = this.#arithmetic.remote.parameters
    this.#grid = new SliceGrid(windowUs, slices)
  }

  /** Takes back what is returned to the state that begins at `words[at]`, and then grants. */
  exchange(words: Words, at: number, nowUs: number, terms: LeaseTerms): LeaseGrant {
    const arithmetic = this.#arithmetic
    let isChanged = false
    for (const { roundUs, unspent } of terms.returns) {
      if (unspent === 0 || nowUs >= roundUs + roundLengthUs(terms)) continue
      const taken = { atUs: roundUs - 1, cost: unspent, delayMs: 0 }
      isChanged = arithmetic.refund(words, at, nowUs, unspent, taken) || isChanged
    }
    const granted = Math.min(terms.want, arithmetic.decision(words, at, nowUs, 0, true).remaining)
    if (granted === 0) return { granted, roundUs: nowUs, isChanged }
    arithmetic.take(words, at, nowUs, granted)
    const takenUs = arithmetic.takenUs(words, at, nowUs)
    const untilUs = takenUs + this.#grid.untilUs(this.#grid.sliceAt(takenUs) + 1, takenUs)
    return { granted, roundUs: Math.min(untilUs, nextRoundEndsUs(takenUs, terms)), isChanged: true }
  }
}
