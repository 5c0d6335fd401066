import type { Decision, LeaseTerms, Limit } from '../limits/index.js'
import type { Answer, AsyncStore, Demand } from './store.js'

/** Asks a store for units of one key on lease, and returns what is left of earlier leases. */
export interface LeaseRequest extends LeaseTerms {
  readonly name: string
  readonly limit: Limit
  readonly key: string
  /** The process that asks: a random text. */
  readonly node: string
  /**
   * Counts the requests of this process, from 1. The store ignores a request whose number is not above the last one for this
   * state, so a request that arrives twice, or late, changes nothing. So it never starts again: one count for all keys will do.
   */
  readonly sequence: number
}

/** The store's answer to a lease request. */
export interface LeaseAnswer {
  readonly granted: number
  /** Names the lease in a later return: when it ends, by the store's clock. */
  readonly roundUs: number
  /** How long after the request was sent its units may be spent, if both clocks run equally fast. */
  readonly lastsMs: number
  /** True if the key is blocked: nothing was granted. */
  readonly isBlocked: boolean
  /**
   * What the store says to a request of this cost right after the grant. Nothing is taken for it. Its waits assume that nodes
   * soon report the units that they hold; those of `Store.decide` do not. May return the same object again.
   */
  decisionFor(cost: number): Decision
}

/** The store did not answer, or too late. Units that it may have granted are lost until their round ends. */
export interface LeaseFailure {
  /** Answers demands by their `onFailure` rules. */
  readonly instead: (demands: readonly Demand[]) => Answer
}

/**
 * Lends units. A part of a store. What is on lease counts as taken there: for direct decisions too, and after `reset` of a
 * token bucket. A window cannot tell, so after `reset` its leases come on top of the whole quota until they end.
 */
export interface Leases {
  /** How long leases of a limit are for, in microseconds; 0 if the limit cannot be leased. */
  leaseUs(limit: Limit, longestUs: number): number
  /**
   * Never rejects, except with an error of wrong arguments. Requests of one turn of the event loop leave together, with all
   * other calls of the store.
   */
  exchange(request: LeaseRequest): Promise<LeaseAnswer | LeaseFailure>
}

/** A store that lends units, as `redisStore` does. */
export interface LendingStore extends AsyncStore {
  readonly leases: Leases
}
