/**
 * Storage for states that need more room the more they hold: the sliding log's timestamps. Each state has an array of
 * its own, known by a number that fits in a table's slot. What all of them hold together is bounded.
 */
export class RingStorage {
  readonly #most: number
  readonly #states: Float64Array[] = []
  readonly #free: number[] = []
  #words = 0

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

  /** How many words there is still room for. */
  get room(): number {
    return Math.max(0, this.#most - this.#words)
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
