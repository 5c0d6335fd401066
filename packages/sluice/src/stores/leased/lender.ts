import type { Limit } from '../../limits/index.js'
import type { LeaseAnswer, LeaseFailure, LeaseRequest } from '../leases.js'

/** What all leased keys of a store share. */
export interface Lender {
  /** The time in epoch milliseconds. Never steps back. */
  nowMs(): number
  exchange(request: Omit<LeaseRequest, 'node' | 'sequence'>): Promise<LeaseAnswer | LeaseFailure>
  readonly counts: LeaseCounts
}

/** Units by what became of them, in this process. The counters only grow. */
export interface LeaseCounts {
  granted: number
  spent: number
  returned: number
  expired: number
}

/** A name and a limit whose keys may be leased. */
export interface LeasedLimit {
  readonly name: string
  readonly limit: Limit
  /** Tells limits of different numbers apart. */
  readonly text: string
  readonly quota: number
  readonly leaseUs: number
  /** Until then no key is leased, because the store's last answers came too late for leases that are so short. */
  restsUntilMs: number
}

/** Keys whose leases are equally long call the store together when their round ends. */
export interface Round {
  readonly endsMs: number
}
