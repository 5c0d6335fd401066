import { type BudgetOptions, RetryBudget } from './retry-budget.js'

/** The state of one key: its retries, and its refusals in a row that did not say how long to wait. */
export class Destination {
  readonly budget: RetryBudget
  /** Calls that are not over yet. */
  calls = 0
  #refusals = 0

  constructor(budget: Required<BudgetOptions>) {
    this.budget = new RetryBudget(budget)
  }

  /** Refusals in a row. A call notes the number when it leaves, and passes it back with its response. */
  get refusals(): number {
    return this.#refusals
  }

  /** Counts a refusal, and returns whether it counts: of calls that left together, only the first refusal does. */
  refused(refusalsThen: number): boolean {
    if (refusalsThen !== this.#refusals) return false
    this.#refusals++
    return true
  }

  answered(refusalsThen: number): void {
    if (refusalsThen === this.#refusals) this.#refusals = 0
  }

  /** Whether it equals a new destination, so that forgetting it loses nothing. */
  get isLikeNew(): boolean {
    return this.calls === 0 && this.#refusals === 0 && this.budget.isWhole
  }
}

/** The most keys that are remembered. Beyond that, the key that was called longest ago is forgotten. */
const MOST = 10_000

/** Destinations by key: those with calls under way, with recent failures, or with saved retries. */
export class Destinations {
  readonly #budget: Required<BudgetOptions>
  readonly #byKey = new Map<string, Destination>()

  constructor(budget: Required<BudgetOptions>) {
    this.#budget = budget
  }

  get size(): number {
    return this.#byKey.size
  }

  /** Counts the beginning of a call. */
  enter(key: string): Destination {
    const destination = this.#byKey.get(key) ?? new Destination(this.#budget)
    // A Map keeps the order of insertion, so the first key was called longest ago.
    this.#byKey.delete(key)
    this.#byKey.set(key, destination)
    if (this.#byKey.size > MOST) this.#forgetFirst()
    destination.calls++
    destination.budget.earn()
    return destination
  }

  /** Counts the end of a call. */
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
