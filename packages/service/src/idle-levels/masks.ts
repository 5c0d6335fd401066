import type { Concurrency, LeakyBucket, Limit, SlidingLog, TokenBucket, Unlimited } from 'sluice'
import { durationUs, exactRate, isUnlimited, quotaOf } from 'sluice/limits'

/**
 * Does `first` mask `second`: can `second` never deny, if everything that is taken from `second` is taken from `first`
 * too? Only a yes is certain.
 *
 * Each limit has a bound on the units that it admits in any interval of length T:
 *
 *     buckets         capacity + rate·T
 *     sliding log     quota · ceil(T / window)
 *     other windows   quota · (ceil(T / window) + 1)
 *
 * A bucket never denies traffic that stays below its own capacity + rate·T for every T. A window never denies traffic
 * that stays below its quota for T = window, or for T = 2 windows if it weighs the previous window. Example: a bucket of
 * 10 at 10/s admits at most 610 units a minute, so it masks a sliding log of 610 a minute and not one of 609.
 *
 * Two windows of equal length and alignment count the same traffic. Windows that begin with a key's first request
 * (`align: 'first'`) begin together only if both limits see the same keys and requests (`forSameRequests`).
 *
 * The units in flight of a concurrency limit came within the last `ttl`, so it never denies traffic that a sliding log of
 * the same numbers allows. It admits any number of requests one after another, so it masks only concurrency limits.
 *
 * A limit of 0 admits nothing, so it masks every limit. Every limit masks an unlimited one, which itself masks no other.
 */
export function masks(first: Limit, second: Limit, forSameRequests = false): boolean {
  if (quotaOf(first) === 0 || isUnlimited(second)) return true
  if (isUnlimited(first)) return false
  if (first.algorithm === 'concurrency') return second.algorithm === 'concurrency' && holdsLonger(first, second)
  const [a, b] = [boundOf(first), boundOf(second)]
  if (a.grid !== '' && a.grid === b.grid && (forSameRequests || !a.startsWithKey)) return a.quota <= b.quota
  if (b.windowUs !== 0n) {
    return mostIn(a, second.algorithm === 'sliding-window' ? 2n * b.windowUs : b.windowUs) <= b.quota
  }
  // A bucket: it must have room for the largest burst, and then for the sustained rate.
  return isNoFaster(a, b) && mostIn(a, a.windowUs === 0n ? 0n : 1n) <= b.quota
}

/** Each unit in flight of the second is one of the first, which has no more room. */
function holdsLonger(first: Concurrency, second: Concurrency): boolean {
  return first.max <= second.max && durationUs('ttl', first.ttl) >= durationUs('ttl', second.ttl)
}

/** What bounds the units that a limit admits. */
interface Bound {
  /** The capacity or quota. */
  readonly quota: bigint
  /** The sustained rate: so many units every `perUs` microseconds. */
  readonly units: bigint
  readonly perUs: bigint
  /** Is the rate counted as written? Otherwise it is rounded down, by less than one millionth. */
  readonly isExact: boolean
  /** 0 for a bucket. */
  readonly windowUs: bigint
  /** How many windows an interval may touch in addition to those that fit into it. */
  readonly extraWindows: bigint
  /** Equal for windows that begin and end together; empty for buckets. */
  readonly grid: string
  readonly startsWithKey: boolean
}

const bounds = new WeakMap<Limit, Bound>()

function boundOf(limit: Exclude<Limit, Unlimited>): Bound {
  let bound = bounds.get(limit)
  if (bound === undefined) {
    bound = 'capacity' in limit ? bucketBound(limit) : windowBound('max' in limit ? logOf(limit) : limit)
    bounds.set(limit, bound)
  }
  return bound
}

/** A bucket counts its rate as written if capacity · period stays within this, the period in lowest terms. */
const LARGEST_EXACT = 2n ** 50n

function bucketBound(limit: TokenBucket | LeakyBucket): Bound {
  const quota = BigInt(limit.capacity)
  const { units, perUs } = 'refill' in limit ? exactRate('refill', limit.refill) : exactRate('drain', limit.drain)
  const isExact = quota * perUs <= LARGEST_EXACT
  return { quota, units, perUs, isExact, windowUs: 0n, extraWindows: 0n, grid: '', startsWithKey: false }
}

function windowBound(limit: Limit & { readonly quota: number; readonly window: string }): Bound {
  const quota = BigInt(limit.quota)
  const windowUs = BigInt(durationUs('window', limit.window))
  return {
    quota,
    units: quota,
    perUs: windowUs,
    isExact: true,
    windowUs,
    extraWindows: limit.algorithm === 'sliding-log' ? 0n : 1n,
    grid: JSON.stringify({ ...limit, quota: 0 }),
    startsWithKey: 'align' in limit,
  }
}

function logOf({ max, ttl }: Concurrency): SlidingLog {
  return { algorithm: 'sliding-log', quota: max, window: ttl }
}

/** Is the sustained rate of `a` at most that of bucket `b`? */
function isNoFaster(a: Bound, b: Bound): boolean {
  const [fast, slow] = [a.units * b.perUs, b.units * a.perUs]
  if (b.isExact) return fast <= slow
  // Buckets of equal numbers round their rates alike. Otherwise allow for the rate of `b` to be a millionth slower.
  const areAlike = a.windowUs === 0n && a.quota === b.quota && fast === slow
  return areAlike || fast * 1_000_000n <= slow * 999_999n
}

/** The most units that a limit admits in an interval of so many microseconds. */
function mostIn({ quota, units, perUs, windowUs, extraWindows }: Bound, us: bigint): bigint {
  if (windowUs === 0n) return quota + ceilDivided(units * us, perUs)
  return quota * (ceilDivided(us, windowUs) + extraWindows)
}

function ceilDivided(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b
}
