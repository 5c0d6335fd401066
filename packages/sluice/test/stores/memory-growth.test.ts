import { createLimiter, memoryStore, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

const START = 1_745_000_000_000

describe('a memory store', () => {
  it('keeps every state while it grows, and takes at most 40 bytes for each key', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock })
    const limiter = createLimiter({ name: 'api', limit: tokenBucket({ capacity: 1_000, refill: '1/h' }), store })
    const keys = 300_000
    for (let i = 0; i < keys; i++) {
      limiter.tryAcquire(`key:${i}`, { cost: 1 + (i % 900) })
      if (i > 5_000 && i % 5_000 === 0) expect(store.stats().bytes / store.size).toBeLessThanOrEqual(40)
    }
    expect(store.size).toBe(keys)
    for (let i = 0; i < keys; i++) expect(limiter.peek(`key:${i}`).remaining).toBe(999 - (i % 900))
  })

  it('frees memory when keys are whole again', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock })
    const limiter = createLimiter({ name: 'api', limit: tokenBucket({ capacity: 10, refill: '1/s' }), store })
    for (let i = 0; i < 200_000; i++) limiter.tryAcquire(`key:${i}`)
    const full = store.stats().bytes
    clock.advance(1_000)
    for (let i = 0; i < 1_000_000; i++) limiter.peek('another key')
    expect(store.size).toBe(0)
    expect(store.stats().bytes).toBeLessThan(full / 50)
  })

  it('finds every key after any sequence of additions and removals', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, seed: [1, 2] })
    const limiter = createLimiter({ name: 'api', limit: tokenBucket({ capacity: 9, refill: '1/d' }), store })
    const known = new Map<string, number>()
    let random = 1
    for (let i = 0; i < 200_000; i++) {
      random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0
      const key = `key:${random % 3_000}`
      if (random % 7 < 3) {
        limiter.reset(key)
        known.delete(key)
      } else if ((known.get(key) ?? 9) > 0) {
        limiter.tryAcquire(key)
        known.set(key, (known.get(key) ?? 9) - 1)
      }
    }
    expect(store.size).toBe(known.size)
    for (let i = 0; i < 3_000; i++) expect(limiter.peek(`key:${i}`).remaining).toBe(known.get(`key:${i}`) ?? 9)
  })
})
