import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  concurrency,
  fixedWindow,
  leakyBucket,
  parseRate,
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

test('a share is never less than one unit, and of one instance it is the limit itself', () => {
  expect(shareOf(fixedWindow({ quota: 3, window: '1s' }), 100)).toMatchObject({ quota: 1 })
  expect(shareOf(tokenBucket({ capacity: 1, refill: '0.08/s' }), 1000)).toMatchObject({
    capacity: 1,
    refill: '0.08/1000s',
  })
  const limit = slidingLog({ quota: 10, window: '1m' })
  expect(shareOf(limit, 1)).toBe(limit)
})

test('a share of a very slow rate is no slower than a bucket can count', () => {
  const limit = tokenBucket({ capacity: 1, refill: '1/1000d' })
  expect(shareOf(limit, 1_000_000)).toMatchObject({ capacity: 1, refill: '1/13000d' })
})

test('the shares of all instances together refill no faster than the limit', () => {
  const rate = fc.tuple(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom('ms', 's', '7s', '250ms', 'm', 'h', 'd'))
  fc.assert(
    fc.property(rate, fc.integer({ min: 1, max: 10_000 }), ([count, period], instances) => {
      const limit = tokenBucket({ capacity: 1_000, refill: `${count}/${period}` })
      const share = shareOf(limit, instances) as typeof limit
      const [whole, part] = [parseRate('refill', limit.refill), parseRate('refill', share.refill)]
      expect(part.units * BigInt(instances) * whole.perUs).toBe(whole.units * part.perUs)
    }),
  )
})
