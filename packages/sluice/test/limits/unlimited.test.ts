import { type Limit, parseLimit, tokenBucket, unlimited } from 'sluice'
import { ALGORITHMS, arithmeticOf, evaluate, isUnlimited, quotaOf, shareOf } from 'sluice/limits'
import { expect, test } from 'vitest'
import { expectRefusal } from './refusals.js'

const EVERYTHING = {
  allowed: true,
  quota: Infinity,
  remaining: Infinity,
  retryAfterMs: 0,
  nextUnitAfterMs: 0,
  resetAfterMs: 0,
  delayMs: 0,
}

test('no limit is plain frozen data, and the same after a trip through JSON', () => {
  expect(unlimited()).toEqual({ algorithm: 'unlimited' })
  expect(Object.isFrozen(unlimited())).toBe(true)
  expect(parseLimit(JSON.parse(JSON.stringify(unlimited())))).toBe(unlimited())
  expect(ALGORITHMS).toContain('unlimited')
})

test('no limit takes no number, and a misspelt name is answered with the right one', () => {
  expectRefusal(
    () => parseLimit({ algorithm: 'unlimited', capacity: 5 }),
    "unlimited has no option 'capacity'; it takes none",
  )
  expectRefusal(() => parseLimit({ algorithm: 'unlimitted' }), "did you mean 'unlimited'?")
})

test('an unlimited key is allowed every cost, and its state stays empty', () => {
  let state: readonly number[] | undefined
  for (const cost of [0, 1, 1_000, Number.MAX_SAFE_INTEGER]) {
    const answer = evaluate(unlimited(), state, 0, cost)
    expect(answer.decision).toEqual(EVERYTHING)
    state = answer.state
  }
  expect(state).toEqual([])
  expect(arithmeticOf(unlimited()).words).toBe(0)
})

test('its quota is infinite, and its share is the limit itself', () => {
  expect(quotaOf(unlimited())).toBe(Infinity)
  for (const instances of [1, 2, 1_000_000]) expect(shareOf(unlimited(), instances)).toBe(unlimited())
  const limits: readonly Limit[] = [unlimited(), tokenBucket({ capacity: 1, refill: '1/s' })]
  expect(limits.map(isUnlimited)).toEqual([true, false])
})
