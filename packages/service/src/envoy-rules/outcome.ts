import type { Decision, Limit, Verdict } from 'sluice'
import type { AskedLimit } from './asked-limit.js'

/** What the decisions about one descriptor say. */
export interface Outcome {
  readonly asked: AskedLimit
  /** Did any limit of the rule deny? Also if that counts for nothing, because the rule is a shadow. */
  readonly isOver: boolean
  /** The decision that leaves least, or that denies longest. Absent if the rule is unlimited. */
  readonly tightest: TightestLimit | undefined
}

/** A limit, what was decided by it, and when its period is over. */
interface TightestLimit {
  readonly limit: Limit
  readonly decision: Decision
  readonly periodEndMs: number | undefined
}

/** Puts the verdicts about the levels of one descriptor together. */
export function outcomeOf(asked: AskedLimit, verdicts: readonly Verdict[]): Outcome {
  let isOver = false
  let tightest: TightestLimit | undefined
  for (let i = 0; i < verdicts.length; i++) {
    const { periodEndMs } = asked.demands[i]
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
      if (isTighter) tightest = { limit, decision, periodEndMs }
      isOver ||= denies
    }
  }
  return { asked, isOver, tightest }
}

/** A refund is never over the limit. A look is if nothing is left of a quota of 0, or of one whose last hits may exceed it. */
function isDenial({ isRefund, rule, hits }: AskedLimit, { allowed, quota, remaining }: Decision): boolean {
  if (isRefund) return false
  return !allowed || quota === 0 || (hits === 0 && remaining === 0 && rule?.countOverLimit === true)
}
