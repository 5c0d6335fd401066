/**
 * One key under one limit, counted by the library's own arithmetic. Times are whole epoch microseconds. The arithmetic is
 * used in place, because `evaluate` copies the state for each request and a log may be long.
 */
import { type Arithmetic, arithmeticOf, type Decision, type Limit, type Words } from 'sluice/limits'

export class CountedKey {
  readonly #arithmetic: Arithmetic
  #words: Words
  #isNew = true

  constructor(limit: Limit) {
    this.#arithmetic = arithmeticOf(limit)
    this.#words = new Float64Array(this.#arithmetic.words)
  }

  /** Decides about a request, and takes its cost if it is admitted. */
  take(nowUs: number, cost: number): Decision {
    this.#start(nowUs)
    const { elastic } = this.#arithmetic
    if (elastic !== undefined && this.#arithmetic.fits(this.#words, 0, nowUs, cost)) {
      const size = elastic.wordsFor(this.#words, nowUs, cost)
      // Twice as much as it had, so that a long log is seldom copied.
      if (this.#words.length < size) this.#words = elastic.resized(this.#words, Math.max(size, 2 * this.#words.length))
    }
    return this.#arithmetic.tryTake(this.#words, 0, nowUs, cost)
  }

  /** Units left at a time that is not before the last request, with the fraction that a bucket has gained. */
  level(nowUs: number): number {
    this.#start(nowUs)
    return this.#arithmetic.level(this.#words, 0, nowUs)
  }

  #start(nowUs: number): void {
    if (this.#isNew) this.#arithmetic.start(this.#words, 0, nowUs)
    this.#isNew = false
  }
}
