import { InvalidValueError } from '../../errors.js'
import { MOST_PARTS } from '../../limits/bucket.js'
import type { Arithmetic, Decision, Taken } from '../../limits/index.js'
import { DETAILS, detailOf, LAST_US, LIFE_US, type StateWord, setWord, timeOf } from './state-word.js'
import type { WordArithmetic } from './word-arithmetic.js'

/**
 * A token or leaky bucket as the time at which it is full again. A rate is g parts a microsecond (see `Bucket`), so the
 * time has a fraction of f/g microseconds, which the detail holds:
 *
 *     used(now) = max(0, (time − now) · g + f)        in parts, 0 ≤ f < g
 *
 * Taking a cost adds its parts. All numbers are whole and below 2^53, so nothing is rounded.
 */
export class BucketWords implements WordArithmetic {
  readonly arithmetic: Arithmetic
  readonly #startUs: number
  readonly #partsPerUnit: number
  readonly #partsPerUs: number
  readonly #full: number
  readonly #isQueue: boolean
  readonly #report = { nowUs: 0, tokens: 0, aheadUs: 0, numbers: [], at: 0 }

  constructor(arithmetic: Arithmetic, startUs: number) {
    const [partsPerUnit, partsPerUs, capacity] = arithmetic.remote.parameters
    this.arithmetic = arithmetic
    this.#startUs = startUs
    this.#partsPerUnit = partsPerUnit
    this.#partsPerUs = partsPerUs
    this.#full = capacity * partsPerUnit
    this.#isQueue = arithmetic.limit.algorithm === 'leaky-bucket'
    checkFits(arithmetic, partsPerUs, this.#full)
  }

  used({ hi, lo }: StateWord, nowUs: number): number {
    return Math.max(0, (timeOf(hi, lo) - nowUs) * this.#partsPerUs + detailOf(lo))
  }

  fits(used: number, cost: number): boolean {
    return cost <= this.arithmetic.quota && this.#full - used >= cost * this.#partsPerUnit
  }

  plus(used: number, cost: number): number {
    return Math.min(used + cost * this.#partsPerUnit, this.#full + MOST_PARTS)
  }

  minus(used: number, _word: StateWord, nowUs: number, units: number, taken: Taken | undefined): number {
    if (!this.#isQueue) return Math.max(0, used - units * this.#partsPerUnit)
    // The word does not say what the last slot cost, so a slot comes back only if the caller says which it was.
    if (taken === undefined || !this.#isLast(used, nowUs, taken)) return used
    return used - Math.min(units, taken.cost) * this.#partsPerUnit
  }

  write(word: StateWord, nowUs: number, used: number): void {
    const wholeUs = Math.floor(used / this.#partsPerUs)
    setWord(word, nowUs + wholeUs, used - wholeUs * this.#partsPerUs)
  }

  decision(used: number, _word: StateWord, nowUs: number, cost: number, allowed: boolean): Decision {
    const report = this.#report
    report.nowUs = this.#startUs + nowUs
    report.tokens = this.#full - used
    return this.arithmetic.remote.decision(report, cost, allowed)
  }

  takenUs(_used: number, _word: StateWord, nowUs: number): number {
    return this.#startUs + nowUs
  }

  /** Is the slot the last of the queue, and still to depart? As in `LeakyBucketArithmetic`. */
  #isLast(queue: number, nowUs: number, taken: Taken): boolean {
    const slot = taken.cost * this.#partsPerUnit
    const departsInUs = taken.atUs - this.#startUs - nowUs + taken.delayMs * 1000
    const slotEnd = departsInUs * this.#partsPerUs + slot
    return queue > slot && Math.abs(slotEnd - queue) * 2 < this.#partsPerUnit
  }
}

/** The fraction must fit in the detail, and the time of the deepest debt in the word. */
function checkFits({ limit }: Arithmetic, partsPerUs: number, full: number): void {
  const rate = 'refill' in limit ? limit.refill : 'drain' in limit ? limit.drain : ''
  if (partsPerUs > DETAILS) {
    throw new InvalidValueError(
      `sharedStore cannot count '${rate}' exactly in 64 bits; use a rounder rate, such as '10000/s' instead of '9999/s'`,
      { option: 'limit' },
    )
  }
  if ((full + MOST_PARTS) / partsPerUs + LIFE_US <= LAST_US) return
  throw new InvalidValueError(
    `sharedStore cannot count a bucket that takes more than 15 years to fill, at '${rate}'; ` +
      'use a smaller capacity or a faster rate',
    { option: 'limit' },
  )
}
