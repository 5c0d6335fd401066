import { InvalidTypeError, InvalidValueError, invalidType, shown } from '../errors.js'
import { isConcurrency } from './concurrency.js'
import { type Limit, quotaOf } from './limit.js'

/**
 * Checks how many units `set` leaves to a key: a whole number from 0 to the quota. Also throws if no state of the limit can
 * be set: units of a concurrency limit are held by leases, and a limit without a finite quota counts nothing.
 */
export function checkRemaining(limit: Limit, remaining: unknown): number {
  const quota = quotaOf(limit)
  if (isConcurrency(limit)) {
    throw new InvalidTypeError(
      'set needs a limit whose units come back with time, and concurrency counts leases in flight, which cannot be set: ' +
        'release them, or forget them all with reset',
      { option: 'limit' },
    )
  }
  if (!Number.isFinite(quota))
    throw new InvalidTypeError(`set needs a limit with a finite quota, and ${limit.algorithm} has none`, {
      option: 'limit',
    })
  const wanted = `a whole number from 0 to ${quota}, the quota`
  if (typeof remaining !== 'number') throw invalidType('remaining', wanted, remaining)
  if (Number.isSafeInteger(remaining) && remaining >= 0 && remaining <= quota) return remaining
  throw new InvalidValueError(`remaining must be ${wanted}, got ${shown(remaining)}`, { option: 'remaining' })
}
