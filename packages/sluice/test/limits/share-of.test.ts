import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  concurrency,
  exactRate,
  fixedWindow,
  leakyBucket,
  shareOf,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../src/limits/index.js'

test('a share of a limit has its part of the quota and of the rate', () => {
  expect(shareOf(tokenBucket({ capacity: 20, refill: '5/s' }), 4)).toEqual(tokenBucket({ capacity: 5, refill: '5/4s' }))
  expect(shareOf(leakyBucket({ capacity: 9, drain: '10/250ms' }), 2)).toEqual(
    leakyBucket({ capacity: 4, drain: '10/500ms' }),
  )
  expect(shareOf(fixedWindow({ quota: 10, window: '1m', align: 'first' }), 3)).toEqual(
    fixedWindow({ quota: 3, window: '1m', align: 'first' }),
  )
  expect(shareOf(slidingWindow({ quota: 10, window: '1m', slices: 5 }), 3)).toEqual(
    slidingWindow({ quota: 3, window: '1m', slices: 5 }),
  )
  expect(shareOf(concurrency({ max: 20, ttl: '1m' }), 3)).toEqual(concurrency({ max: 6, ttl: '1m' }))
  expect(shareOf(slidingLog({ quota: 10, window: '1m' }), 10)).toEqual(slidingLog({ quota: 1, window: '1m' }))
})

test('the share of one instance is the limit itself', () => {
  const limit = slidingLog({ quota: 10, window: '1m' })
  expect(shareOf(limit, 1)).toBe(limit)
})

test('a share of less than one unit is undefined', () => {
  expect(shareOf(fixedWindow({ quota: 3, window: '1s' }), 3)).toMatchObject({ quota: 1 })
  expect(shareOf(fixedWindow({ quota: 3, window: '1s' }), 4)).toBeUndefined()
  expect(shareOf(tokenBucket({ capacity: 1, refill: '0.95/365d' }), 100)).toBeUndefined()
  expect(shareOf(concurrency({ max: 999_999 }), 1_000_000)).toBeUndefined()
})

test('a rate is divided in its count if its period would be too long', () => {
  expect(shareOf(tokenBucket({ capacity: 10, refill: '1/1000d' }), 10)).toMatchObject({ refill: '1/10000d' })
  expect(shareOf(tokenBucket({ capacity: 50_000, refill: '100/d' }), 50_000)).toMatchObject({ refill: '73/36500d' })
  expect(shareOf(leakyBucket({ capacity: 200, drain: '15/365d' }), 200)).toMatchObject({ drain: '7.5/36500d' })
  // A rate is rounded down by less than a billionth of a unit in 36500 days.
  expect(shareOf(tokenBucket({ capacity: 300, refill: '100/365d' }), 300)).toMatchObject({
    refill: '33.333333333/36500d',
  })
  expect(shareOf(tokenBucket({ capacity: 9, refill: '5/999999999ms' }), 7)).toMatchObject({
    refill: '2252.571430824/36500d',
  })
  expect(shareOf(tokenBucket({ capacity: 9, refill: '900000000000000/999999999ms' }), 7)).toMatchObject({
    refill: '11108571439680.000011108/d',
  })
})

test('the shares of all instances together refill no faster than the limit', () => {
  const rate = fc.tuple(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom('ms', 's', '7s', '250ms', 'm', 'h', 'd'))
  fc.assert(
    fc.property(rate, fc.integer({ min: 1, max: 10_000 }), ([count, period], instances) => {
      const limit = tokenBucket({ capacity: 10_000, refill: `${count}/${period}` })
      const share = shareOf(limit, instances) as typeof limit
      const [whole, part] = [exactRate('refill', limit.refill), exactRate('refill', share.refill)]
      expect(part.units * BigInt(instances) * whole.perUs).toBe(whole.units * part.perUs)
    }),
  )
})
