/** When a call is made again, and how long after. Nothing here knows of time or randomness but what it is told. */

/** Those that do the same when they are done twice, as RFC 9110 has it. */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
/** What passes by itself, as often as not. But what was asked may have been done. */
const PASSING: ReadonlySet<number> = new Set([502, 503, 504])
const SHORTEST_MS = 100
const LONGEST_MS = 10_000

/** May it help to call again, and do no harm? A call without a status has found nobody who answered. */
export function isWorthRetrying(method: string, status: number | undefined): boolean {
  // Whoever says 429 has done nothing yet.
  if (status === 429) return true
  return IDEMPOTENT.has(method) && (status === undefined || PASSING.has(status))
}

/** Full jitter: anything from 0 to min(10 s, 100 ms · 2^retries), so that those that failed together come back apart. */
export function backoffMs(retries: number, random: () => number): number {
  return random() * Math.min(LONGEST_MS, SHORTEST_MS * 2 ** retries)
}
