import { parseLimit } from './arithmetic-of.js'
import { durationText, durationUs } from './duration.js'
import type { Limit } from './limit.js'

/** What a bucket of one unit can still count exactly. */
const LONGEST_PERIOD_US = durationUs('period', '13000d')

/**
 * One of `instances` equal parts of a limit: its quota and its rate divided, a quota to no less than 1. A window stays
 * as long as it is.
 */
export function shareOf(limit: Limit, instances: number): Limit {
  if (instances === 1) return limit
  const units = (quota: number) => Math.max(1, Math.floor(quota / instances))
  switch (limit.algorithm) {
    case 'token-bucket':
      return parseLimit({ ...limit, capacity: units(limit.capacity), refill: slowed(limit.refill, instances) })
    case 'leaky-bucket':
      return parseLimit({ ...limit, capacity: units(limit.capacity), drain: slowed(limit.drain, instances) })
    case 'concurrency':
      return parseLimit({ ...limit, max: units(limit.max) })
    default:
      return parseLimit({ ...limit, quota: units(limit.quota) })
  }
}

/** A rate so many times as slow: '5/s' is '5/3s' when divided by three. */
function slowed(rate: string, instances: number): string {
  const [count, period] = rate.split('/')
  const periodUs = durationUs('period', /^\d/.test(period) ? period : `1${period}`)
  return `${count}/${durationText(Math.min(periodUs * instances, LONGEST_PERIOD_US))}`
}
