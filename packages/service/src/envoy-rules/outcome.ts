import type { Decision, Limit, Verdict } from 'sluice'
import type { AskedLimit } from './asked-limit.js'
import { withinPeriod } from './within-period.js'

/** What the decisions about one descriptor say. */
export interface Outcome {
  readonly asked: AskedLimit
  /** One for each level of the rule. */
  readonly verdicts: readonly Verdict[]
  /** Did any limit of the rule deny? Also if that counts for nothing, because the rule is a shadow. */
  readonly isOver: boolean
  /** The decision that leaves least, or that denies longest. Absent if the rule is unlimited. */
  readonly tightest: TightestLimit | undefined
}

/** A limit, and what was decided by it. */
interface TightestLimit {
  readonly limit: Limit
  readonly decision: Decision
  /** Does it count in a week, month or year of the calendar? */
  readonly isOfPeriod: boolean
}

/** Puts the verdicts about the levels of one descriptor together. */
export function outcomeOf(asked: AskedLimit, given: readonly Verdict[]): Outcome {
  const { demands } = asked
  const verdicts = demands.some(({ period }) => period !== undefined)
    ? given.map((verdict, i) => withinPeriod(verdict, demands[i].period))
    : given
  let isOver = false
  let tightest: TightestLimit | undefined
  for (let i = 0; i < verdicts.length; i++) {
    const isOfPeriod = demands[i].period !== undefined
    for (const { limit, decision } of verdicts[i].levels) {
      const denies = isDenial(asked, decision)
      if (limit.algorithm === 'unlimited' && !denies) continue
      const isTighter =
        tightest === undefined ||
        (denies === isOver
          ? denies
            ? decision.retryAfterMs > tightest.decision.retryAfterMs
            : decision.remaining < tightest.decision.remaining
          : denies)
      if (isTighter) tightest = { limit, decision, isOfPeriod }
      isOver ||= denies
    }
  }
  return { asked, verdicts, isOver, tightest }
}

/** A refund is never over the limit. A look is if nothing is left of a quota of 0, or of one whose last hits may exceed it. */
function isDenial({ isRefund, rule, hits }: AskedLimit, { allowed, quota, remaining }: Decision): boolean {
  if (isRefund) return false
  return !allowed || quota === 0 || (hits === 0 && remaining === 0 && rule?.countOverLimit === true)
}
