import { checkOptions, isObject } from '../checks/check-options.js'
import { checkKey, checkUnits } from '../checks/check-value.js'
import { type Clock, checkClock, systemClock } from '../clock.js'
import { InvalidTypeError, invalidType } from '../errors.js'
import { checkStoreName, onFailureOption, storeOption } from '../limiter/store-option.js'
import { type LeakyBucket, leakyBucket, type Rate } from '../limits/index.js'
import type { AsyncStore, OnFailure, Store, SyncStore } from '../stores/index.js'
import { LocalQueue } from './local-queue.js'
import { Places } from './places.js'
import { QueueShaper } from './queue-shaper.js'
import type { Shaper } from './shaper.js'
import { StoreQueue } from './store-queue.js'

/** The rate and the size of a shaper. Each key has them for itself. */
export interface ShaperNumbers {
  /**
   * The rate at which callers leave: `'10/s'` is a slot every 100 ms. A late timer may bring two departures up to 20 ms closer:
   * at most 1.02 times the rate, plus one, leave in any second.
   */
  readonly drain: Rate
  /**
   * How many units the queue holds: a whole number from 1, such as 100 for a batch of 100. With 50, the first of 50 callers that come at once leaves, 49 wait, and
   * one more is rejected.
   */
  readonly capacity: number
  /**
   * How many pieces of work of a key may run at the same time in this process: a whole number from 1. A waiter leaves when its
   * slot has come and a place is free. A piece of work takes one place, whatever its cost. Default: no bound.
   */
  readonly concurrency?: number
}

/** A shaper for this process. */
export interface OwnShaperOptions extends ShaperNumbers {
  /** Appears in errors. Default `'default'`. */
  readonly name?: string
  /** Tells the time. Default: the clock of this process, which never steps back. */
  readonly clock?: Clock
  readonly store?: undefined
  readonly onFailure?: undefined
}

/** A shaper with `concurrency` and without a rate: callers leave as soon as a place is free. It belongs to this process. */
export interface ShaperWithoutDrainOptions extends Omit<OwnShaperOptions, 'drain'> {
  readonly drain?: undefined
  /** How many pieces of work of a key may run at the same time: a whole number from 1. */
  readonly concurrency: number
}

/** A shaper for all processes that share a store. */
export interface FleetShaperOptions<S extends Store> extends ShaperNumbers {
  /** Keeps it apart from other shapers and limits in the same store. */
  readonly name: string
  readonly store: S
  readonly clock?: undefined
  /**
   * What happens when the store does not answer. `'local'`: callers leave at this process's share of the rate, which is
   * drain / `instances` of the store. `'closed'`: callers are rejected. `'open'`: callers leave at once. Default: the
   * `onFailure` of the store, or `'local'` if it has none, because a service behind a shaper cannot take a crowd.
   */
  readonly onFailure?: OnFailure
}

const OPTIONS = ['name', 'drain', 'capacity', 'concurrency', 'store', 'clock', 'onFailure']

/**
 * Makes callers wait for their turn. The queue holds `capacity` units, which leave at the rate of `drain`, each key for itself.
 * With `concurrency`, at most so many pieces of work of a key run at the same time. With a `store`, all processes that share
 * the store leave at that rate together.
 *
 * @example
 * ```ts
 * import { createShaper } from 'sluice'
 *
 * const bank = createShaper({ drain: '10/s', capacity: 100, concurrency: 5 })
 * const response = await bank.run(() => fetch('https://bank.example/transfers'))
 * ```
 */
export function createShaper(
  options: FleetShaperOptions<SyncStore | AsyncStore> | ShaperWithoutDrainOptions | OwnShaperOptions,
): Shaper {
  if (isObject(options) && Object.hasOwn(options, 'instances')) throw instancesOfShaper()
  const given = checkOptions('createShaper', options, OPTIONS)
  const { concurrency } = given
  const places = concurrency === undefined ? undefined : new Places(checkUnits('concurrency', concurrency))
  return given.store === undefined ? ownShaper(given, places) : sharedShaper(given, places)
}

function instancesOfShaper(): InvalidTypeError {
  return new InvalidTypeError(
    "createShaper has no option 'instances'; it belongs to the store, as in store: redisStore(client, { instances: 3 })",
    { option: 'instances' },
  )
}

function ownShaper(given: Readonly<Record<string, unknown>>, places: Places | undefined): Shaper {
  const { name = 'default', onFailure } = given
  if (given.drain === undefined && places === undefined) throw neitherRateNorPlaces()
  const { capacity, drain } = given.drain !== undefined ? limitOf(given) : { capacity: capacityOf(given) }
  checkKey(name, 'name')
  if (onFailure !== undefined)
    throw invalidType('onFailure', 'left out, for a shaper without a store cannot fail', onFailure)
  return new QueueShaper(
    name,
    new LocalQueue(name, { capacity, drain, places }, checkClock(given.clock) ?? systemClock),
  )
}

function sharedShaper(given: Readonly<Record<string, unknown>>, places: Places | undefined): Shaper {
  const { name } = given
  const limit = limitOf(given)
  checkStoreName(name, 'shapers')
  const store = storeOption(given)
  const onFailure = onFailureOption(given.onFailure, store) ?? store.onFailure ?? 'local'
  const named = { name, limit, onFailure }
  store.prepare?.(named)
  return new QueueShaper(name, new StoreQueue(store, named, places))
}

function neitherRateNorPlaces(): InvalidTypeError {
  return new InvalidTypeError(
    "createShaper needs drain, which says how fast callers leave, or concurrency, which says how many run at the same time, as in { drain: '10/s', " +
      'capacity: 50 } or { concurrency: 5, capacity: 50 }',
    { option: 'drain' },
  )
}

function limitOf({ drain, capacity }: Readonly<Record<string, unknown>>): LeakyBucket {
  return leakyBucket({ drain: drain as Rate, capacity: capacityOf({ capacity }) })
}

function capacityOf({ capacity }: Readonly<Record<string, unknown>>): number {
  if (capacity !== undefined) return checkUnits('capacity', capacity)
  const advice = 'it is how many units may wait, such as 100 for a batch of 100'
  throw invalidType('capacity', 'a whole number from 1', capacity, advice)
}
