import { tokenBucket } from 'sluice'
import { LeasedStore } from 'sluice/leased'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { LendingBuckets } from './lending-store.js'

const KEYS = 2_000
const limit = tokenBucket({ capacity: 1_000, refill: '1000/s' })

/** Asks for each of the keys so often a second, for so long. Returns the most calls that a millisecond saw. */
async function ask(perSecond: number, ms: number) {
  const clock = new ManualClock(1_745_000_000_000)
  const inner = new LendingBuckets(clock)
  const random = sequence()
  const store = new LeasedStore(inner, {}, random)
  let [asked, most, before] = [0, 0, 0]
  for (let i = 0; i < ms; i++) {
    for (const until = ((i + 1) * KEYS * perSecond) / 1_000; asked < until; asked++) {
      const demand = { name: 'api', limit, key: `client-${asked % KEYS}`, cost: 1 }
      if (store.decideNow(demand) === undefined) void store.decide([demand])
    }
    await clock.advanceAsync(1)
    most = Math.max(most, inner.counts.exchanges - before)
    before = inner.counts.exchanges
  }
  return { store, inner, asked, most }
}

function sequence(): () => number {
  let last = 0.5
  return () => {
    last = (last * 997 + 0.1234) % 1
    return last
  }
}

describe('many keys', () => {
  it('share several rounds, so that their calls are spread over time', async () => {
    const { store, most } = await ask(40, 1_500)
    expect(store.stats().keys).toBe(KEYS)
    expect(most).toBeLessThanOrEqual(4 * 256)
  })

  it('are leased only if they are busy, beside the first few hundred', async () => {
    const { store, inner, asked } = await ask(16, 1_500)
    expect(store.stats().keys).toBeGreaterThanOrEqual(512)
    expect(store.stats().keys).toBeLessThan(600)
    // The others cost what they cost without leases.
    expect(inner.counts.decides + inner.counts.exchanges).toBeLessThan(asked)
  })
})
