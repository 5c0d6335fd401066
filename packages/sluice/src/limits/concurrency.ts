import { checkOptions } from '../checks/check-options.js'
import { checkQuota } from '../checks/check-value.js'
import { remember } from './arithmetic.js'
import { type Duration, durationText, durationUs } from './duration.js'
import type { Concurrency } from './limit.js'
import { LARGEST_LOG, LogArithmetic } from './log-arithmetic.js'

/** The numbers of a concurrency limit. */
export interface ConcurrencyOptions {
  /** Units that may be in flight at once: a whole number from 0, which denies everything, to 1,000,000. */
  readonly max: number
  /**
   * How long a unit counts if it is never released: `'30s'`. Choose it longer than the longest work:
   * after the `ttl` another caller may take the place of work that still runs. Default `'1m'`.
   */
  readonly ttl?: Duration
}

/**
 * At most `max` units in flight at once, at any rate. A caller takes a unit while its work lasts and releases it
 * afterwards. A unit that is never released is free again after `ttl`.
 *
 * @example
 * ```ts
 * import { concurrency, createLimiter } from 'sluice'
 *
 * const reports = createLimiter({ limit: concurrency({ max: 20, ttl: '30s' }) })
 * const lease = reports.lease('user:42')
 * if (lease.allowed) {
 *   try {
 *     console.log('at most 20 at a time come here')
 *   } finally {
 *     lease.release()
 *   }
 * }
 * ```
 */
export function concurrency(options: ConcurrencyOptions): Concurrency {
  return remember(concurrencyArithmetic(options)).limit as Concurrency
}

export function concurrencyArithmetic(options: ConcurrencyOptions): LogArithmetic {
  const given = checkOptions('concurrency', options, ['max', 'ttl'])
  const max = checkQuota('max', given.max, LARGEST_LOG)
  const ttlUs = durationUs('ttl', given.ttl === undefined ? '1m' : given.ttl)
  const limit = Object.freeze({ algorithm: 'concurrency', max, ttl: durationText(ttlUs) })
  return new LogArithmetic(limit, max, ttlUs)
}

/** Does the limit count units in flight, which a request holds until it is over? */
export function isConcurrency({ algorithm }: { readonly algorithm: string }): boolean {
  return algorithm === 'concurrency'
}
