import type { Clock } from '../clock.js'
import { type Limit, parseLimit } from '../limits/index.js'
import { checkNames } from '../limits/options.js'
import { type AsyncStore, checkClock, memoryStore, type SyncStore } from '../stores/index.js'
import { createLimiter } from './create-limiter.js'
import type { AsyncLimiter, Limiter } from './limiter.js'

/** Where several limiters keep their states: in a memory store of their own, or in one of yours. */
export interface LimitersOptions<S> {
  readonly store?: S
  /** Tells the time of their own memory store. */
  readonly clock?: Clock
}

/**
 * Several limiters on one store, each named by its property, which the compiler checks.
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
  options: LimitersOptions<AsyncStore> & { readonly store: AsyncStore },
): Readonly<Record<Name, AsyncLimiter>>
export function createLimiters<Name extends string>(
  limits: Readonly<Record<Name, Limit>>,
  options?: LimitersOptions<SyncStore>,
): Readonly<Record<Name, Limiter>>
export function createLimiters(
  limits: Readonly<Record<string, Limit>>,
  options: LimitersOptions<SyncStore | AsyncStore> = {},
): Readonly<Record<string, Limiter | AsyncLimiter>> {
  const given = checkNames('createLimiters', options, ['store', 'clock'])
  const clock = checkClock(given.clock)
  const store = (given.store ?? memoryStore(clock && { clock })) as SyncStore
  const entries = Object.entries(limits).map(([name, limit]) => {
    const checked = { name, limit: parseLimit(limit), store }
    return [
      name,
      createLimiter(given.store === undefined ? checked : { ...checked, clock: clock as undefined }),
    ] as const
  })
  // Null prototype: limiters.constructor is a limiter or nothing, as the names say.
  return Object.freeze(Object.assign(Object.create(null), Object.fromEntries(entries)))
}
