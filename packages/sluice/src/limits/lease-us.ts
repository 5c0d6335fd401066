import { arithmeticOf } from './arithmetic-of.js'
import type { Limit } from './limit.js'

/** A lease is for at most this share of the time that a bucket takes to fill, so that held units never stop the refill. */
const SHARE = 4
/** Shorter leases would be over before they are worth their call, in microseconds. */
export const SHORTEST_LEASE_US = 5_000

/**
 * How long leases of a limit are for, in microseconds: a quarter of the time that a bucket takes to fill, or of a window or
 * its slice, and at most `longestUs`. 0 if the limit cannot be leased: one that counts every request by itself, a window that
 * begins at the first request, and anything that is over in less than 20 ms. Example: a bucket of 100 at '1000/s' fills in 100
 * ms, so its leases are for 25 ms.
 */
export function leaseUs(limit: Limit, longestUs: number): number {
  const leaseUs = Math.min(longestUs, Math.floor(spanUs(limit) / SHARE))
  return leaseUs < SHORTEST_LEASE_US ? 0 : leaseUs
}

function spanUs(limit: Limit): number {
  const { parameters } = arithmeticOf(limit).remote
  if (limit.algorithm === 'token-bucket') {
    const [partsPerUnit, partsPerUs, capacity] = parameters
    return (capacity * partsPerUnit) / partsPerUs
  }
  if (limit.algorithm !== 'fixed-window' && limit.algorithm !== 'sliding-window') return 0
  const [windowUs, isFirst, , slices = 1] = parameters
  return isFirst === 1 ? 0 : windowUs / slices
}
