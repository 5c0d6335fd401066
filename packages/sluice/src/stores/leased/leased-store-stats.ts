/**
 * The counters of a leased store, which only grow, and its present state. `granted` is always the sum of `spent`, `returned`,
 * `expired` and `held`.
 */
export interface LeasedStoreStats {
  /** Keys that are leased now. */
  readonly keys: number
  /** Units on lease now that were not spent. */
  readonly held: number
  /** Units that the store has lent. */
  readonly granted: number
  /** Units that were admitted from the hand. */
  readonly spent: number
  /** Units that were given back in time. */
  readonly returned: number
  /** Units that were not spent before their lease ended. */
  readonly expired: number
  /** Requests for leases: those of keys whose rounds end together leave together. */
  readonly exchanges: number
  /** Requests that the store itself decided. */
  readonly direct: number
}
