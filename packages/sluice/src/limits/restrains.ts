import { durationUs } from './duration.js'
import type { FixedWindow, LeakyBucket, Limit, SlidingLog, SlidingWindow, TokenBucket } from './limit.js'
import { parseRate } from './rate.js'

/**
 * Does one limit keep another from ever denying, when whatever is taken from the second is taken from the first too? Only
 * a yes is certain.
 *
 * Of each limit there is a bound on what it lets through in any interval of length T (all in units):
 *
 *     buckets         capacity + rate·T
 *     sliding log     quota · ceil(T / window)
 *     other windows   quota · (ceil(T / window) + 1)
 *
 * A bucket never denies what stays below its own capacity + rate·T for every T; a window, what stays below its quota for
 * T = window, or two windows where it weighs the one before.
 */
export function restrains(first: Limit, second: Limit): boolean {
  if (!isBucket(first) && !isBucket(second) && isSameGrid(first, second)) return first.quota <= second.quota
  if (isBucket(second)) return isBucket(first) ? bucketInBucket(first, second) : windowInBucket(first, second)
  const windows = second.algorithm === 'sliding-window' ? 2 : 1
  return mostIn(first, BigInt(windowUs(second) * windows)) <= BigInt(second.quota)
}

type Bucket = TokenBucket | LeakyBucket
type Window = FixedWindow | SlidingWindow | SlidingLog

function isBucket(limit: Limit): limit is Bucket {
  return 'capacity' in limit
}

/** Windows that begin and end together count the same. */
function isSameGrid(first: Window, second: Window): boolean {
  return JSON.stringify({ ...first, quota: 0 }) === JSON.stringify({ ...second, quota: 0 })
}

function bucketInBucket(first: Bucket, second: Bucket): boolean {
  const [a, b] = [rateOf(first), rateOf(second)]
  return first.capacity <= second.capacity && a.units * b.perUs <= b.units * a.perUs
}

function windowInBucket(first: Window, second: Bucket): boolean {
  const { units, perUs } = rateOf(second)
  const atOnce = mostIn(first, 1n)
  return atOnce <= BigInt(second.capacity) && BigInt(first.quota) * perUs <= units * BigInt(windowUs(first))
}

function mostIn(limit: Limit, us: bigint): bigint {
  if (isBucket(limit)) {
    const { units, perUs } = rateOf(limit)
    return BigInt(limit.capacity) + ceilDivided(units * us, perUs)
  }
  const windows = ceilDivided(us, BigInt(windowUs(limit)))
  return BigInt(limit.quota) * (limit.algorithm === 'sliding-log' ? windows : windows + 1n)
}

function rateOf(limit: Bucket) {
  return limit.algorithm === 'token-bucket' ? parseRate('refill', limit.refill) : parseRate('drain', limit.drain)
}

function windowUs({ window }: Window): number {
  return durationUs('window', window)
}

function ceilDivided(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b
}
