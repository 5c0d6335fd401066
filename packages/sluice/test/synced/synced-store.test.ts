import { concurrency, createLimiter, type Demand, fixedWindow, leakyBucket, memoryStore, tokenBucket } from 'sluice'
import { parseBlockFor } from 'sluice/limits'
import { SyncedStore, syncedStore } from 'sluice/synced'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { warningsOf } from '../http/adapters/warnings-of.js'
import { SharedMemory } from './shared-memory.js'

const limit = tokenBucket({ capacity: 100, refill: '100/s' })
const busy = { name: 'api', limit, key: 'busy', cost: 1 }

function nodes(options = {}) {
  const clock = new ManualClock(1_745_000_000_000)
  const shared = new SharedMemory(clock)
  const node = () => new SyncedStore(shared, { intervalMs: 100, ...options }, () => 1)
  return { clock, shared, store: node(), other: node() }
}

/** Takes so many units one by one, and returns how many were admitted. */
function take(store: SyncedStore, count: number, demand: Demand = busy): number {
  return Array.from({ length: count }, () => store.decideNow(demand)).filter((each) => each?.allowed).length
}

describe('syncs', () => {
  it('every decision is made at once, and each key in use makes one call in an interval', async () => {
    const { clock, shared, store } = nodes()
    for (let interval = 0; interval < 5; interval++) {
      for (const key of ['a', 'b', 'c']) expect(take(store, 10, { ...busy, key })).toBe(10)
      expect(shared.calls).toHaveLength(3 * interval)
      await clock.advanceAsync(100)
    }
    expect(shared.count('charge')).toBe(15)
    expect(store.stats()).toMatchObject({ keys: 3, syncs: 5, calls: 15, failures: 0, direct: 0, unreported: 0 })
  })

  it('a key that is only denied looks, an idle key does not, and then there is no timer', async () => {
    const { clock, shared, store } = nodes()
    expect(take(store, 101)).toBe(100)
    await clock.advanceAsync(100)
    expect(store.decideNow({ ...busy, cost: 100 })?.allowed).toBe(false)
    await clock.advanceAsync(200)
    expect(shared.calls).toEqual(['charge', 'peek'])
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('a node learns what others took, and says when it last asked', async () => {
    const { clock, store, other } = nodes()
    expect(take(store, 60)).toBe(60)
    expect(other.decideNow(busy)).toMatchObject({ remaining: 99, asOfMs: 0 })
    await clock.advanceAsync(100)
    // Whichever asks first learns with its next sync. The refill of 100 ms is 10 units.
    other.decideNow(busy)
    await clock.advanceAsync(100)
    const decision = other.decideNow({ ...busy, cost: 0 })
    expect(decision?.asOfMs).toBe(clock.now())
    expect(decision?.remaining).toBe(48)
  })

  it('overshoot is a debt: after it every node waits until the bucket has units again', async () => {
    const { clock, store, other } = nodes()
    expect(take(store, 200) + take(other, 200)).toBe(200)
    await clock.advanceAsync(100)
    take(store, 1)
    take(other, 1)
    await clock.advanceAsync(100)
    expect(store.decideNow(busy)).toMatchObject({ allowed: false, retryAfterMs: 910 })
    expect(other.decideNow(busy)).toMatchObject({ allowed: false, retryAfterMs: 910 })
    await clock.advanceAsync(910)
    expect(store.decideNow(busy)?.allowed).toBe(true)
  })

  it('a node that is alone after an overshoot pays the debt before it admits as before', async () => {
    const { clock, shared, store, other } = nodes()
    expect(take(store, 100) + take(other, 100)).toBe(200)
    await clock.advanceAsync(100)
    take(store, 1)
    await clock.advanceAsync(100)
    shared.fate = () => 'lost'
    await clock.advanceAsync(store.decideNow(busy)?.retryAfterMs ?? 0)
    expect(take(store, 50)).toBe(1)
    await clock.advanceAsync(100)
    expect(take(store, 50)).toBe(10)
  })

  it('units that are taken while a call is under way are not forgotten when its answer comes', async () => {
    const { clock, shared, store } = nodes()
    shared.travelMs = () => 20
    take(store, 40)
    await clock.advanceAsync(110)
    take(store, 50)
    await clock.advanceAsync(50)
    expect(store.stats().unreported).toBe(50)
    expect(store.decideNow({ ...busy, cost: 0 })?.remaining).toBeLessThanOrEqual(12)
    await clock.advanceAsync(100)
    expect(store.stats().unreported).toBe(0)
  })
})

describe('a store that is away', () => {
  it('the node goes on within its own limit, keeps its units, and reports them later', async () => {
    const { clock, shared, store } = nodes()
    shared.fate = () => 'lost'
    let admitted = 0
    for (let ms = 0; ms < 5_000; ms += 50) {
      admitted += take(store, 20)
      await clock.advanceAsync(50)
    }
    expect(admitted).toBeGreaterThan(590)
    expect(admitted).toBeLessThanOrEqual(600)
    expect(store.stats()).toMatchObject({ unreported: admitted, oldestViewMs: 5_000 })
    expect(store.stats().overshoot).toBe(100 + 2 * 500)
    shared.fate = () => 'answered'
    await clock.advanceAsync(200)
    expect(store.stats()).toMatchObject({ unreported: 0, oldestViewMs: 0 })
    expect(store.stats().failures).toBeGreaterThan(10)
  })

  it('a report whose answer is lost is counted twice at most, because a look must be answered before the next', async () => {
    const { clock, shared, store } = nodes()
    shared.fate = () => 'answer lost'
    take(store, 10)
    await clock.advanceAsync(1_000)
    expect(shared.count('charge')).toBe(1)
    shared.fate = () => 'answered'
    await clock.advanceAsync(200)
    expect(shared.count('charge')).toBe(2)
    expect(store.stats().unreported).toBe(0)
  })
})

describe('changes', () => {
  it('a charge counts here at once, and in the store with the next sync', async () => {
    const { clock, shared, store } = nodes()
    expect((await store.charge({ ...busy, cost: 150 })).allowed).toBe(false)
    expect(shared.calls).toEqual([])
    await clock.advanceAsync(100)
    expect(shared.memory.peekOne('api', limit, 'busy', 1)).toMatchObject({ allowed: false, retryAfterMs: 510 })
  })

  it('a refund of units that were not reported makes no call, and one of reported units asks the store', async () => {
    const { clock, shared, store } = nodes()
    const { takenUs } = await store.decide([{ ...busy, cost: 50 }])
    const taken = { atUs: takenUs[0], cost: 50, delayMs: 0 }
    await store.refund({ ...busy, cost: 20 }, taken)
    expect(store.stats().unreported).toBe(30)
    expect(shared.calls).toEqual([])
    await clock.advanceAsync(100)
    await store.refund({ ...busy, cost: 20 }, taken)
    expect(shared.calls).toEqual(['charge', 'refund'])
    expect(shared.memory.peekOne('api', limit, 'busy', 0).remaining).toBe(90)
  })

  it('set and reset act in the store and here, and drop what was not reported', async () => {
    const { shared, store } = nodes()
    take(store, 30)
    expect((await store.set(busy, 7)).remaining).toBe(7)
    expect(store.decideNow({ ...busy, cost: 0 })?.remaining).toBe(7)
    expect(store.stats().unreported).toBe(0)
    take(store, 7)
    await store.reset('api', 'busy')
    expect(store.decideNow({ ...busy, cost: 0 })?.remaining).toBe(100)
    expect(shared.memory.peekOne('api', limit, 'busy', 0).remaining).toBe(100)
  })

  it('a reset that fails is an error, and changes nothing here', async () => {
    const { shared, store } = nodes()
    take(store, 30)
    shared.fate = () => 'lost'
    await expect(store.reset('api', 'busy')).rejects.toThrow(/may not have been reset/)
    expect(store.stats().unreported).toBe(30)
    expect(store.decideNow({ ...busy, cost: 0 })?.remaining).toBe(70)
  })

  it('a block denies here at once and on other nodes with their next sync, until it ends or is reset', async () => {
    const { clock, store, other } = nodes()
    take(store, 1)
    take(other, 1)
    await store.block('api', 'busy', 60_000_000)
    expect(store.decideNow(busy)?.allowed).toBe(false)
    expect(other.decideNow(busy)?.allowed).toBe(true)
    await clock.advanceAsync(100)
    expect(other.decideNow(busy)).toMatchObject({ allowed: false, remaining: 0 })
    await store.reset('api', 'busy')
    await clock.advanceAsync(200)
    expect(other.decideNow(busy)?.allowed).toBe(true)
  })

  it('a block of a window lasts on other nodes beyond the window', async () => {
    const { clock, store, other } = nodes()
    const demand = { ...busy, limit: fixedWindow({ quota: 5, window: '1s' }) }
    take(other, 1, demand)
    await store.block('api', 'busy', 10_000_000)
    await clock.advanceAsync(5_000)
    expect(other.decideNow(demand)?.allowed).toBe(false)
  })

  it('only the store blocks a key that exceeds, so all nodes make one block', async () => {
    const { clock, shared, store, other } = nodes()
    const demand = { ...busy, blockFor: parseBlockFor('15m') }
    expect(take(store, 100, demand) + take(other, 1, demand)).toBe(101)
    expect(store.decideNow(demand)).toBeUndefined()
    const { decisions } = await store.decide([demand])
    expect(decisions[0]).toMatchObject({ allowed: false, retryAfterMs: 900_000 })
    const calls = shared.calls.length
    expect(store.decideNow(demand)).toMatchObject({ allowed: false, retryAfterMs: 900_000 })
    expect(shared.calls).toHaveLength(calls)
    await clock.advanceAsync(100)
    expect(other.decideNow({ ...busy })?.allowed).toBe(false)
  })
})

describe('requests of several demands', () => {
  const place = { name: 'places', limit: concurrency({ max: 1, ttl: '30s' }), key: 'busy', cost: 1 }
  const small = { name: 'small', limit: tokenBucket({ capacity: 1, refill: '1/m' }), key: 'busy', cost: 1 }

  it('take from all views or from none, without a call', async () => {
    const { shared, store } = nodes()
    expect((await store.decide([busy, small])).allowed).toBe(true)
    expect((await store.decide([busy, small])).decisions.map(({ allowed }) => allowed)).toEqual([true, false])
    expect(store.decideNow({ ...busy, cost: 0 })?.remaining).toBe(99)
    expect(store.stats().unreported).toBe(2)
    expect(shared.calls).toEqual([])
  })

  it('ask the store for limits that cannot be synced, and put back what the views gave if it denies', async () => {
    const { shared, store } = nodes()
    expect((await store.decide([busy, place])).allowed).toBe(true)
    const denied = await store.decide([busy, place])
    expect(denied.allowed).toBe(false)
    expect(denied.decisions.map(({ allowed, remaining }) => ({ allowed, remaining }))).toEqual([
      { allowed: true, remaining: 99 },
      { allowed: false, remaining: 0 },
    ])
    expect(shared.calls).toEqual(['decide', 'decide'])
    expect(store.stats()).toMatchObject({ unreported: 1, direct: 2 })
  })

  it('take nothing from the store if a view denies', async () => {
    const { shared, store } = nodes()
    store.decideNow(small)
    expect((await store.decide([small, place])).allowed).toBe(false)
    expect(shared.calls).toEqual(['peek'])
  })

  it('put back what the views gave if the store fails', async () => {
    const { shared, store } = nodes()
    shared.fate = () => 'lost'
    await expect(store.decide([busy, place])).rejects.toThrow('lost')
    expect(store.stats().unreported).toBe(0)
    expect(store.decideNow({ ...busy, cost: 0 })?.remaining).toBe(100)
  })
})

describe('bounds and ends', () => {
  it('keys beyond maxKeys ask the store, until others are whole again', async () => {
    const { clock, store } = nodes({ maxKeys: 2 })
    for (const key of ['a', 'b']) expect(store.decideNow({ ...busy, key })?.allowed).toBe(true)
    expect(store.decideNow({ ...busy, key: 'c' })).toBeUndefined()
    expect((await store.decide([{ ...busy, key: 'c' }])).allowed).toBe(true)
    expect(store.stats()).toMatchObject({ keys: 2, direct: 1 })
    await clock.advanceAsync(2_000)
    store.decideNow({ ...busy, key: 'c' })
    expect(store.decideNow({ ...busy, key: 'c' })?.allowed).toBe(true)
  })

  it('keys that are not whole are never forgotten, however many others come', async () => {
    const { clock, store } = nodes({ maxKeys: 2 })
    const slow = { ...busy, limit: tokenBucket({ capacity: 5, refill: '1/h' }) }
    for (const key of ['a', 'b']) expect(take(store, 6, { ...slow, key })).toBe(5)
    for (let i = 0; i < 20; i++) {
      await clock.advanceAsync(100)
      expect(store.decideNow({ ...slow, key: `other-${i}` })).toBeUndefined()
    }
    for (const key of ['a', 'b']) expect(take(store, 6, { ...slow, key })).toBe(0)
  })

  it('blocks of keys that are not counted here leave room for the views', async () => {
    const { clock, store } = nodes({ maxKeys: 2 })
    for (let i = 0; i < 20; i++) await store.block('api', `blocked-${i}`, 60_000_000)
    for (const key of ['a', 'b']) {
      expect(take(store, 30, { ...busy, key })).toBe(30)
      await store.set({ ...busy, key }, 5)
      expect(take(store, 30, { ...busy, key })).toBe(5)
    }
    await clock.advanceAsync(200)
    expect(store.stats()).toMatchObject({ keys: 2, unreported: 0, failures: 0 })
  })

  it('close reports what is not reported, and then every request asks the store', async () => {
    const { clock, shared, store } = nodes()
    take(store, 40)
    await store.close()
    expect(shared.memory.peekOne('api', limit, 'busy', 0).remaining).toBe(60)
    expect(clock.nextAlarmMs).toBeUndefined()
    expect(store.decideNow(busy)).toBeUndefined()
    expect((await store.decide([busy])).decisions[0].remaining).toBe(59)
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('a limit that cannot be synced is warned of once', async () => {
    const { store } = nodes()
    const queue = leakyBucket({ capacity: 5, drain: '1/s' })
    const warnings = await warningsOf(async () => {
      for (let i = 0; i < 2; i++) createLimiter({ name: 'queue', limit: queue, store })
      createLimiter({ name: 'api', limit, store })
    })
    expect(warnings.map(([code]) => code)).toEqual(['SLUICE_NOT_SYNCED'])
  })

  it('options and the store are checked', () => {
    const { shared } = nodes()
    expect(() => syncedStore(shared, { intervalMs: 0 })).toThrow(/intervalMs must be .* got 0/)
    expect(() => syncedStore(shared, { maxKeys: 1.5 })).toThrow(/maxKeys must be/)
    expect(() => syncedStore(memoryStore() as never)).toThrow(/first argument of syncedStore must be a shared store/)
  })
})
