import { type Limit, tokenBucket } from 'sluice'
import { evaluate } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import { waitAfterDenial } from '../../src/waiting/wait-after-denial.js'

const bucket = tokenBucket({ capacity: 1, refill: '1/m' })
const { decision } = evaluate(bucket, undefined, 0, 1)
const denial = (retryAfterMs: number) => ({ ...decision, allowed: false, retryAfterMs })
// Only the fields that matter here.
const concurrency = { algorithm: 'concurrency', max: 1, ttl: '1m' } as unknown as Limit

const askAgainMs = (...asked: Parameters<typeof waitAfterDenial>) => waitAfterDenial(...asked).askAgainMs
const atLeastMs = (limit: Limit, retryAfterMs: number) =>
  waitAfterDenial(limit, denial(retryAfterMs), 1, true).atLeastMs

describe('after a denial the store is asked again', () => {
  it('when the units are there', () => {
    expect(askAgainMs(bucket, denial(700), 1, false)).toBe(700)
    expect(askAgainMs(bucket, denial(700), 9, true)).toBe(700)
  })

  it('after a millisecond at the earliest', () => {
    expect(askAgainMs(bucket, denial(0), 1, false)).toBe(1)
  })

  it('at growing intervals if other processes give places back', () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 2_000].map((n) => askAgainMs(concurrency, denial(60_000), n, true, () => 1))
    expect(longest).toEqual([10, 20, 40, 80, 160, 250, 250, 250])
    expect(askAgainMs(concurrency, denial(60_000), 1, true, () => 0)).toBe(5)
    expect(askAgainMs(concurrency, denial(7), 9, true, () => 1)).toBe(7)
  })

  it('only when a place is free at the latest, if this process alone gives places back', () => {
    expect(askAgainMs(concurrency, denial(60_000), 1, false)).toBe(60_000)
  })
})

describe('a waiter that is denied waits at least', () => {
  it('until its units come', () => {
    expect(atLeastMs(bucket, 700)).toBe(700)
    expect(atLeastMs(bucket, Infinity)).toBe(Infinity)
  })

  it('0 ms for a place, which may come at any time, unless it never comes', () => {
    expect(atLeastMs(concurrency, 700)).toBe(0)
    expect(atLeastMs(concurrency, 60_000)).toBe(0)
    expect(atLeastMs(concurrency, Infinity)).toBe(Infinity)
  })

  it('until a block ends, which is longer than any place is held', () => {
    expect(atLeastMs(concurrency, 60_001)).toBe(60_001)
    expect(askAgainMs(concurrency, denial(60_001), 1, true)).toBe(60_001)
  })
})
