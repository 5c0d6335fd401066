import type { Decision, Limit } from '../limits/index.js'
import { type Degraded, type Demand, worseOf } from '../stores/index.js'

/** The decision of one limit of a level that matched a request. A level with several limits has one for each. */
export interface LevelDecision {
  /** The level's name. */
  readonly name: string
  /** The limit in force: the level's own, or that of an override. */
  readonly limit: Limit
  readonly decision: Decision
  /** Present on a shadow level: its decision did not deny the request. */
  readonly shadow?: true
}

/** A policy's answer to one request. */
export interface Verdict {
  /**
   * True if every level that matched, except shadow levels, allowed the request. Then every level that allowed it has taken;
   * otherwise none has.
   */
  readonly allowed: boolean
  /** The names of the levels that denied, in the order of the policy. */
  readonly deniedBy: readonly string[]
  /** Every level that matched, in the order of the policy. */
  readonly levels: readonly LevelDecision[]
  /** The longest `retryAfterMs` of the levels that denied: 0 if allowed, `Infinity` if waiting does not help. */
  readonly retryAfterMs: number
  /** The longest `delayMs` of all levels: wait this long before the request goes on. */
  readonly delayMs: number
  /**
   * Absent if the store decided. Otherwise how the answer was made without it: the first of `'closed'`, `'open'` and
   * `'local'` that any level's decision has. `'overrides'` means that the store decided but did not report the run-time
   * overrides in time, so that other limits may have been in force.
   */
  readonly degraded?: Degraded
}

/** A policy's answer to several requests that had to pass together. */
export interface JointVerdict {
  /** True if every request was allowed. Then all have taken; otherwise none has. */
  readonly allowed: boolean
  /**
   * One for each request, in their order. It tells of the request's own levels: if `allowed` is true there and false here, the
   * request's levels had room, and it was denied because another request was.
   */
  readonly verdicts: readonly Verdict[]
}

/** A demand, with the name of its level. */
export interface LevelDemand extends Demand {
  readonly level: string
  readonly levelKey?: string | undefined
}

/**
 * Combines the decisions of all levels. `isKnown`: all run-time overrides were known when the demands were made. `from` and `to`:
 * the part of both lists that belongs to the request; by default all of it.
 */
export function verdictOf(
  demands: readonly LevelDemand[],
  decisions: readonly Decision[],
  isKnown = true,
  from = 0,
  to = demands.length,
): Verdict {
  const levels = new Array<LevelDecision>(to - from)
  let deniedBy: string[] = []
  let retryAfterMs = 0
  let delayMs = 0
  let degraded: Degraded | undefined = isKnown ? undefined : 'overrides'
  for (let i = from; i < to; i++) {
    const { level, limit, shadow } = demands[i]
    const decision = decisions[i]
    if (decision.degraded !== undefined) degraded = worseOf(degraded, decision.degraded)
    levels[i - from] = shadow === true ? { name: level, limit, decision, shadow } : { name: level, limit, decision }
    if (shadow === true) continue
    if (!decision.allowed) {
      // A list literal is as long as its elements; the first `push` would make room for 17.
      if (deniedBy.length === 0) deniedBy = [level]
      else if (deniedBy[deniedBy.length - 1] !== level) deniedBy.push(level)
      if (decision.retryAfterMs > retryAfterMs) retryAfterMs = decision.retryAfterMs
    } else if (decision.delayMs > delayMs) delayMs = decision.delayMs
  }
  const allowed = deniedBy.length === 0
  if (!allowed) delayMs = 0
  return degraded === undefined
    ? { allowed, deniedBy, levels, retryAfterMs, delayMs }
    : { allowed, deniedBy, levels, retryAfterMs, delayMs, degraded }
}
