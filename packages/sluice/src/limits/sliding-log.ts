import { checkOptions } from '../checks/check-options.js'
import { checkQuota } from '../checks/check-value.js'
import { remember } from './arithmetic.js'
import { type Duration, durationText, durationUs } from './duration.js'
import type { SlidingLog } from './limit.js'
import { LARGEST_LOG, LogArithmetic } from './log-arithmetic.js'

/** The numbers of a sliding log. */
export interface SlidingLogOptions {
  /** Units that any window gives: a whole number from 0 (denies everything) to 1,000,000. Each is remembered for a window. */
  readonly quota: number
  /** The window's length: `'1m'`. */
  readonly window: Duration
}

/**
 * Exact: at most `quota` in any interval of length `window`. It keeps a timestamp for each unit. For large quotas a sliding
 * window with slices is nearly as exact and takes a few numbers.
 *
 * @example
 * ```ts
 * import { slidingLog } from 'sluice'
 *
 * const passwordResets = slidingLog({ quota: 3, window: '1h' })
 * ```
 */
export function slidingLog(options: SlidingLogOptions): SlidingLog {
  return remember(slidingLogArithmetic(options)).limit as SlidingLog
}

export function slidingLogArithmetic(options: SlidingLogOptions): LogArithmetic {
  const given = checkOptions('slidingLog', options, ['quota', 'window'])
  const quota = checkQuota('quota', given.quota, LARGEST_LOG)
  const windowUs = durationUs('window', given.window)
  const limit = Object.freeze({ algorithm: 'sliding-log', quota, window: durationText(windowUs) })
  return new LogArithmetic(limit, quota, windowUs)
}
