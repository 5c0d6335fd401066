import type { Rate } from 'sluice'
import { createLimiter, memoryStore, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { isLong } from '../property/arbitraries.js'

const START = 1_745_000_000_000
const MAX_KEYS = 100_000
const FLOOD = isLong ? 10_000_000 : 2_000_000

/** A flood of new keys, one a microsecond. After every 1,000 of them, a key at its limit makes a request. */
function flood(refill: Rate, newKeys: number) {
  const clock = new ManualClock(START)
  const store = memoryStore({ clock, maxKeys: MAX_KEYS })
  const limiter = createLimiter({ name: 'api', limit: tokenBucket({ capacity: 10, refill }), store })
  // Abusers use the flooded limit if it is slow enough to keep them at their limit; else another limit of the store.
  const slow = createLimiter({ name: 'abuser', limit: tokenBucket({ capacity: 10, refill: '1/h' }), store })
  const abuser = refill === '1/h' ? limiter : slow
  const abusers = Array.from({ length: 500 }, (_, i) => `abuser:${i}`)
  for (const key of abusers) for (let i = 0; i < 10; i++) expect(abuser.tryAcquire(key).allowed).toBe(true)

  let mostBytes = 0
  let mostKeys = 0
  let admittedToAbusers = 0
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < newKeys; i++) {
    limiter.tryAcquire(`flood:${i}`)
    if (i % 1_000 === 0) {
      clock.advance(1)
      if (abuser.tryAcquire(abusers[(i / 1_000) % abusers.length]).allowed) admittedToAbusers++
      if (i % 100_000 === 0) mostBytes = Math.max(mostBytes, store.stats().bytes)
      mostKeys = Math.max(mostKeys, store.size)
    }
  }
  const grown = process.memoryUsage().arrayBuffers - before
  const stillDenied = abusers.every((key) => !abuser.tryAcquire(key).allowed && abuser.peek(key).remaining === 0)
  return { mostBytes, mostKeys, grown, admittedToAbusers, stillDenied, stats: store.stats() }
}

describe(`a flood of ${FLOOD.toLocaleString('en')} new keys through a store of ${MAX_KEYS.toLocaleString('en')}`, () => {
  it('keeps the store within its bound and gives no abuser a unit, if no key can be forgotten', {
    timeout: 300_000,
  }, () => {
    const { mostBytes, mostKeys, grown, admittedToAbusers, stillDenied, stats } = flood('1/h', FLOOD)
    expect(mostKeys).toBe(MAX_KEYS)
    expect(mostBytes).toBeLessThanOrEqual(MAX_KEYS * 40)
    expect(grown).toBeLessThan(MAX_KEYS * 40 * 4)
    expect(admittedToAbusers).toBe(0)
    expect(stillDenied).toBe(true)
    expect(stats.dropped).toBe(0)
    expect(stats.shared).toBe(FLOOD - (MAX_KEYS - 500))
  })

  it('is served with a state of its own for every key, if keys can be forgotten in time', { timeout: 300_000 }, () => {
    // 1,000 new keys a millisecond, each whole again after 50 ms: 50,000 at any time.
    const { mostBytes, mostKeys, admittedToAbusers, stillDenied, stats } = flood('20/s', FLOOD / 5)
    expect(mostKeys).toBeLessThanOrEqual(MAX_KEYS)
    expect(mostBytes).toBeLessThanOrEqual(MAX_KEYS * 40)
    expect(admittedToAbusers).toBe(0)
    expect(stillDenied).toBe(true)
    expect(stats.shared).toBe(0)
    expect(stats.dropped).toBeGreaterThan(FLOOD / 5 - 2 * MAX_KEYS)
  })
})
