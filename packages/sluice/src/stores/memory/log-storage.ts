import type { Arithmetic } from '../../limits/index.js'

const EMPTY = new Float64Array(0)

/**
 * Arrays for states that grow: the timestamps of sliding logs and concurrency limits. Each state has an array, known by a
 * number that fits in a table's entry. All arrays together hold at most `mostWords` words.
 */
export class LogStorage {
  readonly #most: number
  readonly #arrays: Float64Array[] = []
  readonly #free: number[] = []
  #words = 0
  #reserved = 0

  constructor(mostWords: number) {
    this.#most = mostWords
  }

  /** Words of all arrays together. */
  get words(): number {
    return this.#words
  }

  /** How many more words fit, besides those reserved. */
  get room(): number {
    return Math.max(0, this.#most - this.#words - this.#reserved)
  }

  /** Sets words aside for a demand that fits, so that others of its request cannot use them. Negative words end that. */
  reserve(words: number): void {
    this.#reserved += words
  }

  /** How many of `cost` more units a log has memory for, if the storage has `held` words for it already. */
  unitsFor({ elastic }: Arithmetic, words: Float64Array, held: number, nowUs: number, cost: number): number {
    const needed = elastic?.wordsFor(words, nowUs, 0) ?? 0
    return Math.min(cost, Math.max(0, held + this.room - needed))
  }

  /**
   * The log with room for `units` more: itself, or a larger copy. The array doubles, so that growing costs little in the
   * long run, but not beyond a whole quota, and not if memory is scarce.
   */
  grown(arithmetic: Arithmetic, words: Float64Array, held: number, nowUs: number, units: number): Float64Array {
    const { elastic, quota, words: least } = arithmetic
    const needed = elastic?.wordsFor(words, nowUs, units) ?? 0
    // A new log has borrowed words, so it gets an array of its own, even if its quota is 0 and it remembers no unit.
    if (elastic === undefined || (held > 0 && needed <= words.length)) return words
    const isScarce = held > this.room / 8
    const doubled = isScarce ? needed : Math.min(least + quota, 2 * words.length, held + this.room)
    return elastic.resized(words, Math.max(needed, doubled))
  }

  get(id: number): Float64Array {
    return this.#arrays[id]
  }

  add(array: Float64Array): number {
    const id = this.#free.pop() ?? this.#arrays.length
    this.#arrays[id] = array
    this.#words += array.length
    return id
  }

  replace(id: number, array: Float64Array): void {
    this.#words += array.length - this.#arrays[id].length
    this.#arrays[id] = array
  }

  remove(id: number): void {
    this.#words -= this.#arrays[id].length
    this.#arrays[id] = EMPTY
    this.#free.push(id)
  }
}
