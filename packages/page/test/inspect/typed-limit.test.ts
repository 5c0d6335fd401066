import { parseLimit, slidingWindow, tokenBucket, unlimited } from 'sluice/limits'
import { expect, test } from 'vitest'
import { draftOf, draftWords, limitOfDraft, withAlgorithm } from '../../src/inspect/typed-limit.js'
import { ALGORITHMS } from '../../src/parts/algorithm-knobs.js'

test.each([
  tokenBucket({ capacity: 20, refill: '5/s' }),
  slidingWindow({ quota: 30, window: '1m', slices: 6 }),
  slidingWindow({ quota: 30, window: '1m', align: 'first' }),
  unlimited(),
])('the draft of a limit is the limit: $algorithm', (limit) => {
  expect(limitOfDraft(draftOf(limit))).toEqual({ ...limit })
})

test('every algorithm has a draft that the library takes', () => {
  for (const algorithm of ALGORITHMS) {
    const draft = withAlgorithm(draftOf(tokenBucket({ capacity: 20, refill: '5/s' })), algorithm)
    expect(parseLimit(limitOfDraft(draft))).toMatchObject({ algorithm })
  }
})

test('a number that both algorithms have stays', () => {
  const draft = withAlgorithm(draftOf(tokenBucket({ capacity: 20, refill: '5/s' })), 'leaky-bucket')
  expect(draft.numbers).toEqual({ capacity: '20', drain: '10/s' })
})

test('what is no number is sent as it is: the service says what is wrong', () => {
  expect(limitOfDraft({ algorithm: 'fixed-window', numbers: { quota: '7x', window: ' 1m ' } })).toEqual({
    algorithm: 'fixed-window',
    quota: '7x',
    window: '1m',
  })
})

test('a draft is said in words, right or wrong', () => {
  expect(draftWords({ algorithm: 'token-bucket', numbers: { capacity: 'many', refill: '5/s' } })).toBe(
    'token bucket with capacity many, refill 5/s',
  )
})
