/** How many overrides a page has at first and at least, and at most. */
const LEAST = 10
const MOST = 500

/**
 * How many overrides to ask for at once. A page holds up the decisions behind it, on the same connection and in this
 * process, so it should take no more than an eighth of their deadline longer than an empty answer does. It is halved when
 * it takes longer or fails, and doubled when it takes less than half of that. How long an empty answer takes is estimated
 * by the quickest.
 *
 * For example, with a deadline of 50 ms a page may take 6 ms more than the quickest answer. At 200 KB/s that is about ten
 * overrides; on a link that takes 100 ms for any answer it is the most.
 */
export class PageSize {
  readonly #budgetMs: number
  #quickestMs = Infinity
  /** Small at first: the quickest answer must be close to an empty one, or a slow link would look like a far one. */
  current = LEAST

  constructor(deadlineMs: number) {
    this.#budgetMs = deadlineMs / 8
  }

  /** Asking for a page and reading it took so long. One that was not full tells nothing of larger ones. */
  read(tookMs: number, isFull: boolean): void {
    // The quickest answer is forgotten little by little: a link may become slower for good.
    const drifted = this.#quickestMs + (tookMs - this.#quickestMs) / 16
    this.#quickestMs = Number.isFinite(drifted) ? Math.min(tookMs, drifted) : tookMs
    const overMs = tookMs - this.#quickestMs
    if (overMs > this.#budgetMs) this.failed()
    else if (isFull && overMs < this.#budgetMs / 2) this.current = Math.min(MOST, this.current * 2)
  }

  failed(): void {
    this.current = Math.max(LEAST, Math.floor(this.current / 2))
  }
}
