import { type Limit, tokenBucket } from 'sluice'
import { evaluate } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import { sleepMs, vainMs } from '../../../src/limiter/waiting/sleep.js'

const bucket = tokenBucket({ capacity: 1, refill: '1/m' })
const { decision } = evaluate(bucket, undefined, 0, 1)
const denial = (retryAfterMs: number) => ({ ...decision, allowed: false, retryAfterMs })
// What matters here of a limit whose units are given back when work is over.
const concurrency = { algorithm: 'concurrency', max: 1, ttl: '1m' } as unknown as Limit

describe('whoever was denied sleeps', () => {
  it('until the units are there', () => {
    expect(sleepMs(bucket, denial(700), 1, false)).toBe(700)
    expect(sleepMs(bucket, denial(700), 9, true)).toBe(700)
  })

  it('at least a millisecond', () => {
    expect(sleepMs(bucket, denial(0), 1, false)).toBe(1)
  })

  it('longer and longer where others give units back without a word', () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 2_000].map((n) => sleepMs(concurrency, denial(60_000), n, true, () => 1))
    expect(longest).toEqual([10, 20, 40, 80, 160, 250, 250, 250])
    expect(sleepMs(concurrency, denial(60_000), 1, true, () => 0)).toBe(5)
    expect(sleepMs(concurrency, denial(7), 9, true, () => 1)).toBe(7)
  })

  it('until the end where it is told of what others give back', () => {
    expect(sleepMs(concurrency, denial(60_000), 1, false)).toBe(60_000)
  })
})

describe('a wait is in vain', () => {
  it('that is shorter than the time in which units come', () => {
    expect(vainMs(bucket, denial(700))).toBe(700)
    expect(vainMs(bucket, denial(Infinity))).toBe(Infinity)
  })

  it('only if it never ends, where units may come at any time', () => {
    expect(vainMs(concurrency, denial(700))).toBe(0)
    expect(vainMs(concurrency, denial(60_000))).toBe(0)
    expect(vainMs(concurrency, denial(Infinity))).toBe(Infinity)
  })

  it('until a block is over, which is longer than any place is held', () => {
    expect(vainMs(concurrency, denial(60_001))).toBe(60_001)
    expect(sleepMs(concurrency, denial(60_001), 1, true)).toBe(60_001)
  })
})
