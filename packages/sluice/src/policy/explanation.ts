import type { BlockFor, Decision, Limit } from '../limits/index.js'
import type { Origin } from './compiled-level.js'
import type { Mismatch } from './mismatch.js'
import type { LevelDecision } from './verdict.js'

/** How one level of a policy applies to a request. */
export interface Explanation {
  readonly level: string
  readonly matches: boolean
  /** Why the level does not match: the value of an attribute, and the condition on it. */
  readonly because?: string | undefined
  readonly key?: string
  /** Where the limits in force come from. */
  readonly from?: Origin
  /**
   * Why none of the level's overrides applies, if it has any: the value of an attribute, and what they ask for. Example: `plan is
   * 'entreprise', and they ask for "pro" or "enterprise"`.
   */
  readonly noOverride?: string
  /** What `because` or `noOverride` says, as data. */
  readonly mismatches?: readonly Mismatch[]
  readonly cost?: number
  readonly shadow?: true
  /** How long the level blocks a key that exceeds. */
  readonly blockFor?: BlockFor
  /** The limits in force, each with what `peek` says of it for this cost. */
  readonly limits?: readonly { readonly limit: Limit; readonly decision: Decision }[]
  /** Present on a level that matches if the store did not report the run-time overrides in time: limits may differ. */
  readonly degraded?: 'overrides'
}

/** Adds the decisions of the store to the levels that match. `isKnown`: all run-time overrides were known. */
export function withDecisions(
  levels: readonly Explanation[],
  decisions: readonly LevelDecision[],
  isKnown: boolean,
): readonly Explanation[] {
  return levels.map((each) => {
    if (!each.matches) return each
    const own = decisions.filter(({ name }) => name === each.level)
    const limits = own.map(({ limit, decision }) => ({ limit, decision }))
    return isKnown ? { ...each, limits } : { ...each, limits, degraded: 'overrides' }
  })
}
