import { checkOptions } from '../../checks/check-options.js'
import { checkUnits } from '../../checks/check-value.js'
import { type Clock, checkClock } from '../../clock.js'
import { invalidType } from '../../errors.js'
import type { AsyncStore } from '../store.js'

/** Options of a synced store. Everything else, such as `onFailure`, is an option of the store behind it. */
export interface SyncedStoreOptions {
  /**
   * The longest time between two syncs of a key in use, in milliseconds: a whole number from 1 to 60,000. A sync begins
   * after 0.8 to 1 times this time, so that the nodes of a fleet do not call together. With many keys in use, the time of
   * their calls comes on top. Default 100.
   */
  readonly intervalMs?: number
  /**
   * The most keys that are counted in this process at a time: a whole number from 1 to 1,000,000. Others ask the store.
   * Default 100,000.
   */
  readonly maxKeys?: number
  /** The clock of the local counts. Default: the clock of the store, or of this process. */
  readonly clock?: Clock
}

/** Checks the options and fills in defaults. */
export function checkSyncedStoreOptions(options: SyncedStoreOptions) {
  const given = checkOptions('syncedStore', options, ['intervalMs', 'maxKeys', 'clock'])
  return {
    intervalMs: checkUnits('intervalMs', given.intervalMs ?? 100, 60_000),
    maxKeys: checkUnits('maxKeys', given.maxKeys ?? 100_000, 1_000_000),
    clock: checkClock(given.clock),
  }
}

/** Checks that a store answers with promises: to count in front of a store in this process gains nothing. */
export function checkAsyncStore(value: unknown): AsyncStore {
  const { decide, charge, synchronous } = (value ?? {}) as Partial<AsyncStore>
  if (typeof decide === 'function' && typeof charge === 'function' && !synchronous) return value as AsyncStore
  throw invalidType('the first argument of syncedStore', 'a shared store, such as redisStore(client)', value)
}
