import { concurrency, createLimiter, createPolicy, memoryStore, slidingLog, tokenBucket, unlimited } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

const START = 1_745_000_000_000
const limit = tokenBucket({ capacity: 5, refill: '1/h' })

describe('unlimited keys in memory', () => {
  it('take no memory: a million of them add no key and no byte', () => {
    const store = memoryStore()
    const limiter = createLimiter({ name: 'all', limit: unlimited(), store })
    limiter.tryAcquire('first')
    const before = store.stats()
    for (let i = 0; i < 1_000_000; i++) limiter.tryAcquire(`user:${i}`)
    limiter.charge('user:1', { cost: 1_000 })
    limiter.refund('user:2')
    expect(store.stats()).toEqual(before)
    expect(store.size).toBe(0)
  })

  it.each(['share', 'deny'] as const)(
    'are allowed by a full store with onFull: %s, which counts no shortage',
    (onFull) => {
      const store = memoryStore({ clock: new ManualClock(START), maxKeys: 100, onFull })
      const limited = createLimiter({ name: 'some', limit, store })
      for (let i = 0; i < 100; i++) limited.charge(`old:${i}`)
      const limiter = createLimiter({ name: 'all', limit: unlimited(), store })
      limiter.tryAcquire('first')
      const before = store.stats()
      for (let i = 0; i < 1_000; i++) {
        expect(limiter.tryAcquire(`new:${i}`, { cost: 1_000_000 })).toMatchObject({
          allowed: true,
          remaining: Infinity,
        })
        expect(limiter.peek(`new:${i}`).allowed).toBe(true)
      }
      expect(store.stats()).toEqual(before)
    },
  )

  it('beside a limited level of the same request leave the room to that level', () => {
    const store = memoryStore({ clock: new ManualClock(START), maxKeys: 1, onFull: 'deny' })
    const levels = [
      { name: 'all', key: 'user', limit: unlimited() },
      { name: 'some', key: 'user', limit },
    ]
    const policy = createPolicy({ name: 'p', levels, store })
    expect(policy.check({ user: 'a' }).allowed).toBe(true)
    expect(store.stats()).toMatchObject({ keys: 1, refused: 0 })
    expect(policy.check({ user: 'b' }).deniedBy).toEqual(['some'])
  })

  it('can be blocked in a store that is nearly full, and need no room when the block is over', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 1, onFull: 'deny' })
    const limiter = createLimiter({ name: 'all', limit: unlimited(), store })
    limiter.block('a', { duration: '1m' })
    expect(limiter.tryAcquire('a')).toMatchObject({
      allowed: false,
      quota: Infinity,
      remaining: 0,
      retryAfterMs: 60_000,
    })
    expect(limiter.tryAcquire('b').allowed).toBe(true)
    clock.advance(60_000)
    expect(limiter.tryAcquire('a')).toMatchObject({ allowed: true, remaining: Infinity })
  })
})

describe('logs of 0 units in memory', () => {
  it.each([slidingLog({ quota: 0, window: '1m' }), concurrency({ max: 0 })])(
    'remember no unit when they are charged, and no unit of a key reaches another: $algorithm',
    (nothing) => {
      const store = memoryStore({ clock: new ManualClock(START) })
      const limiter = createLimiter({ name: 'nothing', limit: nothing, store })
      for (const key of ['a', 'b'])
        expect(limiter.charge(key, { cost: 3 })).toMatchObject({ allowed: false, remaining: 0 })
      expect(store.stats().refused).toBe(0)
      const raised = 'max' in nothing ? concurrency({ max: 2 }) : slidingLog({ quota: 2, window: nothing.window })
      const some = createLimiter({ name: 'nothing', limit: raised, store })
      expect(some.tryAcquire('a', { cost: 2 })).toMatchObject({ allowed: true, remaining: 0 })
      expect(some.tryAcquire('b')).toMatchObject({ allowed: true, remaining: 1 })
    },
  )
})
