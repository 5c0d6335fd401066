import { type BudgetOptions, RetryBudget } from './retry-budget.js'

/** What is remembered of whom we call: what retries it has cost, and how often in a row it said no without saying how long. */
export class Destination {
  readonly budget: RetryBudget
  /** Calls that are not over yet. */
  calls = 0
  #refusals = 0

  constructor(budget: Required<BudgetOptions>) {
    this.budget = new RetryBudget(budget)
  }

  /** Refusals in a row. Whoever leaves remembers it, and says it when its answer is there. */
  get refusals(): number {
    return this.#refusals
  }

  /** Is this news? Of those that left together only the first refusal is. */
  refused(refusalsThen: number): boolean {
    if (refusalsThen !== this.#refusals) return false
    this.#refusals++
    return true
  }

  answered(refusalsThen: number): void {
    if (refusalsThen === this.#refusals) this.#refusals = 0
  }

  /** Nothing is lost if it is forgotten. */
  get isLikeNew(): boolean {
    return this.calls === 0 && this.#refusals === 0 && this.budget.isWhole
  }
}
