import { checkOptions } from '../../checks/check-options.js'
import { checkUnits, checkWhole } from '../../checks/check-value.js'
import { type Clock, checkClock } from '../../clock.js'
import { invalidType } from '../../errors.js'
import { LONGEST_LEASE_US, SHORTEST_LEASE_US } from '../../limits/index.js'
import type { LendingStore } from '../leases.js'

/** Options of a leased store. Everything else, such as `onFailure`, is an option of the store that lends. */
export interface LeasedStoreOptions {
  /**
   * The longest lease, in milliseconds: a whole number from 5 to 250. A busy key calls the store about once in this time.
   * The leases of a small bucket are shorter. Default 250.
   */
  readonly leaseMs?: number
  /** The most keys that are leased at a time: a whole number from 1 to 1,000,000. Others ask the store. Default 10,000. */
  readonly maxKeys?: number
  /** Tells how long leases have been held; it must not step back. Default: the clock of the store, or of this process. */
  readonly clock?: Clock
}

/** Checks the options and fills in defaults. */
export function checkLeasedStoreOptions(options: LeasedStoreOptions) {
  const given = checkOptions('leasedStore', options, ['leaseMs', 'maxKeys', 'clock'])
  const longest = LONGEST_LEASE_US / 1_000
  return {
    leaseMs: checkWhole('leaseMs', given.leaseMs ?? longest, SHORTEST_LEASE_US / 1_000, longest),
    maxKeys: checkUnits('maxKeys', given.maxKeys ?? 10_000, 1_000_000),
    clock: checkClock(given.clock),
  }
}

/** Checks that a store lends units. */
export function checkLendingStore(value: unknown): LendingStore {
  const { decide, leases } = (value ?? {}) as Partial<LendingStore>
  if (typeof decide === 'function' && typeof leases?.exchange === 'function') return value as LendingStore
  throw invalidType('the first argument of leasedStore', 'a store that lends units, such as redisStore(client)', value)
}
