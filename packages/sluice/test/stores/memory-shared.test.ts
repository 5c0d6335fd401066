import { createLimiter, createLimiters, memoryStore, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

const START = 1_745_000_000_000

describe('a request with several demands in a full store', () => {
  it('takes from all or none, also if the store drops a key of the request itself to make room', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 2, onFull: 'deny' })
    const quick = { name: 'x', limit: tokenBucket({ capacity: 2, refill: '1/s' }), cost: 1 }
    store.decide([{ ...quick, key: 'A' }])
    store.decide([{ name: 'y', limit: tokenBucket({ capacity: 2, refill: '1/d' }), key: 'B', cost: 1 }])
    for (let i = 0; i < 20; i++) {
      clock.advance(5_000)
      const { allowed, decisions } = store.decide([
        { ...quick, key: 'A' },
        { name: 'x', limit: tokenBucket({ capacity: 2, refill: '1/d' }), key: 'C', cost: 1 },
      ])
      expect(decisions.every((decision) => decision.allowed)).toBe(allowed)
      expect(store.size).toBeLessThanOrEqual(2)
      if (!allowed) expect(store.decide([{ ...quick, key: 'A', cost: 0 }]).decisions[0].remaining).toBe(2)
    }
  })

  it('counts the same key under two algorithms in two states', () => {
    const store = memoryStore({ clock: new ManualClock(START) })
    const demands = [tokenBucket({ capacity: 1_000, refill: '1/s' }), slidingLog({ quota: 5, window: '1d' })].map(
      (limit) => ({ name: 'x', limit, key: 'k', cost: 1 }),
    )
    let admitted = 0
    for (let i = 0; i < 50; i++) if (store.decide(demands).allowed) admitted++
    expect(admitted).toBe(5)
  })
})

describe('the bound on timestamps of sliding logs', () => {
  const log = slidingLog({ quota: 1_000, window: '1h' })

  it('holds for charges', () => {
    const store = memoryStore({ clock: new ManualClock(START), maxLogTimestamps: 100 })
    const limiter = createLimiter({ name: 'log', limit: log, store })
    for (let i = 0; i < 100; i++) limiter.charge(`key:${i}`, { cost: 2_000 })
    expect(store.stats().bytes).toBeLessThan(100 * 8 + 100 * 3 * 8 + 100 * 40)
    expect(store.stats().refused).toBe(100)
  })

  it('holds for all demands of a request together', () => {
    const store = memoryStore({ clock: new ManualClock(START), maxLogTimestamps: 110 })
    const group = Array.from({ length: 50 }, (_, i) => ({ name: 'log', limit: log, key: `key:${i}`, cost: 100 }))
    expect(store.decide(group).allowed).toBe(false)
    expect(store.decide(group.slice(0, 1)).allowed).toBe(true)
  })

  it('recovers after a flood: a shared state is freed when it is whole', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 1, maxLogTimestamps: 20_000 })
    const { flooded, other } = createLimiters(
      { flooded: slidingLog({ quota: 50, window: '1m' }), other: log },
      { store },
    )
    for (let i = 0; i < 100_000; i++) flooded.tryAcquire(`flood:${i}`)
    clock.advance(3_600_000)
    for (let i = 0; i < 10_000; i++) other.peek('lone')
    let admitted = 0
    for (let i = 0; i < 1_000; i++) if (other.tryAcquire('lone').allowed) admitted++
    expect(admitted).toBe(1_000)
  })

  it('holds for keys that continue from a copy of a shared state', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 5_000, maxLogTimestamps: 50_000 })
    const limiter = createLimiter({ name: 'log', limit: slidingLog({ quota: 200, window: '1m' }), store })
    for (let i = 0; i < 20_000; i++) limiter.tryAcquire(`first:${i}`)
    clock.advance(61_000)
    for (let i = 0; i < 20_000; i++) limiter.tryAcquire(`second:${i}`)
    expect(store.stats().bytes).toBeLessThan(50_000 * 8 + 5_000 * 100)
  })
})

describe('the states that keys share in a full store', () => {
  it('are bounded over all names, counted in bytes, and dropped when they are whole', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 1 })
    const limit = slidingWindow({ quota: 5, window: '1m', slices: 100 })
    const names = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`name${i}`, limit]))
    const limiters = Object.values(createLimiters(names, { store }))
    for (let i = 0; i < 50_000; i++) limiters[i % limiters.length].tryAcquire(`key:${i}`)
    const full = store.stats().bytes
    expect(full).toBeGreaterThan(1_000 * limit.quota)
    expect(full).toBeLessThan((1_024 + 50) * 104 * 8 * 2)
    clock.advance(120_000)
    for (let i = 0; i < 500_000; i++) limiters[0].peek('another key')
    expect(store.stats().bytes).toBeLessThan(full / 2)
  })
})

describe('two limiters that are used in turn', () => {
  it('take at most three times as long as each alone', () => {
    const { one, two } = createLimiters({
      one: tokenBucket({ capacity: 1_000_000, refill: '1000/s' }),
      two: slidingWindow({ quota: 1_000_000, window: '1m' }),
    })
    const time = (call: (i: number) => void) => {
      let least = Infinity
      for (let round = 0; round < 7; round++) {
        const start = performance.now()
        for (let i = 0; i < 20_000; i++) call(i)
        least = Math.min(least, performance.now() - start)
      }
      return least
    }
    const apart = time(() => one.tryAcquire('key')) + time(() => two.tryAcquire('key'))
    const inTurn = time((i) => (i % 2 === 0 ? one : two).tryAcquire('key')) * 2
    expect(inTurn).toBeLessThan(apart * 3)
  })
})
