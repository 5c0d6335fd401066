import type { Decision, Explanation } from 'sluice'

/** What would be said to a request if it came now, and by whom. */
export interface Foretold {
  readonly allowed: boolean
  readonly deniedBy: readonly string[]
  /** Why, for each limit that would deny. */
  readonly reasons: readonly string[]
  readonly levels: readonly Explanation[]
}

/**
 * The verdict that `check` would give, found without taking anything: a cost fits exactly when no more than `remaining`
 * is asked for, and nothing fits while a key is blocked or in debt, which a look of cost 0 is told.
 */
export function foretell(levels: readonly Explanation[]): Foretold {
  const denials = levels.flatMap(({ level, shadow, cost = 0, limits = [] }) =>
    limits
      .filter(({ decision }) => shadow !== true && !fits(decision, cost))
      .map(({ decision }) => ({ level, reason: `${level}: ${reasonOf(decision, cost)}` })),
  )
  const deniedBy = [...new Set(denials.map(({ level }) => level))]
  return { allowed: denials.length === 0, deniedBy, reasons: denials.map(({ reason }) => reason), levels }
}

export function fits({ allowed, remaining }: Decision, cost: number): boolean {
  return allowed && cost <= remaining
}

function reasonOf(
  { allowed, quota, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs }: Decision,
  cost: number,
): string {
  if (cost > quota) return `takes ${cost}, and ${quota} is all that it ever has`
  if (!allowed) return `blocked or in debt for another ${duration(retryAfterMs)}`
  const missing = cost - remaining
  const wait = missing === 1 ? `in ${duration(nextUnitAfterMs)}` : `within ${duration(resetAfterMs)}`
  return `takes ${cost}, and ${remaining} of ${quota} are left; enough will be there ${wait}`
}

/** A wait as people say it, rounded up, so that nobody comes too early. */
function duration(ms: number): string {
  if (ms === Infinity) return 'ever'
  if (ms < 1_000) return `${Math.ceil(ms)} ms`
  if (ms < 120_000) return `${Math.ceil(ms / 100) / 10} s`
  if (ms < 7_200_000) return `${Math.ceil(ms / 60_000)} min`
  return `${Math.ceil(ms / 3_600_000)} h`
}
