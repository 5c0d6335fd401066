import { createLimiter, memoryStore, StoreFullError, slidingLog, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

const START = 1_745_000_100_000
const FIVE = slidingLog({ quota: 5, window: '15m' })

describe('peek', () => {
  it('denies a sixth guess at a password, and says when it may be made', () => {
    const clock = new ManualClock(START)
    const guesses = createLimiter({ limit: FIVE, clock })
    for (let left = 5; left > 0; left--) {
      expect(guesses.peek('account')).toMatchObject({ allowed: true, remaining: left, retryAfterMs: 0 })
      guesses.charge('account')
      clock.advance(60_000)
    }
    // The first guess leaves the window 15 minutes after it was made, 5 minutes ago.
    expect(guesses.peek('account')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 600_000 })
    clock.advance(599_999)
    expect(guesses.peek('account')).toMatchObject({ allowed: false, retryAfterMs: 1 })
    clock.advance(1)
    expect(guesses.peek('account')).toMatchObject({ allowed: true, remaining: 1 })
  })

  it('blocks no key, and tells the wait for the units alone', () => {
    const clock = new ManualClock(START)
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 2, refill: '1/s' }), blockFor: '15m', clock })
    limiter.tryAcquire('a', { cost: 2 })
    for (let i = 0; i < 3; i++)
      expect(limiter.peek('a')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 1_000 })
    clock.advance(1_000)
    expect(limiter.tryAcquire('a').allowed).toBe(true)
    expect(limiter.tryAcquire('a').retryAfterMs).toBe(900_000)
    expect(limiter.peek('a').retryAfterMs).toBe(900_000)
  })

  it('is what charge and refund return', () => {
    const limiter = createLimiter({ limit: FIVE, clock: new ManualClock(START) })
    expect(limiter.charge('a', { cost: 4 })).toMatchObject({ allowed: true, remaining: 1 })
    expect(limiter.charge('a')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 900_000 })
    expect(limiter.refund('a')).toMatchObject({ allowed: true, remaining: 1, retryAfterMs: 0 })
  })
})

describe('set', () => {
  it('serves callers that wait for units', async () => {
    const limiter = createLimiter({ limit: FIVE, clock: new ManualClock(START) })
    limiter.charge('a', { cost: 5 })
    const waiting = limiter.acquire('a', { cost: 2 })
    expect(limiter.set('a', { remaining: 3 })).toMatchObject({ allowed: true, remaining: 3 })
    expect((await waiting).remaining).toBe(1)
  })

  it('throws if a full store has no room for the key, and then changes nothing', () => {
    const store = memoryStore({ maxKeys: 2, clock: new ManualClock(START) })
    const limiter = createLimiter({ name: 'a', limit: tokenBucket({ capacity: 5, refill: '1/h' }), store })
    for (const key of ['one', 'two', 'three']) limiter.charge(key, { cost: 2 })
    expect(() => limiter.set('three', { remaining: 0 })).toThrow(StoreFullError)
    expect(limiter.peek('three').remaining).toBe(3)
    expect(limiter.set('two', { remaining: 0 })).toMatchObject({ allowed: false, remaining: 0 })
    expect(limiter.set('two', { remaining: 5 })).toMatchObject({ allowed: true, remaining: 5 })
    expect(limiter.peek('one').remaining).toBe(3)
  })

  it('of a log throws if there is no memory for its timestamps, and then changes nothing', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ maxKeys: 100, maxLogTimestamps: 20, clock })
    const limiter = createLimiter({ name: 'a', limit: slidingLog({ quota: 100, window: '1h' }), store })
    limiter.charge('one', { cost: 5 })
    const before = limiter.peek('one')
    expect(() => limiter.set('one', { remaining: 50 })).toThrow('the store is full')
    expect(limiter.peek('one')).toEqual(before)
    expect(limiter.set('one', { remaining: 90 }).remaining).toBe(90)
    expect(limiter.set('one', { remaining: 98 }).remaining).toBe(98)
    // What the longer logs took is free again.
    expect(limiter.set('two', { remaining: 92 }).remaining).toBe(92)
  })
})
