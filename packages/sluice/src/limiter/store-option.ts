import { checkKey } from '../checks/check-value.js'
import { checkClock } from '../clock.js'
import { InvalidTypeError, invalidType } from '../errors.js'
import { type BlockRule, parseBlockFor } from '../limits/index.js'
import {
  type AsyncStore,
  cannotFail,
  checkOnFailure,
  memoryStore,
  type OnFailure,
  type PromptStore,
  type Store,
  type SyncStore,
  withFallback,
} from '../stores/index.js'

/**
 * Returns the given store, or a memory store with the given clock. To give both is an error. The returned store answers
 * its own failures by `onFailure`.
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
  const advice = isRedisClient(given.store) ? 'this is a Redis client, write store: redisStore(client)' : undefined
  throw invalidType('store', 'a store such as memoryStore() or redisStore(client)', given.store, advice)
}

/** Whether a value looks like a client of ioredis or node-redis. This module knows neither, and `sluice/redis` has the stores. */
function isRedisClient(value: unknown): boolean {
  const { evalsha, evalSha } = (value ?? {}) as { readonly evalsha?: unknown; readonly evalSha?: unknown }
  return typeof evalsha === 'function' || typeof evalSha === 'function'
}

/** Checks a name beside a store, which keeps `things` of that store apart. */
export function checkStoreName(name: unknown, things: 'limits' | 'shapers' | 'queues'): asserts name is string {
  const option = `name (which keeps ${things} on one store apart)`
  if (name === undefined) throw invalidType(option, "a non-empty string such as 'search'", name)
  checkKey(name, option)
}

const METHODS = ['peek', 'charge', 'refund', 'set', 'reset', 'block'] as const

/** Throws if a method is missing. Otherwise the mistake would look like an outage, or show only when the method is called. */
function checkMethods(store: SyncStore | AsyncStore): SyncStore | AsyncStore {
  const missing = METHODS.filter((name) => typeof store[name] !== 'function')
  if (missing.length === 0) return store
  const message = `store must have the methods decide, ${METHODS.join(', ')}; it lacks ${missing.join(', ')}`
  throw new InvalidTypeError(message, { option: 'store' })
}

/** Does the store return values, and not promises? */
export function isSynchronous(store: SyncStore | AsyncStore): store is SyncStore {
  return store.synchronous === true
}

/** May the store decide without asking elsewhere? */
export function isPrompt(store: SyncStore | AsyncStore): store is PromptStore {
  return typeof store.decideNow === 'function' && !isSynchronous(store)
}

/** Reads `blockFor`. Only a store that decides and blocks in one step can keep it. */
export function blockForOption(value: unknown, store: Store): BlockRule | undefined {
  if (value === undefined) return undefined
  const rule = parseBlockFor(value)
  checkBlocks(rule, store)
  return rule
}

/** Throws if there is a rule and the store cannot keep it. */
export function checkBlocks(rule: BlockRule | undefined, store: Store): void {
  if (rule === undefined || store.blocksByRule === true) return
  throw new InvalidTypeError(
    'blockFor needs a store that blocks by rule, such as memoryStore(), redisStore(client) or serviceStore(url): ' +
      'the given store does not say blocksByRule: true',
    { option: 'blockFor' },
  )
}

/** Checks `onFailure`. A store in memory cannot fail, so it must not have one. */
export function onFailureOption(value: unknown, store: SyncStore | AsyncStore): OnFailure | undefined {
  if (value === undefined) return undefined
  if (cannotFail(store)) throw invalidType('onFailure', 'left out, for a store in memory cannot fail', value)
  return checkOnFailure(value)
}
