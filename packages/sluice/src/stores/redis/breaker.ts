/** After so many calls in a row have failed, Redis is not asked any more. */
const FAILURES = 3
/** How soon a probe follows the first failure, and how far apart they may come to be. */
const FIRST_PROBE_MS = 10
const LONGEST_PROBE_MS = 500
const LONGEST_STUCK_MS = 30_000

/**
 * Decides whether Redis is asked at all. It opens after a few failures in a row; then a probe runs every now and then,
 * and the first that succeeds closes it.
 */
export class Breaker {
  #failures = 0
  #waitMs = 0

  get isOpen(): boolean {
    return this.#waitMs > 0
  }

  /** A call was answered in time. */
  succeeded(): void {
    this.#failures = 0
  }

  /** A call failed. Says whether this has opened the breaker. */
  failed(): boolean {
    if (this.isOpen || ++this.#failures < FAILURES) return false
    this.#waitMs = FIRST_PROBE_MS
    return true
  }

  /** How long to wait before the next probe. */
  get probeAfterMs(): number {
    return this.#waitMs
  }

  /** A probe failed. One that may lie in a client's queue for ever is stuck: those get rarer. */
  probeFailed(isStuck: boolean): void {
    this.#waitMs = Math.min(this.#waitMs * 2, isStuck ? LONGEST_STUCK_MS : LONGEST_PROBE_MS)
  }

  /** A probe was answered, but too late: the next may do better, soon. */
  probeAnsweredLate(): void {
    this.#waitMs = FIRST_PROBE_MS
  }

  /** A probe was refused, and not at once: it is not stuck any more. */
  probeRefusedLate(): void {
    this.#waitMs = Math.min(this.#waitMs, LONGEST_PROBE_MS)
  }

  close(): void {
    this.#failures = 0
    this.#waitMs = 0
  }
}
