/**
 * Limits as data: plain frozen objects that can be logged, compared, written to a file and read back. The file with an
 * algorithm's name says how it counts.
 */
import type { Duration } from './duration.js'
import type { Rate } from './rate.js'

/** Bursts to `capacity`, then `refill` sustained. */
export interface TokenBucket {
  readonly algorithm: 'token-bucket'
  readonly capacity: number
  readonly refill: Rate
}

/** A queue of `capacity` that leaves at exactly `drain`. */
export interface LeakyBucket {
  readonly algorithm: 'leaky-bucket'
  readonly capacity: number
  readonly drain: Rate
}

/** Where a window begins: on multiples of its length since the epoch, or at a key's first admitted request. */
export type Alignment = 'epoch' | 'first'

/** At most `quota` in each window. */
export interface FixedWindow {
  readonly algorithm: 'fixed-window'
  readonly quota: number
  readonly window: Duration
  readonly align?: 'first'
}

/** At most `quota` by a weighted count of the last `window`, kept in `slices` + 1 counts. */
export interface SlidingWindow {
  readonly algorithm: 'sliding-window'
  readonly quota: number
  readonly window: Duration
  readonly slices?: number
  readonly align?: 'first'
}

/** At most `quota` in any interval of length `window`, exactly. */
export interface SlidingLog {
  readonly algorithm: 'sliding-log'
  readonly quota: number
  readonly window: Duration
}

/** At most `max` in flight; a unit that is never released counts for `ttl`. */
export interface Concurrency {
  readonly algorithm: 'concurrency'
  readonly max: number
  readonly ttl: Duration
}

/** Any number of units, at any rate. */
export interface Unlimited {
  readonly algorithm: 'unlimited'
}

/** An algorithm with its numbers. */
export type Limit = TokenBucket | LeakyBucket | FixedWindow | SlidingWindow | SlidingLog | Concurrency | Unlimited

/** The name of an algorithm, as it is written in a limit's JSON. */
export type Algorithm = Limit['algorithm']

/** How many units a limit gives: a capacity, a window's quota, how many may be in flight, or `Infinity`. */
export function quotaOf(limit: Limit): number {
  if ('capacity' in limit) return limit.capacity
  if ('quota' in limit) return limit.quota
  return 'max' in limit ? limit.max : Infinity
}
