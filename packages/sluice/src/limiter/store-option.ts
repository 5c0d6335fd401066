import { checkClock } from '../clock.js'
import { InvalidTypeError, invalidType } from '../errors.js'
import {
  type AsyncStore,
  cannotFail,
  checkOnFailure,
  memoryStore,
  type OnFailure,
  type Store,
  type SyncStore,
  withFallback,
} from '../stores/index.js'

/**
 * The store that was given, or a memory store with the clock that was given; both at once is a mistake. Failures of the store
 * are answered by `onFailure`.
 */
export function storeOption(given: { readonly store?: unknown; readonly clock?: unknown }): SyncStore | AsyncStore {
  const clock = checkClock(given.clock)
  if (given.store === undefined) return memoryStore(clock && { clock })
  if (clock !== undefined) {
    throw invalidType('clock', 'given to the store that keeps time, as in memoryStore({ clock })', clock)
  }
  if (typeof given.store === 'object' && given.store !== null && typeof (given.store as Store).decide === 'function') {
    return withFallback(checkMethods(given.store as SyncStore | AsyncStore))
  }
  throw invalidType('store', 'a store such as memoryStore() or redisStore(client)', given.store)
}

const METHODS = ['charge', 'refund', 'reset', 'block'] as const

/** What a store lacks would otherwise look like an outage, or show only when it is needed. */
function checkMethods(store: SyncStore | AsyncStore): SyncStore | AsyncStore {
  const missing = METHODS.filter((name) => typeof store[name] !== 'function')
  if (missing.length === 0) return store
  throw new InvalidTypeError(
    `store must have the methods decide, ${METHODS.join(', ')}; it lacks ${missing.join(', ')}`,
    {
      option: 'store',
    },
  )
}

/** Does the store answer at once? */
export function isSynchronous(store: SyncStore | AsyncStore): store is SyncStore {
  return store.synchronous === true
}

/** What a limiter wants to be told when its store does not answer. A memory store always does. */
export function onFailureOption(value: unknown, store: SyncStore | AsyncStore): OnFailure | undefined {
  if (value === undefined) return undefined
  if (cannotFail(store)) throw invalidType('onFailure', 'left out, for a memory store cannot fail', value)
  return checkOnFailure(value)
}
