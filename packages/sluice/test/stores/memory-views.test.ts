import { createLimiter, fixedWindow, type Limit, type Limiter, memoryStore, slidingLog, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

const START = 1_745_000_100_000
const HOUR = 3_600_000

/** Limiters of one name on one store, as two versions of a program have them. */
function versions(limits: readonly Limit[], options: object = {}) {
  const clock = new ManualClock(START - (START % HOUR))
  const store = memoryStore({ clock, ...options })
  return { clock, store, limiters: limits.map((limit) => createLimiter({ name: 'test', limit, store })) }
}

function admitted(limiter: Limiter, key = 'key'): number {
  for (let units = 0; ; units++) if (!limiter.tryAcquire(key).allowed) return units
}

describe('limits with other numbers, side by side in a memory store', () => {
  it('an aligned window does not begin anew for what was taken late in a window from the first request', () => {
    const { clock, limiters } = versions([
      fixedWindow({ quota: 10, window: '1h', align: 'first' }),
      fixedWindow({ quota: 10, window: '30m' }),
    ])
    limiters[0].tryAcquire('key')
    clock.advance(44 * 60_000)
    expect(admitted(limiters[0])).toBe(9)
    expect(admitted(limiters[1])).toBe(0)
  })

  it('a log for which there is too little memory does not begin anew', () => {
    const { limiters, store } = versions(
      [slidingLog({ quota: 1_000, window: '1h' }), slidingLog({ quota: 1_000, window: '2h' })],
      { maxLogTimestamps: 1_900 },
    )
    expect(admitted(limiters[0])).toBe(1_000)
    expect(admitted(limiters[1])).toBe(0)
    expect(store.stats().refused).toBeGreaterThan(0)
  })

  it('what is taken under one log counts in the other, or is refused, when memory is scarce', () => {
    const { clock, limiters, store } = versions(
      [slidingLog({ quota: 20, window: '1d' }), slidingLog({ quota: 5, window: '1m' })],
      { maxLogTimestamps: 60 },
    )
    for (const limiter of limiters) limiter.tryAcquire('key')
    const other = createLimiter({ name: 'other', limit: slidingLog({ quota: 100, window: '1d' }), store })
    admitted(other)
    let units = 2
    for (let i = 0; i < 60; i++) {
      clock.advance(61_000)
      if (limiters[1].tryAcquire('key').allowed) units++
    }
    expect(limiters[0].peek('key').remaining).toBe(Math.max(0, 20 - units))
  })

  it('a key at its limit does not begin anew because the store is full', () => {
    for (const onFull of ['share', 'deny'] as const) {
      const { limiters, store } = versions(
        [fixedWindow({ quota: 10, window: '1h' }), fixedWindow({ quota: 10, window: '2h' })],
        { maxKeys: 4, onFull },
      )
      expect(admitted(limiters[0])).toBe(10)
      const other = createLimiter({ name: 'other', limit: tokenBucket({ capacity: 5, refill: '1/h' }), store })
      for (let i = 0; i < 3; i++) other.tryAcquire(`other ${i}`)
      expect(admitted(limiters[1])).toBe(0)
    }
  })

  it('a bucket that moves from space to space is kept until it is whole by everybody who used it', () => {
    const { clock, limiters } = versions([
      tokenBucket({ capacity: 1, refill: '1/500s' }),
      tokenBucket({ capacity: 1_000, refill: '1/s' }),
      tokenBucket({ capacity: 2_000, refill: '1/s' }),
    ])
    limiters[1].tryAcquire('key')
    limiters[0].charge('key', { cost: 2_000 })
    limiters[2].peek('key')
    clock.advance(7_000_000)
    expect(limiters[0].tryAcquire('key').allowed).toBe(false)
  })

  it('two logs of one request both take, or neither, when memory is scarce', () => {
    const { store } = versions([], { maxLogTimestamps: 14 })
    const limit = slidingLog({ quota: 50, window: '1h' })
    let allowed = 0
    const demands = ['a', 'b'].map((name) => ({ name, limit, key: 'key', cost: 1 }))
    while (store.decide(demands).allowed) allowed++
    for (const name of ['a', 'b']) expect(store.decideOne(name, limit, 'key', 0).remaining).toBe(50 - allowed)
  })
})
