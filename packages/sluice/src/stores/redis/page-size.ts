/** The smallest and the largest page, in overrides. */
const LEAST_PAGE = 10
const MOST_PAGE = 500

/**
 * How many overrides to ask for at once. A page delays the decisions behind it, on the same connection and in this
 * process. So it should take at most an eighth of their deadline longer than an empty answer, which is estimated by the
 * quickest answer. A page that takes longer or fails halves the size; a page that takes less than half of that doubles it.
 *
 * For example, with a deadline of 50 ms a page may take 6 ms more than the quickest answer. At 200 KB/s that is about ten
 * overrides. On a link that takes 100 ms for any answer it is the largest page.
 */
export class PageSize {
  readonly #budgetMs: number
  #quickestMs = Infinity
  /** Small at first: the quickest answer must be close to an empty one, or a slow link would look like a far one. */
  current = LEAST_PAGE

  constructor(deadlineMs: number) {
    this.#budgetMs = deadlineMs / 8
  }

  /** Asking for a page and reading it took `tookMs`. A page that was not full says nothing about larger ones. */
  read(tookMs: number, isFull: boolean): void {
    // The quickest answer fades: a link may become slower for good.
    const drifted = this.#quickestMs + (tookMs - this.#quickestMs) / 16
    this.#quickestMs = Number.isFinite(drifted) ? Math.min(tookMs, drifted) : tookMs
    const overMs = tookMs - this.#quickestMs
    if (overMs > this.#budgetMs) this.failed()
    else if (isFull && overMs < this.#budgetMs / 2) this.current = Math.min(MOST_PAGE, this.current * 2)
  }

  failed(): void {
    this.current = Math.max(LEAST_PAGE, Math.floor(this.current / 2))
  }
}
