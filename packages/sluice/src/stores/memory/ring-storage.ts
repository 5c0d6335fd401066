/**
 * Storage for states that need more room the more they hold: the sliding log's timestamps. Each state has an array of
 * its own, known by a number that fits in a table's slot. What all of them hold together is bounded.
 */
export class RingStorage {
  readonly #most: number
  readonly #states: Float64Array[] = []
  readonly #free: number[] = []
  #words = 0
  /** Words that demands of the request under way were promised and have not been given yet. */
  #promised = 0

  constructor(mostWords: number) {
    this.#most = mostWords
  }

  /** Words that all states have together. */
  get words(): number {
    return this.#words
  }

  get(id: number): Float64Array {
    return this.#states[id]
  }

  /** How many words there is still room for, beyond those that are promised. */
  get room(): number {
    return Math.max(0, this.#most - this.#words - this.#promised)
  }

  /** Sets words aside, so that nothing else can use them before the demand that needs them takes its units. */
  promise(words: number): void {
    this.#promised += words
  }

  /** The demand that was promised so many words is about to use them. */
  redeem(words: number): void {
    this.#promised -= words
  }

  forgetPromises(): void {
    this.#promised = 0
  }

  add(state: Float64Array): number {
    const id = this.#free.pop() ?? this.#states.length
    this.#states[id] = state
    this.#words += state.length
    return id
  }

  replace(id: number, state: Float64Array): void {
    this.#words += state.length - this.#states[id].length
    this.#states[id] = state
  }

  remove(id: number): void {
    this.#words -= this.#states[id].length
    this.#states[id] = NOTHING
    this.#free.push(id)
  }
}

const NOTHING = new Float64Array(0)
