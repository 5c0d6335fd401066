import { concurrency, leakyBucket, slidingWindow, tokenBucket, unlimited } from 'sluice/limits'
import { expect, test } from 'vitest'
import { blockWords, limitWords } from '../../src/parts/limit-words.js'

test.each([
  [tokenBucket({ capacity: 10_000, refill: '10000/s' }), 'token bucket: 10,000 at once, then 10,000/s'],
  [tokenBucket({ capacity: 5, refill: '10/250ms' }), 'token bucket: 5 at once, then 10/250ms'],
  [leakyBucket({ capacity: 5, drain: '0.5/s' }), 'leaky bucket: 5 wait, 0.5/s leave'],
  [slidingWindow({ quota: 30, window: '1m', slices: 6 }), 'sliding window: 30 in 1m, counted in 6 slices'],
  [concurrency({ max: 12, ttl: '30s' }), 'concurrency: 12 at the same time, each for 30s at most'],
  [unlimited(), 'unlimited'],
])('%j in words', (limit, words) => {
  expect(limitWords(limit)).toBe(words)
})

test('a block in words, the same each time or growing', () => {
  expect(blockWords('15m')).toBe('blocks for 15m')
  expect(blockWords({ first: '1m', factor: 3, most: '1h' })).toBe(
    'blocks for 1m, then 3 times longer each time, up to 1h',
  )
})
