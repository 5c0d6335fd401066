import { checkOptions } from '../checks/check-options.js'
import { checkKey, checkUnits } from '../checks/check-value.js'
import type { Clock } from '../clock.js'
import { InvalidTypeError } from '../errors.js'
import { type BlockFor, type Limit, parseLimit } from '../limits/index.js'
import type { AsyncStore, OnFailure, PromptStore, Store, SyncStore } from '../stores/index.js'
import type { AsyncLimiter, Limiter, PromptLimiter } from './limiter.js'
import { noteMadeWith } from './made-with.js'
import { asyncLimiter, promptLimiter, StoreLimiter } from './store-limiter.js'
import {
  blockForOption,
  checkStoreName,
  isPrompt,
  isSynchronous,
  onFailureOption,
  storeOption,
} from './store-option.js'

/** A limiter with a memory store of its own. */
export interface OwnStoreOptions {
  readonly limit: Limit
  /** Appears in logs and metrics. Default `'default'`. */
  readonly name?: string
  /** See {@link SharedStoreOptions.blockFor}. */
  readonly blockFor?: BlockFor
  /** See {@link SharedStoreOptions.maxWaiters}. */
  readonly maxWaiters?: number
  /** Tells the time. Default: the clock of this process, which never steps back. */
  readonly clock?: Clock
  readonly store?: undefined
  readonly onFailure?: undefined
}

/** A limiter on a store that you give. */
export interface SharedStoreOptions<S extends Store> {
  /** Keeps the states of this limit apart from those of other limits in the same store. */
  readonly name: string
  readonly limit: Limit
  readonly store: S
  /**
   * How long a key is denied everything once it exceeds: `'15m'`, or `{ first: '1m', factor: 2, most: '1d', forget: '1d' }`
   * to block longer each time. A key exceeds when `tryAcquire`, `reserve` or `lease` lacks units. Default: not at all.
   */
  readonly blockFor?: BlockFor
  /**
   * How many callers may wait at the same time in `acquire` and `acquireLease` of this limiter, over all keys: a whole number
   * from 1. One more is rejected at once with a `QueueFullError`, and nothing is taken. Default 100,000.
   */
  readonly maxWaiters?: number
  /** The store keeps time: give the clock to the store. */
  readonly clock?: undefined
  /**
   * How a request is answered when the store fails to answer. Default: the `onFailure` of the store; if that has none
   * either, the failure is thrown. Not for stores that cannot fail.
   */
  readonly onFailure?: OnFailure
}

/** The limiter on a store of the type `S`. */
export type LimiterOn<S extends Store> = S extends PromptStore
  ? PromptLimiter
  : S extends AsyncStore
    ? AsyncLimiter
    : Limiter

const OPTIONS = ['limit', 'name', 'store', 'clock', 'onFailure', 'blockFor', 'maxWaiters']

/**
 * Limits how often each key may do something. Without a `store`, the limiter keeps its states in this process and answers
 * at once. With a `store`, it needs a `name`.
 *
 * @example
 * ```ts
 * import { createLimiter, tokenBucket } from 'sluice'
 *
 * const limiter = createLimiter({ limit: tokenBucket({ capacity: 20, refill: '5/s' }) })
 * const decision = limiter.tryAcquire('user:42')
 * if (!decision.allowed) console.log(`come back in ${decision.retryAfterMs} ms`)
 * ```
 */
export function createLimiter<S extends SyncStore | AsyncStore = SyncStore>(
  options: OwnStoreOptions | SharedStoreOptions<S>,
): LimiterOn<S> {
  if (options !== null && typeof options === 'object' && Object.hasOwn(options, 'algorithm')) {
    throw new InvalidTypeError('createLimiter takes { limit }, got the limit itself: write createLimiter({ limit })', {
      option: 'limit',
    })
  }
  const given = checkOptions('createLimiter', options, OPTIONS)
  const limit = parseLimit(given.limit)
  const store = storeOption(given)
  const name = given.store === undefined && given.name === undefined ? 'default' : given.name
  if (given.store === undefined) checkKey(name, 'name')
  else checkStoreName(name, 'limits')
  const onFailure = onFailureOption(given.onFailure, store)
  const named = { name, limit, onFailure }
  store.prepare?.(named)
  const maxWaiters = given.maxWaiters === undefined ? undefined : checkUnits('maxWaiters', given.maxWaiters)
  const blockFor = blockForOption(given.blockFor, store)
  const limiter = new StoreLimiter(store, named, blockFor, maxWaiters)
  const made: unknown = isSynchronous(store)
    ? limiter
    : isPrompt(store)
      ? promptLimiter(limiter)
      : asyncLimiter(limiter)
  return noteMadeWith(made as LimiterOn<S>, { store, rules: JSON.stringify([limit, blockFor]) })
}
