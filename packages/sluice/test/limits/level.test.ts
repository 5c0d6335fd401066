import fc from 'fast-check'
import {
  arithmeticOf,
  fixedWindow,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
  unlimited,
} from 'sluice/limits'
import { expect, it } from 'vitest'

it('a bucket half-way to its first token has half a token left', () => {
  const bucket = arithmeticOf(tokenBucket({ capacity: 20, refill: '10/s' }))
  const words = new Float64Array(bucket.words)
  bucket.start(words, 0, 0)
  bucket.take(words, 0, 0, 20)
  expect(bucket.level(words, 0, 50_000)).toBe(0.5)
})

it('a debt leaves nothing', () => {
  const bucket = arithmeticOf(tokenBucket({ capacity: 5, refill: '1/s' }))
  const words = new Float64Array(bucket.words)
  bucket.start(words, 0, 0)
  bucket.take(words, 0, 0, 9)
  expect(bucket.level(words, 0, 0)).toBe(0)
})

it('without a limit there is no end to what is left', () => {
  expect(arithmeticOf(unlimited()).level(new Float64Array(0), 0, 0)).toBe(Infinity)
})

const limits = [
  tokenBucket({ capacity: 7, refill: '3/s' }),
  leakyBucket({ capacity: 7, drain: '3/s' }),
  fixedWindow({ quota: 7, window: '2s' }),
  slidingWindow({ quota: 7, window: '2s', slices: 3 }),
  slidingLog({ quota: 7, window: '2s' }),
]

it.each(limits)('the whole part of what is left of a $algorithm is what a decision says', (limit) => {
  const arithmetic = arithmeticOf(limit)
  const step = fc.tuple(fc.integer({ min: -200_000, max: 900_000 }), fc.integer({ min: 0, max: 3 }))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      // Room for every unit that a log of this quota remembers.
      const words = new Float64Array(arithmetic.words + 14)
      let nowUs = 10_000_000
      arithmetic.start(words, 0, nowUs)
      for (const [afterUs, cost] of steps) {
        nowUs += afterUs
        const { remaining } = arithmetic.tryTake(words, 0, nowUs, cost)
        expect(Math.floor(arithmetic.level(words, 0, nowUs))).toBe(remaining)
      }
    }),
  )
})
