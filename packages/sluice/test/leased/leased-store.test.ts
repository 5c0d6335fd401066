import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createLimiter, createLimiters, type DecisionEvent, leakyBucket, type TokenBucket, tokenBucket } from 'sluice'
import { LeasedStore, leasedStore } from 'sluice/leased'
import { parseBlockFor } from 'sluice/limits'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { warningsOf } from '../http/adapters/warnings-of.js'
import { LendingBuckets } from './lending-store.js'

const limit = tokenBucket({ capacity: 100, refill: '100/s' })
const busy = { name: 'api', limit, key: 'busy', cost: 1 }

function nodes(count = 1, options = {}) {
  const clock = new ManualClock(1_745_000_000_000)
  const inner = new LendingBuckets(clock)
  const stores = Array.from({ length: count }, () => new LeasedStore(inner, options, () => 0.5))
  const [store, other = store] = stores
  return { clock, inner, store, other }
}

/** Asks often enough for the key to be leased. Three units are taken. */
async function warm(store: LeasedStore, demand = busy): Promise<void> {
  for (let i = 0; i < 3; i++) expect((await store.decide([demand])).allowed).toBe(true)
}

describe('hot and cold keys', () => {
  it('a key is asked for directly twice, and is then leased', async () => {
    const { inner, store } = nodes()
    await warm(store)
    expect(inner.counts).toEqual({ decides: 2, exchanges: 1 })
    for (let i = 0; i < 3; i++) expect(store.decideNow(busy)?.allowed).toBe(true)
    expect(store.stats()).toMatchObject({ keys: 1, direct: 2, spent: 4 })
  })

  it('a leased key decides without a call, and refills before it runs dry', async () => {
    const { clock, inner, store } = nodes()
    await warm(store)
    for (let second = 0; second < 5; second++) {
      const before = inner.counts.exchanges
      for (let i = 0; i < 100; i++) {
        await store.decide([busy])
        await clock.advanceAsync(10)
      }
      expect(inner.counts.exchanges - before).toBeLessThanOrEqual(second === 0 ? 9 : 6)
    }
    expect(inner.counts.decides).toBe(2)
  })

  it('a hundred thousand keys that come once each cost one call each', async () => {
    const { clock, inner, store } = nodes()
    for (let i = 0; i < 100_000; i++) {
      await store.decide([{ ...busy, key: `once-${i}` }])
      if (i % 100 === 0) clock.advance(1)
    }
    await clock.advanceAsync(5_000)
    expect(inner.counts.decides + inner.counts.exchanges).toBeLessThan(100_100)
    expect(store.stats()).toMatchObject({ keys: 0, held: 0 })
  })

  it('a key that is idle for a round gives its units back, and then leaves no timer', async () => {
    const { clock, inner, store } = nodes()
    await warm(store)
    expect(clock.nextAlarmMs).toBeDefined()
    await clock.advanceAsync(1_000)
    expect(store.stats()).toMatchObject({ keys: 0, held: 0 })
    expect(inner.unitsOf(busy)).toEqual({ left: 100, held: 0 })
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('beyond maxKeys, keys ask directly', async () => {
    const { inner, store } = nodes(1, { maxKeys: 2 })
    for (const key of ['a', 'b', 'c']) await warm(store, { ...busy, key })
    expect(store.stats().keys).toBe(2)
    expect(inner.counts).toEqual({ decides: 7, exchanges: 2 })
  })

  it('keys whose rounds end together call the store in the same turn', async () => {
    const { clock, inner, store } = nodes()
    for (let i = 0; i < 20; i++) await warm(store, { ...busy, key: `k${i}` })
    const before = inner.counts.exchanges
    clock.advance(260)
    expect(inner.counts.exchanges - before).toBe(20)
  })

  it('two spellings of one key, one with a lone surrogate, share a state: only the well-formed one is leased', async () => {
    const { store } = nodes()
    for (const key of ['a\ufffd', 'a\ud800']) for (let i = 0; i < 5; i++) await store.decide([{ ...busy, key }])
    expect(store.stats().keys).toBe(1)
  })
})

describe('decisions', () => {
  it('units in hand and units in the store together are what remains, as of the last call', async () => {
    const { clock, store } = nodes()
    await warm(store)
    const askedMs = clock.now()
    clock.advance(5)
    expect(store.decideNow(busy)).toMatchObject({ allowed: true, quota: 100, remaining: 96, asOfMs: askedMs })
    const look = await store.decide([{ ...busy, cost: 0 }])
    expect(look.decisions[0]).toMatchObject({ allowed: true, remaining: 96, asOfMs: askedMs })
  })

  it('a key whose units are used up is denied without a call, until the round is over', async () => {
    const { clock, inner, store } = nodes()
    while ((await store.decide([busy])).allowed);
    const { exchanges } = inner.counts
    const denial = store.decideNow(busy)
    expect(denial).toMatchObject({ allowed: false, remaining: 0, quota: 100 })
    for (let i = 0; i < 50; i++) expect((await store.decide([busy])).allowed).toBe(false)
    expect(inner.counts.exchanges).toBe(exchanges)
    await clock.advanceAsync(denial?.retryAfterMs ?? 0)
    expect((await store.decide([busy])).allowed).toBe(true)
  })

  it('many requests at the same time wait for one call, and are answered in their order', async () => {
    const { inner, store } = nodes()
    const answers = await Promise.all(Array.from({ length: 150 }, () => store.decide([busy])))
    expect(answers.map(({ allowed }) => allowed)).toEqual([
      ...Array.from({ length: 100 }, () => true),
      ...Array.from({ length: 50 }, () => false),
    ])
    expect(inner.counts).toEqual({ decides: 2, exchanges: 1 })
  })

  it('a request that comes while a call is under way gets its units from the next call, if the store has more', async () => {
    const { store, inner } = nodes()
    let release = () => {}
    inner.wire = (deliver) =>
      new Promise((resolve) => {
        const answer = deliver()
        release = () => resolve(answer)
      })
    const first = Promise.all([store.decide([busy]), store.decide([busy]), store.decide([busy])])
    await Promise.resolve()
    const later = Promise.all(Array.from({ length: 60 }, () => store.decide([busy])))
    release()
    expect((await first).every(({ allowed }) => allowed)).toBe(true)
    inner.wire = async (deliver) => deliver()
    release()
    for (let i = 0; i < 5; i++) {
      await Promise.resolve()
      release()
    }
    expect((await later).every(({ allowed }) => allowed)).toBe(true)
  })

  it('two nodes share what is there', async () => {
    const { store, other } = nodes(2)
    let admitted = 0
    for (let i = 0; i < 200; i++) for (const node of [store, other]) if ((await node.decide([busy])).allowed) admitted++
    expect(admitted).toBeLessThanOrEqual(100)
    expect(admitted).toBeGreaterThanOrEqual(97)
  })

  it('the time of units that were taken is that of the store', async () => {
    const { clock, store } = nodes()
    await warm(store)
    const { takenUs } = await store.decide([busy])
    expect(Math.abs(takenUs[0] - clock.now() * 1_000)).toBeLessThan(1_000_000)
  })
})

describe('blocks, resets and changes', () => {
  it('a block holds at once on this node, and on others within a lease', async () => {
    const { clock, inner, store, other } = nodes(2)
    await warm(store)
    await warm(other)
    await store.block('api', 'busy', 60_000_000)
    expect(store.decideNow(busy)).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 60_000 })
    expect(other.decideNow(busy)?.allowed).toBe(true)
    await clock.advanceAsync(300)
    expect(other.decideNow(busy)).toMatchObject({ allowed: false, retryAfterMs: expect.any(Number) })
    await clock.advanceAsync(50)
    expect(inner.unitsOf(busy).held).toBe(0)
  })

  it('a blocked key is denied locally, looks again about once a second, and finds out that the block is lifted', async () => {
    const { clock, inner, store, other } = nodes(2)
    await warm(store)
    await store.block('api', 'busy', 3_600_000_000)
    const before = inner.counts.exchanges + inner.counts.decides
    for (let i = 0; i < 100; i++) {
      expect((await store.decide([busy])).allowed).toBe(false)
      await clock.advanceAsync(100)
    }
    expect(inner.counts.exchanges + inner.counts.decides - before).toBeLessThan(25)
    await other.reset('api', 'busy')
    await clock.advanceAsync(1_000)
    expect((await store.decide([busy])).allowed).toBe(true)
  })

  it('reset gives the hand back and forgets that the key was dry', async () => {
    const { inner, store } = nodes()
    while ((await store.decide([busy])).allowed);
    await store.reset('api', 'busy')
    expect((await store.decide([busy])).allowed).toBe(true)
    const { left, held } = inner.unitsOf(busy)
    expect(left + held).toBe(100)
  })

  it('a refund on this node ends a denial that it had remembered', async () => {
    const { store } = nodes()
    while ((await store.decide([busy])).allowed);
    expect(store.decideNow(busy)?.allowed).toBe(false)
    await store.refund({ ...busy, cost: 5 }, undefined)
    expect((await store.decide([busy])).allowed).toBe(true)
  })

  it('a charge is exact in the store, and the next look asks it', async () => {
    const { store } = nodes()
    await warm(store)
    await store.charge({ ...busy, cost: 50 })
    const [look] = (await store.decide([{ ...busy, cost: 0 }])).decisions
    expect(look.remaining).toBe(47)
    expect(look.asOfMs).toBeUndefined()
  })

  it('a key whose limit changes gives its units back, and is leased again under the new limit', async () => {
    const { clock, inner, store } = nodes()
    await warm(store)
    const other = { ...busy, limit: tokenBucket({ capacity: 50, refill: '100/s' }) }
    await store.decide([other])
    expect(inner.unitsOf(other).held).toBe(0)
    expect(store.decideNow(other)).toBeUndefined()
    await clock.advanceAsync(600)
    await warm(store, other)
    expect(store.decideNow(other)).toMatchObject({ allowed: true, quota: 50 })
  })

  it('a limit of equal numbers is the same limit', async () => {
    const { store } = nodes()
    await warm(store)
    const same: TokenBucket = tokenBucket({ capacity: 100, refill: '100/s' })
    expect(store.decideNow({ ...busy, limit: same })?.allowed).toBe(true)
  })
})

describe('limits that block keys', () => {
  const blockFor = parseBlockFor('10s')
  const blocking = { ...busy, blockFor }

  it('are admitted from the hand, and denied by the store, which blocks the key', async () => {
    const { inner, store } = nodes()
    await warm(store)
    expect(store.decideNow(blocking)?.allowed).toBe(true)
    let admitted = 4
    let last = await store.decide([blocking])
    for (; last.allowed; last = await store.decide([blocking])) admitted++
    expect(admitted).toBe(100)
    expect(last.decisions[0].retryAfterMs).toBe(10_000)
    expect(inner.unitsOf(busy).held).toBe(0)
  })

  it('a known lack of units is no reason to deny without the store', async () => {
    const { store } = nodes()
    while ((await store.decide([busy])).allowed);
    expect(store.decideNow(busy)?.allowed).toBe(false)
    expect(store.decideNow(blocking)).toBeUndefined()
    expect((await store.decide([blocking])).decisions[0].retryAfterMs).toBe(10_000)
  })
})

describe('a store that is away', () => {
  it('leaves the units in hand, and then answers by its rule', async () => {
    const { clock, inner, store } = nodes()
    await warm(store)
    for (let i = 0; i < 10; i++) await store.decide([busy])
    const { held } = store.stats()
    expect(held).toBeGreaterThan(2)
    inner.isAway = true
    const answers = []
    for (let i = 0; i < held + 3; i++) answers.push(await store.decide([busy]))
    expect(answers.filter(({ decisions }) => decisions[0].degraded === undefined)).toHaveLength(held)
    expect(answers.slice(-3).map(({ decisions }) => decisions[0].degraded)).toEqual(['open', 'open', 'open'])
    inner.isAway = false
    await clock.advanceAsync(300)
    expect((await store.decide([busy])).decisions[0].degraded).toBeUndefined()
  })

  it('units in hand are spent only until their lease ends', async () => {
    const { clock, inner, store } = nodes()
    await warm(store)
    inner.isAway = true
    clock.advance(3_000)
    expect((await store.decide([busy])).decisions[0].degraded).toBe('open')
  })

  it('answers requests that wait for a lease', async () => {
    const { inner, store } = nodes()
    inner.wire = async () => ({ instead: () => ({ allowed: false, decisions: [], takenUs: [] }) })
    const answers = await Promise.all(Array.from({ length: 5 }, () => store.decide([busy])))
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, false, false, false])
  })
})

describe('close', () => {
  it('gives everything back, also what a call under way brings, stops the timer, and then asks directly', async () => {
    const { clock, inner, store } = nodes()
    await warm(store)
    await warm(store, { ...busy, key: 'other' })
    const waiting = [store.decide([{ ...busy, cost: 3 }]), store.decide([busy]), store.decide([busy])]
    await store.close()
    await Promise.all(waiting)
    expect(store.stats()).toMatchObject({ keys: 0, held: 0 })
    expect(inner.unitsOf(busy).held + inner.unitsOf({ ...busy, key: 'other' }).held).toBe(0)
    expect(clock.nextAlarmMs).toBeUndefined()
    await warm(store)
    expect(store.stats().keys).toBe(0)
  })
})

describe('limiters', () => {
  it('of a leased store have tryAcquireNow, and limiters of other stores do not', async () => {
    const { inner, store } = nodes()
    const limiter = createLimiter({ name: 'api', limit, store })
    expect(limiter.tryAcquireNow('busy')).toBeUndefined()
    for (let i = 0; i < 3; i++) await limiter.tryAcquire('busy')
    expect(limiter.tryAcquireNow('busy', { cost: 1 })).toMatchObject({ allowed: true, remaining: 96 })
    expect(() => limiter.tryAcquireNow('')).toThrow('key must be a non-empty string')
    const { search } = createLimiters({ search: limit }, { store })
    expect(search.tryAcquireNow('busy')).toBeUndefined()
    const direct = createLimiter({ name: 'api', limit, store: inner })
    // @ts-expect-error: only limiters of a store that decides at once have the method.
    expect(direct.tryAcquireNow).toBeUndefined()
  })

  it('publish decisions that were made at once', async () => {
    const { store } = nodes()
    const limiter = createLimiter({ name: 'api', limit, store })
    const seen: unknown[] = []
    const listen = (message: unknown) => {
      const { name, method, allowed, demands, decisions } = message as DecisionEvent
      seen.push([name, method, allowed, demands[0].key, decisions[0].remaining])
    }
    subscribe('sluice:decision', listen)
    for (let i = 0; i < 3; i++) await limiter.tryAcquire('busy')
    limiter.tryAcquireNow('busy')
    await limiter.tryAcquire('busy')
    limiter.tryAcquireNow('cold')
    unsubscribe('sluice:decision', listen)
    expect(seen).toEqual([99, 98, 97, 96, 95].map((left) => ['api', 'tryAcquire', true, 'busy', left]))
  })

  it('wait for units that other nodes hold or take', async () => {
    const { clock, store } = nodes()
    const limiter = createLimiter({ name: 'api', limit, store })
    while ((await limiter.tryAcquire('busy')).allowed);
    const waiting = Promise.all([limiter.acquire('busy'), limiter.acquire('busy', { cost: 5 })])
    await clock.advanceAsync(2_000)
    expect((await waiting).map(({ allowed }) => allowed)).toEqual([true, true])
  })

  it('settle reservations in the store', async () => {
    const { inner, store } = nodes()
    const limiter = createLimiter({ name: 'api', limit, store })
    for (let i = 0; i < 3; i++) await limiter.tryAcquire('busy')
    const { left, held } = inner.unitsOf(busy)
    const reservation = await limiter.reserve('busy', { cost: 20 })
    expect(reservation.decision.allowed).toBe(true)
    await reservation.settle(5)
    expect(inner.unitsOf(busy)).toEqual({ left: left - 5, held })
  })

  it('warn once of a limit that cannot be leased', async () => {
    const { store } = nodes()
    const warnings = await warningsOf(async () => {
      for (let i = 0; i < 2; i++) {
        store.prepare({ name: 'queue', limit: leakyBucket({ capacity: 5, drain: '1/s' }) })
        store.prepare({ name: 'api', limit })
      }
    })
    expect(warnings.map(([code]) => code)).toEqual(['SLUICE_NOT_LEASED'])
    expect(warnings[0][1]).toContain("the limit 'queue' (leaky-bucket) cannot be leased")
  })
})

it('options that are wrong are named, with a right value', () => {
  const { inner } = nodes()
  expect(() => leasedStore(inner, { leaseMs: 0 })).toThrow('leaseMs must be a whole number from 5 to 250, got 0')
  expect(() => leasedStore(inner, { maxKeys: 1.5 })).toThrow('maxKeys must be a whole number from 1 to 1,000,000')
  expect(() => leasedStore(inner, { lease: 3 } as object)).toThrow("leasedStore has no option 'lease'")
  const { leases: _, ...lendsNothing } = inner
  expect(() => leasedStore(lendsNothing as LendingBuckets)).toThrow(
    'a store that lends units, such as redisStore(client)',
  )
})
