import type { Duration } from 'sluice'
import {
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../src/limits/index.js'

export const QUOTA = 5

/** A limit of every algorithm and alignment that gives `QUOTA` units in a window, by what to call it. */
export function limitsOver(window: Duration): ReadonlyMap<string, Limit> {
  const quota = QUOTA
  return new Map<string, Limit>([
    [`token bucket over ${window}`, tokenBucket({ capacity: quota, refill: `${quota}/${window}` })],
    [`leaky bucket over ${window}`, leakyBucket({ capacity: quota, drain: `${quota}/${window}` })],
    [`fixed window of ${window}`, fixedWindow({ quota, window })],
    [`fixed window of ${window} from the first`, fixedWindow({ quota, window, align: 'first' })],
    [`sliding window of ${window}`, slidingWindow({ quota, window })],
    [`sliding window of ${window} in ten slices`, slidingWindow({ quota, window, slices: 10 })],
    [`sliding window of ${window} from the first`, slidingWindow({ quota, window, slices: 10, align: 'first' })],
    [`sliding log over ${window}`, slidingLog({ quota, window })],
    [`concurrency for ${window}`, concurrency({ max: quota, ttl: window })],
  ])
}

/** One limit of each algorithm, so slow that no unit comes back during a test. */
export const SLOW_LIMITS: readonly Limit[] = [
  tokenBucket({ capacity: 10, refill: '1/h' }),
  leakyBucket({ capacity: 10, drain: '1/h' }),
  fixedWindow({ quota: 10, window: '365d' }),
  slidingWindow({ quota: 10, window: '365d', slices: 12 }),
  slidingLog({ quota: 10, window: '365d' }),
  concurrency({ max: 10, ttl: '365d' }),
]
