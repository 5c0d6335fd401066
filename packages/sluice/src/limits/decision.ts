/** The answer to one request under one limit. A fresh object every time; nobody else holds it. */
export interface Decision {
  /** May the request go? */
  readonly allowed: boolean
  /** What a client would be shown: a bucket's capacity, or a window's quota. */
  readonly quota: number
  /** Whole units left after this decision: from 0 to `quota`. */
  readonly remaining: number
  /**
   * 0 when allowed. Otherwise the shortest wait, in whole milliseconds rounded up, after which the same cost would be
   * allowed if nobody else took any. `Infinity` when the cost is more than the limit can ever give.
   */
  readonly retryAfterMs: number
  /** Whole milliseconds until `remaining` grows by one; 0 when the quota is whole. */
  readonly nextUnitAfterMs: number
  /** Whole milliseconds until the whole quota is there again. */
  readonly resetAfterMs: number
  /** Leaky bucket: wait this long, fractions included, before going. Otherwise 0. */
  readonly delayMs: number
  /** Absent, or how the answer was made without its store. */
  readonly degraded?: 'open' | 'closed' | 'local'
}

/** Whole milliseconds that are not shorter than so many microseconds. */
export function ceilMs(us: number): number {
  return Math.ceil(us / 1000)
}

/**
 * What a key that is blocked for another `blockedUs` is told: nothing is left until the block ends, and what its limit
 * would make it wait for still holds.
 */
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
