import { type Limit, quotaOf } from '../../limits/index.js'
import { KeysByState } from '../keys-by-state.js'
import type { LeasedKey } from './leased-key.js'
import type { LeasedLimit } from './lender.js'

/**
 * The leased keys of a store. If the numbers of its limit change, a key retires: it gives back what it holds, and requests
 * ask the store until its round ends.
 */
export class LeasedKeys extends KeysByState<LeasedLimit, LeasedKey> {
  /** `leaseUs` says how long leases of a limit are for. */
  constructor(leaseUs: (limit: Limit) => number) {
    super((name, limit) => ({
      name,
      limit,
      text: JSON.stringify(limit),
      quota: quotaOf(limit),
      leaseUs: leaseUs(limit),
      restsUntilMs: -Infinity,
    }))
  }

  /** The leased key of a demand, if it has one. */
  find(name: string, limit: Limit, key: string): LeasedKey | undefined {
    const { keys, text } = this.limitOf(name, limit)
    const leased = keys.get(key)
    if (leased === undefined || leased.limit.limit === limit || leased.limit.text === text) return leased
    leased.retire()
    return undefined
  }

  /** Forgets a leased key. */
  drop(leased: LeasedKey): void {
    const { name, limit } = leased.limit
    this.remove(this.limitOf(name, limit), leased)
  }
}
