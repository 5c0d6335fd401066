import { type Clock, createLimiter, createLimiters, tokenBucket } from 'sluice'
import { describe, expect, it } from 'vitest'

describe('a clock that does not tell the time', () => {
  it.each([null, '5', [5], 5n, new Date(), Number.NaN, -1, Number.POSITIVE_INFINITY])('is an error: %s', (now) => {
    const clock = { now: () => now } as unknown as Clock
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/s' }), clock })
    expect(() => limiter.tryAcquire('key')).toThrow(/clock\.now\(\) must be epoch milliseconds, a number from 0/)
    expect(() => limiter.tryAcquire('key')).toThrow(RangeError)
  })
})

describe('options of a call', () => {
  it('may only be named cost', () => {
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/s' }) })
    const wrong = { cost: 1, costs: 2 }
    expect(() => limiter.tryAcquire('key', wrong)).toThrow(/tryAcquire has no option 'costs'; did you mean cost\?/)
    expect(limiter.peek('key').remaining).toBe(1)
  })

  it('are not a signal, which only acquire takes', () => {
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/s' }) })
    const { signal } = new AbortController()
    const message = 'options must be an object such as { cost: 3 }, got an AbortSignal'
    expect(() => limiter.tryAcquire('key', signal as never)).toThrow(message)
    expect(limiter.peek('key').remaining).toBe(1)
  })
})

describe('createLimiters', () => {
  it('takes limits by name, and not a list', () => {
    const list = [tokenBucket({ capacity: 1, refill: '1/s' })] as unknown as Record<string, never>
    expect(() => createLimiters(list)).toThrow(/limits must be an object of limits by name, got an array/)
  })
})
