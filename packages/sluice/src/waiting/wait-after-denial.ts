import { type Decision, durationUs, type Limit } from '../limits/index.js'

const SHORTEST_BACKOFF_MS = 10
const LONGEST_BACKOFF_MS = 250

/**
 * How long to wait after a store has denied a demand `denials` times in a row. No waiter of this cost is served before
 * `atLeastMs` (`Infinity`: never). The store is asked again after `askAgainMs`.
 *
 * Units of most limits come back by the clock, so both times are `retryAfterMs`. Places of a concurrency limit come back
 * whenever work is over, before `retryAfterMs`. If other processes use the store too (`isShared`), this process is not told
 * of that, and has to look: after 10 ms, 20 ms, 40 ms and so on up to 250 ms, each shortened by up to a half at random so
 * that processes do not ask in step.
 */
export function waitAfterDenial(
  limit: Limit,
  { retryAfterMs }: Decision,
  denials: number,
  isShared: boolean,
  random: () => number = Math.random,
): { readonly atLeastMs: number; readonly askAgainMs: number } {
  // At least 1 ms: a store that denies with `retryAfterMs: 0` must not be asked in a loop.
  const retryMs = Math.max(1, retryAfterMs)
  if (!comesAtAnyTime(limit, retryAfterMs)) return { atLeastMs: retryAfterMs, askAgainMs: retryMs }
  if (!isShared) return { atLeastMs: 0, askAgainMs: retryMs }
  const backoffMs = Math.min(LONGEST_BACKOFF_MS, SHORTEST_BACKOFF_MS * 2 ** (denials - 1))
  return { atLeastMs: 0, askAgainMs: Math.min(retryMs, backoffMs * (0.5 + random() / 2)) }
}

/** A wait longer than `ttl` is that of a block, which ends at its time and not before. */
function comesAtAnyTime(limit: Limit, retryAfterMs: number): boolean {
  return limit.algorithm === 'concurrency' && retryAfterMs * 1000 <= durationUs('ttl', limit.ttl)
}
