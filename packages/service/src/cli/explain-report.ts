import type { Decision, Explanation } from 'sluice'
import type { UnusedAttribute } from '../serve/unused-attributes.js'
import { durationText } from './text-table.js'

/** The result of `sluice explain`, as `--json` prints it. */
export interface ExplainReport extends PredictedVerdict {
  readonly file: string
  readonly policy: string
  readonly cost: number
  /** Attributes of the request that the policy never asks about. */
  readonly unused: readonly UnusedAttribute[]
  /** The store that was asked: `memory`, or the address of a Redis. */
  readonly store: string
}

/** The verdict that a request would get now. */
interface PredictedVerdict {
  readonly allowed: boolean
  readonly deniedBy: readonly string[]
  /** One reason for each limit that would deny. */
  readonly reasons: readonly string[]
  readonly levels: readonly Explanation[]
}

/**
 * Predicts the verdict of `check` without taking anything. The decisions of `explain` are for a cost of 0. They deny if
 * the key is blocked or in debt; otherwise a cost is allowed exactly if it is at most `remaining`.
 */
export function predictVerdict(levels: readonly Explanation[]): PredictedVerdict {
  const denials = levels.flatMap(({ level, shadow, cost = 0, limits = [] }) =>
    limits
      .filter(({ decision }) => shadow !== true && !fits(decision, cost))
      .map(({ decision }) => ({ level, reason: `${level}: ${reasonOf(decision, cost)}` })),
  )
  const deniedBy = [...new Set(denials.map(({ level }) => level))]
  return { allowed: denials.length === 0, deniedBy, reasons: denials.map(({ reason }) => reason), levels }
}

/** Would a limit with this decision for a cost of 0 allow `cost`? */
export function fits({ allowed, remaining }: Decision, cost: number): boolean {
  return allowed && cost <= remaining
}

function reasonOf(
  { allowed, quota, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs }: Decision,
  cost: number,
): string {
  if (cost > quota) return `takes ${cost}, and ${quota} is all that it ever has`
  if (!allowed) return `blocked or in debt for another ${durationText(retryAfterMs)}`
  const missing = cost - remaining
  const wait = missing === 1 ? `in ${durationText(nextUnitAfterMs)}` : `within ${durationText(resetAfterMs)}`
  return `takes ${cost}, and ${remaining} of ${quota} are left; enough will be there ${wait}`
}
