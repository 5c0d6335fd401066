/** How many retries there may be. */
export interface BudgetOptions {
  /** Retries a call, on average: 0.1 is one for ten calls. From 0. Default 0.1. */
  readonly ratio?: number
  /** Retries that there are to begin with, and saved up at most. From 0. Default 10. */
  readonly least?: number
}

/**
 * Retries are paid for by calls, so that those who retry do not bring down for good who was down for a moment:
 *
 *     retries ≤ least + ratio · calls
 */
export class RetryBudget {
  readonly #ratio: number
  readonly #least: number
  #left: number

  constructor({ ratio, least }: Required<BudgetOptions>) {
    this.#ratio = ratio
    this.#least = least
    this.#left = least
  }

  /** No different from a new one. One that began with less than a retry may have saved up more. */
  get isWhole(): boolean {
    return this.#left === this.#least
  }

  /** A call is made. */
  earn(): void {
    // Somebody who starts with nothing still saves for one.
    this.#left = Math.min(Math.max(1, this.#least), this.#left + this.#ratio)
  }

  /** Pays for a retry, if there is enough. */
  spend(): boolean {
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}
