/** A bound on how much is compared before a policy is usable. */
const MOST_WORK = 5_000_000

/** Counts comparisons, so that finding out about levels takes no longer than a fraction of a second, whatever they ask. */
export class Work {
  #left = MOST_WORK

  /** Is there enough left for so many comparisons? From the first no on there is nothing left. */
  allows(comparisons: number): boolean {
    this.#left = comparisons <= this.#left ? this.#left - comparisons : -1
    return this.#left >= 0
  }

  /** Was something left out? */
  get isUsedUp(): boolean {
    return this.#left < 0
  }
}
