/** The counters of a synced store, which only grow, and its present state. */
export interface SyncedStoreStats {
  /** Keys that are counted in this process now. */
  readonly keys: number
  /** Units that this process has admitted or charged, and that the store has not confirmed yet. */
  readonly unreported: number
  /** For how long the key with the oldest view has been in use without an answer of the store, in milliseconds. */
  readonly oldestViewMs: number
  /** The longest time from one sync of a key to the answer of its next one so far, in milliseconds. */
  readonly longestGapMs: number
  /**
   * The bound: the most units of one key that each other process can add to what the fleet admits over the limit, if its
   * syncs are no further apart than those of this process. It is the largest over the keys of this process.
   */
  readonly overshoot: number
  /** Intervals that ended with calls to the store. */
  readonly syncs: number
  /** Calls of syncs: at most one for each key in an interval, and at most 250 at a time. */
  readonly calls: number
  /** Calls of syncs that the store did not answer. */
  readonly failures: number
  /** Requests that the store itself was asked for. */
  readonly direct: number
}
