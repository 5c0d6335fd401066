import { createLimiter, fixedWindow, memoryStore, StoreFullError, slidingLog, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

const START = 1_745_000_000_000

function fullStore(onFull: 'share' | 'deny', maxKeys = 100) {
  const clock = new ManualClock(START)
  const store = memoryStore({ clock, maxKeys, onFull })
  const limiter = createLimiter({ name: 'api', limit: tokenBucket({ capacity: 5, refill: '1/s' }), store })
  for (let i = 0; i < maxKeys; i++) limiter.charge(`old:${i}`, { cost: 5 })
  return { clock, store, limiter }
}

describe('a memory store that is full', () => {
  it('lets new keys share a limited number of states, and counts how often', () => {
    const { store, limiter } = fullStore('share')
    let admitted = 0
    for (let i = 0; i < 100_000; i++) if (limiter.tryAcquire(`new:${i}`).allowed) admitted++
    expect(admitted).toBe(1_024 * 5)
    expect(store.size).toBe(100)
    expect(store.stats()).toMatchObject({ keys: 100, maxKeys: 100, shared: 100_000, refused: 0 })
  })

  it("denies new keys with onFull: 'deny', says when to try again, and counts how often", () => {
    const { store, limiter } = fullStore('deny')
    const decision = limiter.tryAcquire('new')
    expect(decision).toMatchObject({ allowed: false, quota: 5, remaining: 0, retryAfterMs: 1000 })
    expect(limiter.peek('new').allowed).toBe(false)
    expect(limiter.charge('new').allowed).toBe(false)
    expect(limiter.refund('new').allowed).toBe(false)
    // The request and the charge. A peek and a refund deny no request.
    expect(store.stats()).toMatchObject({ shared: 0, refused: 2 })
    expect(limiter.tryAcquire('old:7').retryAfterMs).toBe(1000)
  })

  it('makes room as soon as keys are whole again', () => {
    const { clock, limiter, store } = fullStore('deny')
    clock.advance(5_000)
    for (let i = 0; i < 100; i++) expect(limiter.tryAcquire(`new:${i}`).allowed).toBe(true)
    expect(store.size).toBe(100)
    expect(store.stats().dropped).toBe(100)
  })

  it('continues from a copy of the shared state when a key gets room, so that sharing is no gain', () => {
    const { clock, limiter } = fullStore('share')
    for (let i = 0; i < 5; i++) expect(limiter.tryAcquire('sharer').allowed).toBe(true)
    expect(limiter.tryAcquire('sharer').allowed).toBe(false)
    clock.advance(1)
    for (let i = 0; i < 100; i++) limiter.reset(`old:${i}`)
    expect(limiter.tryAcquire('sharer')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 999 })
    clock.advance(999)
    expect(limiter.tryAcquire('sharer').allowed).toBe(true)
    expect(limiter.tryAcquire('sharer').allowed).toBe(false)
  })

  it('serves the keys it knows, each from its own state', () => {
    const { clock, limiter } = fullStore('share')
    for (let i = 0; i < 50_000; i++) limiter.tryAcquire(`new:${i}`)
    clock.advance(2_000)
    for (let i = 0; i < 100; i++) expect(limiter.peek(`old:${i}`).remaining).toBe(2)
  })

  it('throws if there is no room for a block', () => {
    const { limiter } = fullStore('share')
    expect(() => limiter.block('new', { duration: '1m' })).toThrow(StoreFullError)
    expect(() => limiter.block('new', { duration: '1m' })).toThrow(/100 keys \(maxKeys\)/)
  })

  it('bounds the timestamps of sliding logs, and denies a request whose units it cannot record', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxLogTimestamps: 1_000 })
    const limiter = createLimiter({ name: 'log', limit: slidingLog({ quota: 300, window: '1m' }), store })
    let admitted = 0
    for (let i = 0; i < 10_000; i++) if (limiter.tryAcquire(`key:${i % 10}`).allowed) admitted++
    expect(admitted).toBeGreaterThan(500)
    expect(store.stats().bytes).toBeLessThan(1_000 * 8 + 4_000)
    expect(store.stats().refused).toBe(10_000 - admitted)
    clock.advance(60_000)
    expect(limiter.tryAcquire('key:0').allowed).toBe(true)
  })

  it('counts the keys of all its limiters together', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 10, onFull: 'deny' })
    const one = createLimiter({ name: 'one', limit: fixedWindow({ quota: 1, window: '1m' }), store })
    const two = createLimiter({ name: 'two', limit: tokenBucket({ capacity: 1, refill: '1/m' }), store })
    for (let i = 0; i < 5; i++)
      expect([one.tryAcquire(`${i}`).allowed, two.tryAcquire(`${i}`).allowed]).toEqual([true, true])
    expect(one.tryAcquire('more')).toMatchObject({ allowed: false, retryAfterMs: 1000 })
    expect(store.size).toBe(10)
  })

  it('denies a request with several demands that needs more keys than there is room for', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 3, onFull: 'deny' })
    const limit = tokenBucket({ capacity: 1, refill: '1/m' })
    const demands = ['a', 'b', 'c', 'd'].map((key) => ({ name: 'x', limit, key, cost: 1 }))
    expect(store.decide(demands).allowed).toBe(false)
    expect(store.size).toBe(0)
    expect(store.decide(demands.slice(1)).allowed).toBe(true)
    expect(store.size).toBe(3)
    store.reset('x', 'b')
    const twice = { name: 'y', limit: tokenBucket({ capacity: 2, refill: '1/m' }), key: 'e', cost: 1 }
    expect(store.decide([twice, twice]).allowed).toBe(true)
  })
})
