import type { LevelDecision, Verdict } from '../policy/index.js'

/** The decision of one limit as the verdict of a policy that has no other. */
export function verdictOfOne(level: LevelDecision): Verdict {
  const { name, decision } = level
  const { allowed, retryAfterMs, delayMs, degraded } = decision
  const verdict = { allowed, deniedBy: allowed ? [] : [name], levels: [level], retryAfterMs, delayMs }
  return degraded === undefined ? verdict : { ...verdict, degraded }
}
