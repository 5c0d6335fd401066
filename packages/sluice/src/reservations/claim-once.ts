import { checkOptions } from '../checks/check-options.js'
import { checkKey } from '../checks/check-value.js'
import { StoreUnavailableError } from '../errors.js'
import { type Duration, durationUs } from '../limits/index.js'
import { type AsyncStore, type SyncStore, withFallback } from '../stores/index.js'
import { after } from '../stores/store.js'
import { openReservationsOf, scopedId } from './open-reservations.js'

/** How long an id is remembered. */
export interface ClaimOnceOptions {
  /** How long: `'1h'`. */
  readonly ttl: Duration
}

/**
 * True for the first call with this id on the store, false for every later one until `ttl` is over. So something is done
 * once, however often its request is repeated, also by other processes if the store keeps reservations. Rejects with a
 * `StoreUnavailableError` if the store does not answer; then the id may be claimed or not.
 *
 * @example
 * ```ts
 * import { claimOnce, createLimiter, memoryStore, tokenBucket } from 'sluice'
 *
 * const store = memoryStore()
 * const search = createLimiter({ name: 'search', limit: tokenBucket({ capacity: 100, refill: '10/s' }), store })
 * if (claimOnce(store, 'refund-4711', { ttl: '1h' })) search.refund('user:42', { cost: 5 })
 * ```
 */
export function claimOnce<S extends SyncStore | AsyncStore>(
  store: S,
  id: string,
  options: ClaimOnceOptions,
): S extends AsyncStore ? Promise<boolean> : boolean {
  checkKey(id, 'id')
  const ttlMs = Math.ceil(durationUs('ttl', checkOptions('claimOnce', options, ['ttl']).ttl) / 1_000)
  const opening = openReservationsOf(withFallback(store)).open(scopedId('once', '', id), [], ttlMs, '')
  const claimed = after(store.synchronous === true ? opening : Promise.resolve(opening), ({ isNew, isKept }) => {
    if (isKept) return isNew
    throw new StoreUnavailableError('the store did not answer; the id may not have been claimed')
  })
  return claimed as S extends AsyncStore ? Promise<boolean> : boolean
}
