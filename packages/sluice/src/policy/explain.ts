import type { Decision, Limit } from '../limits/index.js'
import type { Origin } from './compiled-level.js'

/** What a policy's level has to do with a request. */
export interface Explanation {
  readonly level: string
  readonly matches: boolean
  /** Why it does not match: what it asks of an attribute, and what the request has. */
  readonly because?: string | undefined
  readonly key?: string
  /** Where the limits come from. */
  readonly from?: Origin
  readonly cost?: number
  readonly shadow?: true
  /** The limits in force, and how things stand with each. */
  readonly limits?: readonly { readonly limit: Limit; readonly decision: Decision }[]
  /** Present on a level that matches if the store did not tell the run-time overrides in time: the limits may be others. */
  readonly degraded?: 'overrides'
}

/** Adds to each level that matches how things stand with its limits, and whether all overrides were known. */
export function explained(
  levels: readonly Explanation[],
  decisions: readonly { readonly name: string; readonly limit: Limit; readonly decision: Decision }[],
  isKnown = true,
): readonly Explanation[] {
  return levels.map((each) => {
    if (!each.matches) return each
    const own = decisions.filter(({ name }) => name === each.level)
    const limits = own.map(({ limit, decision }) => ({ limit, decision }))
    return isKnown ? { ...each, limits } : { ...each, limits, degraded: 'overrides' }
  })
}
