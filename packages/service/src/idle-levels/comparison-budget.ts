/** How many comparisons a search for idle levels may make: well under a second. */
const MOST_COMPARISONS = 5_000_000

/**
 * Limits the work of a search for idle levels. Every part of the search asks `spend` before it compares. After the first
 * refusal all others are refused too, so that the search ends soon; what it has found by then is still right.
 */
export class ComparisonBudget {
  #left = MOST_COMPARISONS

  /** Spends so many comparisons. Returns false if the budget does not allow them. */
  spend(comparisons: number): boolean {
    this.#left = comparisons <= this.#left ? this.#left - comparisons : -1
    return this.#left >= 0
  }

  /** Has any spending been refused? Then some levels were not compared. */
  get isExceeded(): boolean {
    return this.#left < 0
  }
}
