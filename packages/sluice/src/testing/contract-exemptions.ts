import type { Limit } from '../limits/index.js'

/**
 * What a store does not do, as its documentation says. The contract leaves out the rules and calls that need it.
 *
 * Example: `{ limits: ({ algorithm }) => algorithm !== 'token-bucket' }` is a store that keeps token buckets only.
 */
export interface ContractExemptions {
  /** Which limits the store refuses to keep. */
  readonly limits?: (limit: Limit) => boolean
  /** True if limits of one name with different numbers have states of their own. */
  readonly changedNumbers?: boolean
  /** True if the store's answers after a step back of the clock are not those of the reference, but stricter. */
  readonly stepsBack?: boolean
  /** True if the store gives back a slot of a leaky bucket only if the caller says which. */
  readonly newestSlot?: boolean
}

/** Does the store keep such a limit? */
export function isAccepted(limit: Limit, { limits }: ContractExemptions): boolean {
  return limits === undefined || !limits(limit)
}
