/** How many retries are allowed. */
export interface BudgetOptions {
  /** Retries for each call, on average: 0.1 is one retry for ten calls. From 0. Default 0.1. */
  readonly ratio?: number
  /** Retries at the beginning, which is also the most that can be saved. From 0. Default 10. */
  readonly least?: number
}

/**
 * The state of one key: its refusals in a row that did not say how long to wait, and its budget of retries. Calls pay for
 * retries, so that retries cannot keep a server down that failed for a moment:
 *
 *     retries ≤ least + ratio · calls
 */
export class Destination {
  readonly #budget: Required<BudgetOptions>
  #retriesLeft: number
  #calls = 0
  #refusals = 0

  constructor(budget: Required<BudgetOptions>) {
    this.#budget = budget
    this.#retriesLeft = budget.least
  }

  /** Counts the beginning of a call, which pays its share of a retry. */
  begin(): void {
    const { ratio, least } = this.#budget
    this.#calls++
    // At least one retry can be saved, even with `least: 0`.
    this.#retriesLeft = Math.min(Math.max(1, least), this.#retriesLeft + ratio)
  }

  /** Counts the end of a call. Returns whether the destination equals a new one, so that forgetting it loses nothing. */
  end(): boolean {
    this.#calls--
    return this.#calls === 0 && this.#refusals === 0 && this.#retriesLeft === this.#budget.least
  }

  /** Takes one retry from the budget, if there is one. */
  takeRetry(): boolean {
    if (this.#retriesLeft < 1) return false
    this.#retriesLeft--
    return true
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
    if (this.#byKey.size > MOST) this.#byKey.delete(this.#byKey.keys().next().value as string)
    destination.begin()
    return destination
  }

  /** Counts the end of a call. */
  leave(key: string, destination: Destination): void {
    if (destination.end() && this.#byKey.get(key) === destination) this.#byKey.delete(key)
  }
}
