import type { StoreLine, StoreWaiter } from './store-line.js'

/** The waiters of a key that the store has not been asked for, as they came. Every method takes constant time. */
export class UnaskedWaiters {
  readonly #waiters = new Set<StoreWaiter>()
  readonly #counts = new Map<StoreLine, number>()
  /** Stays at the first waiter. A new iterator would walk over the gaps that all earlier ones have left in the set. */
  #iterator = this.#waiters.values()

  get size(): number {
    return this.#waiters.size
  }

  countIn(line: StoreLine): number {
    return this.#counts.get(line) ?? 0
  }

  add(waiter: StoreWaiter): void {
    // An iterator that has come to an end does not see what is added later.
    if (this.#waiters.size === 0) this.#iterator = this.#waiters.values()
    this.#waiters.add(waiter)
    this.#counts.set(waiter.owner, this.countIn(waiter.owner) + 1)
  }

  delete(waiter: StoreWaiter): void {
    if (!this.#waiters.delete(waiter)) return
    const left = this.countIn(waiter.owner) - 1
    if (left > 0) this.#counts.set(waiter.owner, left)
    else this.#counts.delete(waiter.owner)
  }

  /** Removes the first waiter and returns it. */
  takeFirst(): StoreWaiter | undefined {
    if (this.#waiters.size === 0) return undefined
    const { value } = this.#iterator.next()
    if (value !== undefined) this.delete(value)
    return value
  }
}
