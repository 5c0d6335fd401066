import { checkOptions } from '../checks/check-options.js'
import type { Clock } from '../clock.js'
import { invalidType, naming } from '../errors.js'
import { type BlockFor, type Limit, parseLimit } from '../limits/index.js'
import type { AsyncStore, OnFailure, PromptStore, SyncStore } from '../stores/index.js'
import { createLimiter } from './create-limiter.js'
import type { AsyncLimiter, Limiter, PromptLimiter } from './limiter.js'
import { blockForOption, onFailureOption, storeOption } from './store-option.js'

/** Where several limiters keep their states: in the store that you give, or in a memory store of their own. */
export interface LimitersOptions<S> {
  readonly store?: S
  /** The clock of their own memory store. */
  readonly clock?: Clock
  /** See {@link SharedStoreOptions.onFailure}. */
  readonly onFailure?: OnFailure
  /** The `blockFor` of each of them. See {@link SharedStoreOptions.blockFor}. */
  readonly blockFor?: BlockFor
}

/**
 * Makes several limiters on one store. The property of each limit is the name of its limiter, and the compiler checks it.
 *
 * @example
 * ```ts
 * import { createLimiters, tokenBucket } from 'sluice'
 *
 * const limiters = createLimiters({
 *   login: tokenBucket({ capacity: 5, refill: '5/m' }),
 *   search: tokenBucket({ capacity: 100, refill: '10/s' }),
 * })
 * limiters.login.tryAcquire('user:42')
 * ```
 */
export function createLimiters<Name extends string>(
  limits: Readonly<Record<Name, Limit>>,
  options: LimitersOptions<PromptStore> & { readonly store: PromptStore },
): Readonly<Record<Name, PromptLimiter>>
export function createLimiters<Name extends string>(
  limits: Readonly<Record<Name, Limit>>,
  options: LimitersOptions<AsyncStore> & { readonly store: AsyncStore },
): Readonly<Record<Name, AsyncLimiter>>
export function createLimiters<Name extends string>(
  limits: Readonly<Record<Name, Limit>>,
  options?: LimitersOptions<SyncStore>,
): Readonly<Record<Name, Limiter>>
export function createLimiters<Name extends string>(
  limits: Readonly<Record<Name, Limit>>,
  options: LimitersOptions<SyncStore | AsyncStore>,
): Readonly<Record<Name, Limiter | AsyncLimiter>>
export function createLimiters(
  limits: Readonly<Record<string, Limit>>,
  options: LimitersOptions<SyncStore | AsyncStore> = {},
): Readonly<Record<string, Limiter | AsyncLimiter>> {
  if (typeof (options as { decide?: unknown } | null)?.decide === 'function')
    throw invalidType('the second argument of createLimiters', 'an object with the store in it: { store }', options)
  const given = checkOptions('createLimiters', options, ['store', 'clock', 'onFailure', 'blockFor'])
  const store = storeOption(given) as AsyncStore
  const onFailure = onFailureOption(given.onFailure, store)
  blockForOption(given.blockFor, store)
  const { blockFor } = options
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits))
    throw invalidType('limits', 'an object of limits by name', limits)
  // Without a prototype, a limiter may be called `constructor`, and every property is a limiter.
  const limiters = Object.create(null)
  for (const [name, limit] of Object.entries(limits)) {
    limiters[name] = naming(name, () =>
      createLimiter({
        name,
        limit: parseLimit(limit),
        store,
        ...(onFailure && { onFailure }),
        ...(blockFor && { blockFor }),
      }),
    )
  }
  return Object.freeze(limiters)
}
