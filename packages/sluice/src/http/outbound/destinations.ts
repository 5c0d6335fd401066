import { Destination } from './destination.js'
import type { BudgetOptions } from './retry-budget.js'

/** More are not remembered; the one that was called longest ago begins anew. */
const MOST = 10_000

/** Whom we call, by key: only those with calls under way, and those that have lately failed or have retries saved up. */
export class Destinations {
  readonly #budget: Required<BudgetOptions>
  readonly #byKey = new Map<string, Destination>()

  constructor(budget: Required<BudgetOptions>) {
    this.#budget = budget
  }

  get size(): number {
    return this.#byKey.size
  }

  /** A call begins. */
  enter(key: string): Destination {
    const destination = this.#byKey.get(key) ?? new Destination(this.#budget)
    // A Map is in the order of insertion: the first is the one that was called longest ago.
    this.#byKey.delete(key)
    this.#byKey.set(key, destination)
    if (this.#byKey.size > MOST) this.#forgetFirst()
    destination.calls++
    destination.budget.earn()
    return destination
  }

  /** A call is over. */
  leave(key: string, destination: Destination): void {
    destination.calls--
    if (destination.isLikeNew && this.#byKey.get(key) === destination) this.#byKey.delete(key)
  }

  #forgetFirst(): void {
    for (const key of this.#byKey.keys()) {
      this.#byKey.delete(key)
      return
    }
  }
}
