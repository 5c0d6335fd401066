import { tokenBucket } from 'sluice'
import { LeasedStore } from 'sluice/leased'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { LendingBuckets } from './lending-store.js'

const limit = tokenBucket({ capacity: 100, refill: '1/h' })
const demand = (cost: number, key = 'busy') => ({ name: 'api', limit, key, cost })

/** A node that has taken three units of the busy key and holds a few more. */
async function warmNode() {
  const clock = new ManualClock(1_745_000_000_000)
  const inner = new LendingBuckets(clock)
  const store = new LeasedStore(inner, {}, () => 0.5)
  for (let i = 0; i < 3; i++) await store.decide([demand(1)])
  return { clock, inner, store }
}

describe('a request that is larger than the lease', () => {
  it('asks directly, and leaves the hand as it is if the store has enough', async () => {
    const { inner, store } = await warmNode()
    const { held } = inner.unitsOf(demand(1))
    expect(held).toBeGreaterThan(0)
    expect((await store.decide([demand(60)])).allowed).toBe(true)
    expect(inner.unitsOf(demand(1)).held).toBe(held)
  })

  it('gets the units in hand if the store lacks just those, as peek said', async () => {
    const { inner, store } = await warmNode()
    const left = 97
    expect((await store.peek([demand(1)])).decisions[0].remaining).toBe(left)
    expect((await store.peek([demand(left)])).decisions[0]).toMatchObject({
      allowed: true,
      remaining: left,
      retryAfterMs: 0,
    })
    expect((await store.peek([demand(left + 1)])).decisions[0].allowed).toBe(false)
    const { allowed, decisions } = await store.decide([demand(left)])
    expect([allowed, decisions[0].remaining]).toEqual([true, 0])
    await store.close()
    expect(inner.unitsOf(demand(1))).toEqual({ left: 0, held: 0 })
  })

  it('gets them as a part of a request of several demands too', async () => {
    const { store } = await warmNode()
    const { allowed, decisions } = await store.decide([demand(97), demand(1, 'cold')])
    expect([allowed, ...decisions.map(({ remaining }) => remaining)]).toEqual([true, 0, 99])
  })

  it('is denied without giving back what would not help, and that is remembered until the round ends', async () => {
    const { clock, inner, store } = await warmNode()
    const before = { ...inner.counts }
    const { held } = inner.unitsOf(demand(1))
    const waits: number[] = []
    for (let i = 0; i < 50; i++) waits.push((await store.decide([demand(98)])).decisions[0].retryAfterMs)
    expect(inner.counts).toEqual({ ...before, decides: before.decides + 1 })
    expect(inner.unitsOf(demand(1)).held).toBe(held)
    // One unit is missing beside those in hand, and units in hand are not counted.
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(3_600_000)
    expect((await store.peek([demand(98)])).decisions[0].allowed).toBe(false)
    expect((await store.decide([demand(1e9)])).decisions[0].retryAfterMs).toBe(Infinity)
    // Smaller requests go on from the hand.
    expect(store.decideNow(demand(1))?.allowed).toBe(true)
    await clock.advanceAsync(400)
    await store.decide([demand(98)])
    expect(inner.counts.decides).toBe(before.decides + 2)
  })

  it('costs a few calls a second, however often it is denied', async () => {
    const clock = new ManualClock(1_745_000_000_000)
    const inner = new LendingBuckets(clock)
    const store = new LeasedStore(inner, {}, () => 0.5)
    const large = { ...demand(30), limit: tokenBucket({ capacity: 100, refill: '100/s' }) }
    let admitted = 0
    for (let ms = 0; ms < 10_000; ms++) {
      if ((await store.decide([large])).allowed) admitted += 30
      await clock.advanceAsync(1)
    }
    expect(admitted).toBeGreaterThan(0.95 * 1_000)
    expect((inner.counts.decides + inner.counts.exchanges) / 10).toBeLessThan(12)
  })
})
