import { expect, it } from 'vitest'
import {
  concurrency,
  fixedWindow,
  leakyBucket,
  leaseUs,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../src/limits/index.js'

const longestUs = 250_000

it('a lease is for a quarter of the time that a bucket takes to fill, or of a window or slice, and no longer than asked', () => {
  expect(leaseUs(tokenBucket({ capacity: 100, refill: '1000/s' }), longestUs)).toBe(25_000)
  expect(leaseUs(tokenBucket({ capacity: 100, refill: '1/s' }), longestUs)).toBe(250_000)
  expect(leaseUs(tokenBucket({ capacity: 7, refill: '3/s' }), 10_000_000)).toBe(583_333)
  expect(leaseUs(fixedWindow({ quota: 5, window: '400ms' }), longestUs)).toBe(100_000)
  expect(leaseUs(slidingWindow({ quota: 5, window: '1s', slices: 10 }), longestUs)).toBe(25_000)
})

it('a limit that cannot be leased has a lease of 0: logs, queues, concurrency, windows of their own, and very short ones', () => {
  for (const limit of [
    leakyBucket({ capacity: 100, drain: '10/s' }),
    slidingLog({ quota: 5, window: '1m' }),
    concurrency({ max: 5, ttl: '1m' }),
    fixedWindow({ quota: 5, window: '1m', align: 'first' }),
    slidingWindow({ quota: 5, window: '1m', align: 'first' }),
    slidingWindow({ quota: 5, window: '1s', slices: 100 }),
    tokenBucket({ capacity: 19, refill: '1000/s' }),
  ]) {
    expect(leaseUs(limit, longestUs), limit.algorithm).toBe(0)
  }
  expect(leaseUs(tokenBucket({ capacity: 20, refill: '1000/s' }), longestUs)).toBe(5_000)
})
