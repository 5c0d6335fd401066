import type { Limit } from './limit.js'

/** How many units a limit gives: a capacity, a window's quota, or how many may be in flight. */
export function quotaOf(limit: Limit): number {
  if ('capacity' in limit) return limit.capacity
  return 'max' in limit ? limit.max : limit.quota
}
