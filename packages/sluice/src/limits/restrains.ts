import { arithmeticOf } from './arithmetic-of.js'
import { durationUs } from './duration.js'
import type { Concurrency, Limit, SlidingLog } from './limit.js'

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
 * T = window, or two windows where it weighs the one before. Windows that begin and end together count the same; those
 * that begin with a key's first request do only if both are for the same key and the same requests.
 *
 * What is in flight at a time came within the last `ttl`, so that a concurrency limit never denies what a sliding log of
 * those numbers would not. It lets any number through one after the other, and so restrains only another of its kind.
 */
export function restrains(first: Limit, second: Limit, forTheSame = false): boolean {
  if (first.algorithm === 'concurrency') return second.algorithm === 'concurrency' && holdsLonger(first, second)
  const [a, b] = [profileOf(first), profileOf(second)]
  if (a.grid !== '' && a.grid === b.grid && (forTheSame || !a.startsWithKey)) return a.quota <= b.quota
  if (b.windowUs === 0n) {
    // A bucket. What another limit lets through at once, and then for as long as it takes.
    const isSlower = a.units * b.perUs <= b.units * a.perUs
    return isSlower && mostIn(a, a.windowUs === 0n ? 0n : 1n) <= b.quota
  }
  return mostIn(a, second.algorithm === 'sliding-window' ? 2n * b.windowUs : b.windowUs) <= b.quota
}

/** Whatever holds a place of the second holds one of the first, which has no more. */
function holdsLonger(first: Concurrency, second: Concurrency): boolean {
  return first.max <= second.max && durationUs('ttl', first.ttl) >= durationUs('ttl', second.ttl)
}

/** A limit as far as that matters here. */
interface Profile {
  /** A capacity or a quota. */
  readonly quota: bigint
  /** In the long run, so many units every so many microseconds. */
  readonly units: bigint
  readonly perUs: bigint
  /** 0 for a bucket. */
  readonly windowUs: bigint
  /** How many windows, beyond those that fit, an interval may touch. */
  readonly extraWindows: bigint
  /** Equal for windows that begin and end together; empty for buckets. */
  readonly grid: string
  readonly startsWithKey: boolean
}

const profiles = new WeakMap<Limit, Profile>()

function profileOf(limit: Limit): Profile {
  let profile = profiles.get(limit)
  if (profile === undefined) {
    profile = 'capacity' in limit ? bucketProfile(limit) : windowProfile('max' in limit ? logOf(limit) : limit)
    profiles.set(limit, profile)
  }
  return profile
}

/** The rate is the one that is counted with, which may be a hair below the one that was written. */
function bucketProfile(limit: Limit): Profile {
  const [partsPerUnit, partsPerUs, capacity] = arithmeticOf(limit).remote.parameters.map(BigInt)
  const rate = { units: partsPerUs, perUs: partsPerUnit }
  return { ...rate, quota: capacity, windowUs: 0n, extraWindows: 0n, grid: '', startsWithKey: false }
}

function windowProfile(limit: Limit & { readonly quota: number; readonly window: string }): Profile {
  const quota = BigInt(limit.quota)
  const windowUs = BigInt(durationUs('window', limit.window))
  return {
    quota,
    units: quota,
    perUs: windowUs,
    windowUs,
    extraWindows: limit.algorithm === 'sliding-log' ? 0n : 1n,
    grid: JSON.stringify({ ...limit, quota: 0 }),
    startsWithKey: 'align' in limit,
  }
}

function logOf({ max, ttl }: Concurrency): SlidingLog {
  return { algorithm: 'sliding-log', quota: max, window: ttl }
}

function mostIn({ quota, units, perUs, windowUs, extraWindows }: Profile, us: bigint): bigint {
  if (windowUs === 0n) return quota + ceilDivided(units * us, perUs)
  return quota * (ceilDivided(us, windowUs) + extraWindows)
}

function ceilDivided(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b
}
