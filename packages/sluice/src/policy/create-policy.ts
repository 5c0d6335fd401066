import { checkOptions, isObject } from '../checks/check-options.js'
import type { Clock } from '../clock.js'
import { InvalidPolicyError, InvalidTypeError, invalidType } from '../errors.js'
import { noteMadeWith } from '../limiter/made-with.js'
import { checkBlocks, isSynchronous, storeOption } from '../limiter/store-option.js'
import type { AsyncStore, Store, SyncStore } from '../stores/index.js'
import { isPromiseLike } from '../stores/store.js'
import { AsyncStorePolicy } from './async-store-policy.js'
import type { Level, PolicyData } from './level.js'
import { Matcher } from './matcher.js'
import type { AsyncPolicy, AttributesOf, Policy } from './policy.js'
import { readPolicy } from './reading/read-policy.js'
import { StorePolicy } from './store-policy.js'

/** A policy with a memory store of its own. */
export interface OwnPolicyOptions<Levels extends readonly Level[]> extends PolicyData {
  readonly levels: Levels
  /** The clock to decide by. Default: the process's clock, which never steps back. */
  readonly clock?: Clock
  readonly store?: undefined
}

/** A policy on a store that you provide. */
export interface StoredPolicyOptions<Levels extends readonly Level[], S extends Store> extends PolicyData {
  /** Keeps this policy's states apart from those of other policies and limiters in the same store. */
  readonly name: string
  readonly levels: Levels
  readonly store: S
  /** A store decides by its own clock. Pass the clock to the store instead. */
  readonly clock?: undefined
}

/** The policy on a store of the type `S`. */
export type PolicyOn<S extends Store, Attribute extends string, LevelName extends string> = S extends AsyncStore
  ? AsyncPolicy<Attribute, LevelName>
  : Policy<Attribute, LevelName>

/**
 * Creates a policy: an ordered list of levels. A request takes from every level that matches it, or from none.
 *
 * @example
 * ```ts
 * import { createPolicy, tokenBucket } from 'sluice'
 *
 * const policy = createPolicy({
 *   levels: [
 *     { name: 'global', limit: tokenBucket({ capacity: 10_000, refill: '10000/s' }) },
 *     { name: 'user', key: ['user'], limit: tokenBucket({ capacity: 20, refill: '5/s' }) },
 *   ],
 * })
 * const verdict = policy.check({ user: 'user:42' })
 * if (!verdict.allowed) console.log(`denied by ${verdict.deniedBy}, come back in ${verdict.retryAfterMs} ms`)
 * ```
 */
export function createPolicy<const Levels extends readonly Level[], S extends SyncStore | AsyncStore = SyncStore>(
  options: OwnPolicyOptions<Levels> | StoredPolicyOptions<Levels, S>,
): PolicyOn<S, AttributesOf<Levels>, Levels[number]['name']> {
  checkIsPolicy(options)
  const {
    store: _,
    clock: __,
    ...data
  } = checkOptions('createPolicy', options, ['version', 'name', 'ipv6Prefix', 'levels', 'store', 'clock'])
  const read = readPolicy(data)
  if (read.problems.length > 0) throw new InvalidPolicyError(read.problems)
  const store = storeOption(options)
  if (options.store !== undefined && read.name === undefined) {
    throw invalidType('name (which keeps policies on one store apart)', "text such as 'api'", read.name)
  }
  for (const { blockFor } of read.levels) checkBlocks(blockFor, store)
  const name = read.name ?? 'default'
  const matcher = new Matcher(name, read, (named) => store.prepare?.(named))
  const policy = new StorePolicy(name, matcher, store, isSynchronous(store))
  // On a synchronous store every method of a `StorePolicy` returns its value, which its types do not say.
  const made = (isSynchronous(store) ? policy : new AsyncStorePolicy(policy)) as unknown as PolicyOn<
    S,
    AttributesOf<Levels>,
    Levels[number]['name']
  >
  return noteMadeWith(made, {
    store,
    rules: JSON.stringify(data),
    keyAttributes: [...new Set(read.levels.flatMap(({ key }) => key))],
  })
}

/** Usual mistakes: the levels alone, a promise of the policy, and what `loadPolicyFile` of `sluice-service` returns. */
function checkIsPolicy(options: unknown): void {
  const wrong = (got: string, write: string) =>
    new InvalidTypeError(`createPolicy takes an object, got ${got}: write ${write}`)
  if (Array.isArray(options)) throw wrong('an array', 'createPolicy({ levels })')
  if (isPromiseLike(options)) throw wrong('a promise', 'createPolicy(await …), or createPolicy((await …).policy)')
  if (isObject(options) && 'policy' in options) throw wrong('an object with policy', 'createPolicy(file.policy)')
}
