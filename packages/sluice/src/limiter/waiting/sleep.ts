/** How long to wait before a store that has said no is asked again. */
import { type Decision, durationUs, type Limit } from '../../limits/index.js'

const SHORTEST_BACKOFF_MS = 10
const LONGEST_BACKOFF_MS = 250

/**
 * Units that are given back when work is over may come at any time; others come by the clock. A wait that is longer than
 * any of them is held is that of a block, which ends when it ends.
 */
function comeAtAnyTime(limit: Limit, retryAfterMs: number): boolean {
  return limit.algorithm === 'concurrency' && retryAfterMs * 1000 <= durationUs('ttl', limit.ttl)
}

/** The wait that is known to be in vain for whoever got this denial; `Infinity` where no wait helps. */
export function vainMs(limit: Limit, { retryAfterMs }: Decision): number {
  return comeAtAnyTime(limit, retryAfterMs) ? 0 : retryAfterMs
}

/**
 * After how long to ask again, when the store has said no `denials` times in a row: when the units will be there. In a
 * store that others use too (`isShared`), nobody is told of units that they give back, so that has to be looked for: less
 * and less often, and not in step with others.
 */
export function sleepMs(
  limit: Limit,
  { retryAfterMs }: Decision,
  denials: number,
  isShared: boolean,
  random: () => number = Math.random,
): number {
  // A store that says no, and to come back at once, is not asked in circles.
  const sleep = Math.max(1, retryAfterMs)
  if (!isShared || !comeAtAnyTime(limit, retryAfterMs)) return sleep
  const backoffMs = Math.min(LONGEST_BACKOFF_MS, SHORTEST_BACKOFF_MS * 2 ** (denials - 1))
  return Math.min(sleep, backoffMs * (0.5 + random() / 2))
}
