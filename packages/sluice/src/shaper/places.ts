/**
 * The places of work of a shaper with `concurrency`: at most so many pieces of work of a key run at the same time. A place is
 * taken when a waiter leaves, and given back when its work is over. Only keys whose work runs take memory.
 */
export class Places {
  readonly #concurrency: number
  readonly #taken = new Map<string, number>()

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  /** How many places of the key are free. */
  free(key: string): number {
    return this.#concurrency - (this.#taken.get(key) ?? 0)
  }

  take(key: string): void {
    this.#taken.set(key, (this.#taken.get(key) ?? 0) + 1)
  }

  giveBack(key: string): void {
    const left = (this.#taken.get(key) ?? 0) - 1
    if (left > 0) this.#taken.set(key, left)
    else this.#taken.delete(key)
  }
}
