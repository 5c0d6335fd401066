/** The answer to one request under one limit. Every call returns a new object. */
export interface Decision {
  /** May the request go? */
  readonly allowed: boolean
  /** The limit as a client is shown it: a bucket's capacity, or a window's quota. `Infinity` if it is unlimited. */
  readonly quota: number
  /** Whole units left after this decision: from 0 to `quota`. `Infinity` if the limit is unlimited and the key not blocked. */
  readonly remaining: number
  /**
   * 0 when allowed. Otherwise the shortest wait, in whole milliseconds rounded up, after which the same cost is allowed
   * if no other request takes units. At 1 unit a second and none left, a cost of 1 waits 1000. `Infinity` when the cost is
   * larger than the limit can ever give.
   */
  readonly retryAfterMs: number
  /** Whole milliseconds until `remaining` grows by one; 0 when the quota is whole. Of a quota of 0: until its debt is paid. */
  readonly nextUnitAfterMs: number
  /** Whole milliseconds until the whole quota is there again. */
  readonly resetAfterMs: number
  /** Leaky bucket: how long the request waits for its turn, with fractions of a millisecond. Otherwise 0. */
  readonly delayMs: number
  /** Set if the store did not answer: the `onFailure` rule that made this decision. */
  readonly degraded?: 'open' | 'closed' | 'local'
  /**
   * Set if this process decided by what it knows, as a `leasedStore` or a `syncedStore` does: when it last asked the
   * store about the key, in epoch milliseconds; 0 if it never has. What other nodes did since then is not in `remaining` and the waits.
   */
  readonly asOfMs?: number
}

/** Microseconds as whole milliseconds, rounded up. */
export function ceilMs(us: number): number {
  return Math.ceil(us / 1000)
}

/** A denial without a count: nothing is known but how long to wait. */
export function uncountedDenial(quota: number, waitMs: number): Decision {
  return {
    allowed: false,
    quota,
    remaining: 0,
    retryAfterMs: waitMs,
    nextUnitAfterMs: waitMs,
    resetAfterMs: waitMs,
    delayMs: 0,
  }
}

/** The decision for a key that is blocked for another `blockedUs`. Nothing is left until the block ends; longer waits stay. */
export function blockedDecision(decision: Decision, blockedUs: number): Decision {
  const blockedMs = ceilMs(blockedUs)
  return {
    allowed: false,
    quota: decision.quota,
    remaining: 0,
    retryAfterMs: Math.max(blockedMs, decision.retryAfterMs),
    nextUnitAfterMs: decision.remaining > 0 ? blockedMs : Math.max(blockedMs, decision.nextUnitAfterMs),
    resetAfterMs: Math.max(blockedMs, decision.resetAfterMs),
    delayMs: 0,
  }
}
