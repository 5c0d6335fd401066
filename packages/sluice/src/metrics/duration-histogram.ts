import { invalidValue } from '../errors.js'

/** Four buckets for each doubling: a bucket's upper bound is at most 19 % above its lower one. */
const PER_DOUBLING = 4
const LEAST_MS = 0.001
const DOUBLINGS = 24

/**
 * The upper bounds of the buckets in milliseconds: from 0.001 (a microsecond) to 16,777 (about 17 seconds). A duration that
 * equals a bound belongs to its bucket. One bucket more has all longer durations.
 */
export const DURATION_BOUNDS_MS: readonly number[] = Object.freeze(
  Array.from({ length: DOUBLINGS * PER_DOUBLING + 1 }, (_, i) =>
    // Whole doublings are exact: 0.001, 0.002, 0.004.
    i % PER_DOUBLING === 0 ? 2 ** (i / PER_DOUBLING) / 1_000 : LEAST_MS * 2 ** (i / PER_DOUBLING),
  ),
)

/** Durations as plain data. Two of them can be added, or subtracted, bucket by bucket. */
export interface DurationReading {
  readonly count: number
  readonly sumMs: number
  /** How many durations each bucket has: one for each of `DURATION_BOUNDS_MS`, and one for longer durations. */
  readonly buckets: readonly number[]
}

/** Counts durations in buckets. Its size is fixed, about 800 bytes, and `record` allocates nothing. */
export class DurationHistogram {
  readonly #buckets = new Float64Array(DURATION_BOUNDS_MS.length + 1)
  /** Count and sum: a field of an object would be a new number on the heap for each duration. */
  readonly #totals = new Float64Array(2)

  record(ms: number): void {
    this.#totals[0]++
    this.#totals[1] += ms
    this.#buckets[bucketOf(ms)]++
  }

  read(): DurationReading {
    const [count, sumMs] = this.#totals
    return { count, sumMs, buckets: [...this.#buckets] }
  }
}

function bucketOf(ms: number): number {
  if (!(ms > LEAST_MS)) return 0
  const last = DURATION_BOUNDS_MS.length
  if (ms > DURATION_BOUNDS_MS[last - 1]) return last
  // The logarithm is rounded, so it may miss by one beside a bound.
  let bucket = Math.ceil(Math.log2(ms / LEAST_MS) * PER_DOUBLING)
  if (bucket > 0 && ms <= DURATION_BOUNDS_MS[bucket - 1]) bucket--
  else if (ms > DURATION_BOUNDS_MS[bucket]) bucket++
  return bucket
}

/**
 * The duration that a share of the durations does not exceed, as the upper bound of its bucket: at most 19 % too long.
 * `share` is from 0 to 1, such as 0.99. Returns 0 without durations, and `Infinity` if it is longer than the last bound.
 */
export function durationQuantile({ count, buckets }: DurationReading, share: number): number {
  if (!(share >= 0 && share <= 1)) throw invalidValue('share', 'from 0 to 1, such as 0.99', share)
  if (count === 0) return 0
  let left = Math.max(1, Math.ceil(share * count))
  for (let i = 0; i < DURATION_BOUNDS_MS.length; i++) {
    left -= buckets[i]
    if (left <= 0) return DURATION_BOUNDS_MS[i]
  }
  return Infinity
}

/** Each doubling of the bounds with how many durations are at most so long. These are the buckets of Prometheus. */
export function cumulativeBuckets({
  buckets,
}: DurationReading): readonly { readonly ms: number; readonly count: number }[] {
  const found: { ms: number; count: number }[] = []
  let count = 0
  for (let i = 0; i < DURATION_BOUNDS_MS.length; i++) {
    count += buckets[i]
    if (i % PER_DOUBLING === 0) found.push({ ms: DURATION_BOUNDS_MS[i], count })
  }
  return found
}
