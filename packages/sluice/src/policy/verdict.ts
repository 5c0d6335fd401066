import type { Decision } from '../limits/index.js'
import type { Demand } from '../stores/index.js'
import type { LevelDecision, Verdict } from './policy.js'

/** A demand, and the level that makes it. */
export interface LevelDemand extends Demand {
  readonly level: string
}

/** What the decisions of all levels come to. `isKnown`: all run-time overrides were known when the demands were made. */
export function verdictOf(demands: readonly LevelDemand[], decisions: readonly Decision[], isKnown = true): Verdict {
  const levels: LevelDecision[] = []
  const deniedBy: string[] = []
  let retryAfterMs = 0
  let delayMs = 0
  let degraded: Verdict['degraded'] = isKnown ? undefined : 'overrides'
  for (let i = 0; i < demands.length; i++) {
    const { level, limit, shadow } = demands[i]
    const decision = decisions[i]
    if (decision.degraded !== undefined) degraded = worse(degraded, decision.degraded)
    if (shadow === true) {
      levels.push({ name: level, limit, decision, shadow })
      continue
    }
    levels.push({ name: level, limit, decision })
    if (!decision.allowed) {
      if (deniedBy[deniedBy.length - 1] !== level) deniedBy.push(level)
      if (decision.retryAfterMs > retryAfterMs) retryAfterMs = decision.retryAfterMs
    } else if (decision.delayMs > delayMs) delayMs = decision.delayMs
  }
  const allowed = deniedBy.length === 0
  if (!allowed) delayMs = 0
  return degraded === undefined
    ? { allowed, deniedBy, levels, retryAfterMs, delayMs }
    : { allowed, deniedBy, levels, retryAfterMs, delayMs, degraded }
}

/** The one that says most about the whole: denied without asking, then allowed without asking. */
const WORST = ['closed', 'open', 'local', 'overrides'] as const

function worse(one: Verdict['degraded'], other: Verdict['degraded']): Verdict['degraded'] {
  return WORST.find((each) => each === one || each === other)
}
