import type { Decision, Verdict } from 'sluice'
import type { Period } from './calendar.js'

/** A verdict about the counts of a week, month or year: all of its waits end with the period. */
export function withinPeriod(verdict: Verdict, period: Period | undefined): Verdict {
  if (period === undefined) return verdict
  const { leftMs } = period
  return {
    ...verdict,
    retryAfterMs: untilEnd(verdict.retryAfterMs, leftMs),
    levels: verdict.levels.map((level) => ({ ...level, decision: decisionWithin(level.decision, leftMs) })),
  }
}

function decisionWithin(decision: Decision, leftMs: number): Decision {
  const { retryAfterMs, nextUnitAfterMs, resetAfterMs } = decision
  return {
    ...decision,
    retryAfterMs: untilEnd(retryAfterMs, leftMs),
    nextUnitAfterMs: untilEnd(nextUnitAfterMs, leftMs),
    resetAfterMs: untilEnd(resetAfterMs, leftMs),
  }
}

/** No wait stays 0, and more than the quota never passes. */
function untilEnd(ms: number, leftMs: number): number {
  return ms === 0 || ms === Infinity ? ms : leftMs
}
