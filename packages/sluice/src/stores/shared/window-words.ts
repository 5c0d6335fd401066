import { InvalidValueError } from '../../errors.js'
import type { Arithmetic, Decision, Taken } from '../../limits/index.js'
import { DETAILS, detailOf, LAST_US, LIFE_US, type StateWord, setWord, timeOf } from './state-word.js'
import type { WordArithmetic } from './word-arithmetic.js'

/** More bits for the count would not fit in a float64 with the rest. */
const LARGEST_STEP_US = 2 ** 38

/**
 * A fixed window as the time at which it ends and, below that, its count. The end is rounded up to a step, the largest
 * power of two that is not longer than the window. So the end still tells which window it is, and the bits below a step
 * are free for the count:
 *
 *     word = ceil(end / step) · step · 2^12 + count        0 ≤ count < step · 2^12
 *
 * Example: the step of '1m' is 2^25 µs, so its count may be up to 2^37.
 */
export class WindowWords implements WordArithmetic {
  readonly arithmetic: Arithmetic
  readonly #startUs: number
  readonly #windowUs: number
  readonly #quota: number
  readonly #stepUs: number
  readonly #mostCount: number
  readonly #numbers = [0, 0]
  readonly #report = { nowUs: 0, tokens: 0, aheadUs: 0, numbers: this.#numbers, at: 0 }

  constructor(arithmetic: Arithmetic, startUs: number) {
    const [windowUs, isFirst, quota] = arithmetic.remote.parameters
    this.arithmetic = arithmetic
    this.#startUs = startUs
    this.#windowUs = windowUs
    this.#quota = quota
    this.#stepUs = Math.min(LARGEST_STEP_US, 2 ** Math.floor(Math.log2(windowUs)))
    this.#mostCount = this.#stepUs * DETAILS - 1
    if (isFirst === 1) {
      throw new InvalidValueError(
        "sharedStore cannot keep a fixed window with align: 'first': its start and its count do not fit in 64 bits; " +
          "use align: 'epoch', or a token bucket",
        { option: 'limit' },
      )
    }
    if (windowUs + LIFE_US > LAST_US) {
      throw new InvalidValueError('sharedStore cannot keep a window of more than 50 years; use a shorter window', {
        option: 'limit',
      })
    }
    if (quota * 2 <= this.#mostCount) return
    throw new InvalidValueError(
      `sharedStore cannot count to a quota of ${quota} in so short a window; use a quota of at most ` +
        `${Math.floor(this.#mostCount / 2)}, a longer window, or a token bucket`,
      { option: 'limit' },
    )
  }

  used(word: StateWord, nowUs: number): number {
    return endOf(word, this.#stepUs) < this.#currentEnd(nowUs) ? 0 : this.#countOf(word)
  }

  fits(used: number, cost: number): boolean {
    return used + cost <= this.#quota
  }

  plus(used: number, cost: number): number {
    return Math.min(used + cost, this.#mostCount)
  }

  minus(used: number, word: StateWord, nowUs: number, units: number, taken: Taken | undefined): number {
    if (taken !== undefined && taken.atUs < this.#windowStartUs(used, word, nowUs)) return used
    return Math.max(0, used - units)
  }

  write(word: StateWord, nowUs: number, used: number): void {
    if (used === 0) {
      word.hi = 0
      word.lo = 0
      return
    }
    // If the clock stepped back, the window that has counted last goes on.
    const end = Math.max(endOf(word, this.#stepUs), this.#currentEnd(nowUs))
    const high = Math.floor(used / DETAILS)
    setWord(word, end * this.#stepUs + high, used - high * DETAILS)
  }

  decision(used: number, word: StateWord, nowUs: number, cost: number, allowed: boolean): Decision {
    this.#fill(used, word, nowUs)
    return this.arithmetic.remote.decision(this.#report, cost, allowed)
  }

  takenUs(used: number, word: StateWord, nowUs: number): number {
    this.#fill(used, word, nowUs)
    return this.arithmetic.remote.takenUs(this.#report)
  }

  /** The state as `FixedWindowArithmetic` keeps it: a time within the window, and the count. */
  #fill(used: number, word: StateWord, nowUs: number): void {
    this.#report.nowUs = this.#startUs + nowUs
    this.#numbers[0] = Math.max(this.#report.nowUs, this.#windowStartUs(used, word, nowUs))
    this.#numbers[1] = used
  }

  #countOf({ hi, lo }: StateWord): number {
    const timeUs = timeOf(hi, lo)
    return (timeUs - Math.floor(timeUs / this.#stepUs) * this.#stepUs) * DETAILS + detailOf(lo)
  }

  /** When the window of the state begins, in epoch microseconds. */
  #windowStartUs(used: number, word: StateWord, nowUs: number): number {
    const end = used === 0 ? 0 : endOf(word, this.#stepUs)
    const laterUs = Math.max(nowUs, end * this.#stepUs - this.#windowUs)
    return Math.floor((this.#startUs + laterUs) / this.#windowUs) * this.#windowUs
  }

  /** The end of the window that is open now, in steps. */
  #currentEnd(nowUs: number): number {
    const endUs = (Math.floor((this.#startUs + nowUs) / this.#windowUs) + 1) * this.#windowUs
    return Math.ceil((endUs - this.#startUs) / this.#stepUs)
  }
}

function endOf({ hi, lo }: StateWord, stepUs: number): number {
  return Math.floor(timeOf(hi, lo) / stepUs)
}
