import { checkOptions } from '../checks/check-options.js'
import { checkKey } from '../checks/check-value.js'
import { type Clock, checkClock, systemClock } from '../clock.js'
import { invalidType } from '../errors.js'
import { onFailureOption, storeOption } from '../limiter/store-option.js'
import { leakyBucket } from '../limits/index.js'
import { DRAIN_HABITS } from '../limits/leaky-bucket.js'
import type { AsyncStore, OnFailure, Store, SyncStore } from '../stores/index.js'
import { OwnShaper } from './own-shaper.js'
import { ReservedShaper } from './reserved-shaper.js'
import type { Shaper } from './shaper.js'

/** The numbers of a shaper. */
export interface ShaperNumbers {
  /** What leaves, at constant spacing: a rate such as `'10/s'`. */
  readonly drain: string
  /** How many units may wait, with those that have just left: a whole number from 1. */
  readonly capacity: number
}

/** A shaper of this process. */
export interface OwnShaperOptions extends ShaperNumbers {
  /** Appears in errors. Default `'default'`. */
  readonly name?: string
  /** Tells the time. Default: the process's clock, which never steps back. */
  readonly clock?: Clock
  readonly store?: undefined
  readonly onFailure?: undefined
}

/** A shaper of all processes that share a store. */
export interface SharedShaperOptions<S extends Store> extends ShaperNumbers {
  /** What keeps it apart from other shapers and limits in the same store. */
  readonly name: string
  readonly store: S
  readonly clock?: undefined
  /**
   * What happens when the store does not answer: `'local'` leaves at this process's share of the rate, by the store's
   * `instances`, `'closed'` refuses, `'open'` lets everybody go at once. Default: what the store was told, and `'local'` if it
   * was told nothing, for who shapes traffic cannot take a crowd.
   */
  readonly onFailure?: OnFailure
}

/**
 * Makes callers wait for their turn: no more than `capacity` wait, and they leave at exactly `drain`, each key for itself.
 * With a `store` all processes that use it leave at that rate together.
 *
 * @example
 * ```ts
 * import { createShaper } from 'sluice'
 *
 * const bank = createShaper({ drain: '10/s', capacity: 100 })
 * const response = await bank.run(() => fetch('https://bank.example/transfers'))
 * ```
 */
export function createShaper(options: OwnShaperOptions): Shaper
export function createShaper(options: SharedShaperOptions<SyncStore>): Shaper
export function createShaper(options: SharedShaperOptions<AsyncStore>): Shaper
export function createShaper(options: SharedShaperOptions<SyncStore | AsyncStore>): Shaper
export function createShaper(options: OwnShaperOptions | SharedShaperOptions<Store>): Shaper {
  const given = checkOptions(
    'createShaper',
    options,
    ['name', 'drain', 'capacity', 'store', 'clock', 'onFailure'],
    DRAIN_HABITS,
  )
  const limit = leakyBucket({ drain: given.drain as string, capacity: given.capacity as number })
  if (given.store === undefined) {
    const { name = 'default', onFailure } = given
    checkKey(name, 'name')
    if (onFailure !== undefined)
      throw invalidType('onFailure', 'left out, for a shaper without a store cannot fail', onFailure)
    return new OwnShaper(name, limit, checkClock(given.clock) ?? systemClock)
  }
  const { name } = given
  checkKey(name, 'name (which keeps shapers on one store apart)')
  const store = storeOption(given)
  const onFailure = onFailureOption(given.onFailure, store) ?? store.onFailure ?? 'local'
  store.prepare?.({ name, limit, onFailure })
  return new ReservedShaper(name, limit, store, onFailure)
}
