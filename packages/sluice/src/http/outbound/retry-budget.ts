/** How many retries are allowed. */
export interface BudgetOptions {
  /** Retries for each call, on average: 0.1 is one retry for ten calls. From 0. Default 0.1. */
  readonly ratio?: number
  /** Retries at the beginning, which is also the most that can be saved. From 0. Default 10. */
  readonly least?: number
}

/**
 * Calls pay for retries, so that retries cannot keep a server down that failed for a moment:
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

  /** Whether the budget equals a new one. With `least` below 1 it may hold more than a new one. */
  get isWhole(): boolean {
    return this.#left === this.#least
  }

  /** Adds the share of one call. */
  earn(): void {
    // At least one retry can be saved, even with `least: 0`.
    this.#left = Math.min(Math.max(1, this.#least), this.#left + this.#ratio)
  }

  /** Takes one retry, if there is one. */
  spend(): boolean {
    if (this.#left < 1) return false
    this.#left--
    return true
  }
}

/** Methods that have the same effect if they are repeated (RFC 9110). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
/** Failures that often pass. The server may have carried out the request nevertheless. */
const PASSING: ReadonlySet<number> = new Set([502, 503, 504])
const SHORTEST_MS = 100
const LONGEST_MS = 10_000

/** Whether a retry may help and does no harm. Without a status, no response came at all. */
export function isWorthRetrying(method: string, status: number | undefined): boolean {
  // A server that answers 429 has not carried out the request.
  if (status === 429) return true
  return IDEMPOTENT.has(method) && (status === undefined || PASSING.has(status))
}

/** Full jitter: a random wait from 0 to min(10 s, 100 ms · 2^retries), so that calls that failed together come back apart. */
export function backoffMs(retries: number, random: () => number): number {
  return random() * Math.min(LONGEST_MS, SHORTEST_MS * 2 ** retries)
}
