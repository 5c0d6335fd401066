import { tokenBucket } from 'sluice'
import { LeasedStore, type LendingStore } from 'sluice/leased'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { worstBurst } from '../simulator/law.js'
import { LendingBuckets } from './lending-store.js'

/** A leased store that is so far from the store that lends: every call takes `travelMs` there, and the same back. */
function farStore(travelMs: number) {
  const clock = new ManualClock(1_745_000_000_000)
  const inner = new LendingBuckets(clock)
  const travel = () => new Promise<void>((resolve) => void clock.alarm(clock.now() + travelMs, resolve))
  const decide = inner.decide.bind(inner)
  inner.wire = async (deliver) => {
    await travel()
    const answer = deliver()
    await travel()
    return answer
  }
  inner.decide = async (demands) => {
    await travel()
    const answer = await decide(demands)
    await travel()
    return answer
  }
  return { clock, inner, store: new LeasedStore(inner as LendingStore, {}, () => 0.5) }
}

describe('a store whose answers take longer than leases of a small bucket last', () => {
  for (const [capacity, travelMs] of [
    [20, 25],
    [50, 55],
    [100, 120],
  ] as const) {
    it(`decides every request, by direct calls: a bucket of ${capacity} at 1000/s, ${2 * travelMs} ms away`, async () => {
      const { clock, inner, store } = farStore(travelMs)
      const busy = { name: 'api', limit: tokenBucket({ capacity, refill: '1000/s' }), key: 'busy', cost: 1 }
      const admissions: { atMs: number; units: number }[] = []
      let [asked, answered] = [0, 0]
      for (let ms = 0; ms < 5_000; ms++) {
        for (let i = 0; i < 2; i++) {
          asked++
          void store.decide([busy]).then(({ allowed, decisions, takenUs }) => {
            answered++
            const atMs = decisions[0].asOfMs === undefined ? takenUs[0] / 1_000 : clock.now()
            if (allowed) admissions.push({ atMs, units: 1 })
          })
        }
        await clock.advanceAsync(1)
      }
      // A request waits for one call for a lease at most, and then for one of its own.
      await clock.advanceAsync(8 * travelMs)
      expect(answered).toBe(asked)
      admissions.sort((one, other) => one.atMs - other.atMs)
      expect(worstBurst(admissions, 1_000)).toBeLessThanOrEqual(capacity)
      expect(admissions.length).toBeGreaterThan(0.8 * 5_000)
      expect(inner.counts.exchanges).toBeLessThan(100)
    })
  }

  it('leases again when its answers are fast again', async () => {
    const { clock, inner, store } = farStore(60)
    const busy = { name: 'api', limit: tokenBucket({ capacity: 50, refill: '1000/s' }), key: 'busy', cost: 1 }
    const ask = async (ms: number) => {
      for (let i = 0; i < ms; i++) {
        void store.decide([busy])
        await clock.advanceAsync(1)
      }
    }
    await ask(1_000)
    inner.wire = async (deliver) => deliver()
    await ask(1_500)
    const before = store.stats().spent
    await ask(500)
    expect(store.stats().spent - before).toBeGreaterThan(400)
  })
})
