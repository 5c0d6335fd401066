import fc from 'fast-check'
import { createPolicy, type Demand, tokenBucket } from 'sluice'
import { LeasedStore } from 'sluice/leased'
import { parseBlockFor } from 'sluice/limits'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { LendingBuckets } from './lending-store.js'

const limit = tokenBucket({ capacity: 100, refill: '1/s' })
const demand = (key: string, cost = 1): Demand => ({ name: 'api', limit, key, cost })

function scene() {
  const clock = new ManualClock(1_745_000_000_000)
  const inner = new LendingBuckets(clock)
  const store = new LeasedStore(inner, {}, () => 0.5)
  /** All units of a key that are not spent, wherever they are. */
  const left = (key: string) => {
    const units = inner.unitsOf(demand(key))
    return units.left + units.held
  }
  return { clock, inner, store, left }
}

/** Leases these keys. Each has taken `spent` units then. */
async function warm(store: LeasedStore, keys: readonly string[], spent = 10): Promise<void> {
  for (const key of keys) for (let i = 0; i < spent; i++) await store.decide([demand(key)])
}

/** Brings reports to the store, so that held units are units that may still be spent. */
async function report(store: LeasedStore): Promise<void> {
  await store.close()
}

describe('requests of several demands', () => {
  it('for leased keys only are admitted without a call', async () => {
    const { inner, store } = scene()
    await warm(store, ['a', 'b'])
    const before = { ...inner.counts }
    const { allowed, decisions } = await store.decide([demand('a'), demand('b')])
    expect([allowed, ...decisions.map(({ remaining }) => remaining)]).toEqual([true, 89, 89])
    expect(inner.counts).toEqual(before)
  })

  it('ask for cold keys in one call, and spend from the hand if the store admits', async () => {
    const { inner, store, left } = scene()
    await warm(store, ['a'])
    const before = inner.counts.decides
    const { allowed, decisions } = await store.decide([demand('cold-1'), demand('a'), demand('cold-2')])
    expect([allowed, ...decisions.map(({ remaining }) => remaining)]).toEqual([true, 99, 89, 99])
    expect(inner.counts.decides).toBe(before + 1)
    await report(store)
    expect([left('a'), left('cold-1'), left('cold-2')]).toEqual([89, 99, 99])
  })

  it('spend nothing if the store denies, and describe what fits as it is', async () => {
    const { inner, store, left } = scene()
    await warm(store, ['a'])
    await inner.charge(demand('used-up', 100))
    const { allowed, decisions } = await store.decide([demand('a'), demand('used-up')])
    expect([allowed, ...decisions.map((each) => [each.allowed, each.remaining])]).toEqual([
      false,
      [true, 90],
      [false, 0],
    ])
    await report(store)
    expect(left('a')).toBe(90)
  })

  it('spend nothing if a leased key is known to be dry, without a call', async () => {
    const { inner, store, left } = scene()
    await warm(store, ['a'])
    await warm(store, ['dry'], 105)
    const before = { ...inner.counts }
    const { allowed, decisions } = await store.decide([demand('a'), demand('dry')])
    expect([allowed, ...decisions.map((each) => each.allowed)]).toEqual([false, true, false])
    expect(inner.counts).toEqual(before)
    await report(store)
    expect([left('a'), left('dry')]).toEqual([90, 0])
  })

  it('ask the store about a key that is known to be dry, if it is asked anyway', async () => {
    const { inner, store } = scene()
    await warm(store, ['dry'], 105)
    await inner.refund(demand('dry', 5), undefined)
    expect((await store.decide([demand('dry'), demand('cold')])).allowed).toBe(true)
  })

  it('cost no more calls in an overload than one for each key in a round', async () => {
    const { clock, inner, store } = scene()
    const busy = (key: string): Demand => ({
      name: 'busy',
      limit: tokenBucket({ capacity: 1_000, refill: '1000/s' }),
      key,
      cost: 1,
    })
    const counts = { admitted: 0, denied: 0 }
    const ask = async () => {
      const { allowed } = await store.decide([busy('a'), busy('b')])
      counts[allowed ? 'admitted' : 'denied']++
    }
    for (let ms = 0; ms < 10_000; ms++) {
      await Promise.all([ask(), ask(), ask()])
      clock.advance(1)
    }
    // The units of the last round come after the end.
    expect(counts.admitted).toBeGreaterThanOrEqual(11_000 - 250)
    expect(counts.admitted).toBeLessThanOrEqual(11_000)
    // Ten seconds of four rounds each, for two keys, and the calls of the burst at the start.
    expect(inner.counts.decides + inner.counts.exchanges).toBeLessThanOrEqual(110)
  })

  it('for the same leased key are added up first', async () => {
    const { store, left } = scene()
    await warm(store, ['a'])
    expect((await store.decide([demand('a', 50), demand('a', 50)])).allowed).toBe(false)
    const { allowed, decisions } = await store.decide([demand('a', 2), demand('a', 3)])
    expect([allowed, ...decisions.map(({ remaining }) => remaining)]).toEqual([true, 85, 85])
    expect(decisions[0]).not.toBe(decisions[1])
    await report(store)
    expect(left('a')).toBe(85)
  })

  it('are not denied by a shadow, which takes only if it fits', async () => {
    const { store, left } = scene()
    await warm(store, ['a'])
    await warm(store, ['dry'], 105)
    const shadow = { ...demand('dry'), shadow: true }
    const { allowed, decisions } = await store.decide([demand('a'), shadow])
    expect([allowed, ...decisions.map((each) => each.allowed)]).toEqual([true, true, false])
    const alone = await store.decide([shadow])
    expect([alone.allowed, alone.decisions[0].allowed]).toEqual([true, false])
    await report(store)
    expect([left('a'), left('dry')]).toEqual([89, 0])
  })

  it('put a key that exceeds into the call, because only the store can block it', async () => {
    const { store } = scene()
    await warm(store, ['a'])
    await warm(store, ['dry'], 105)
    const blocking = { ...demand('dry'), blockFor: parseBlockFor('10s') }
    const { allowed, decisions } = await store.decide([demand('a'), blocking])
    expect([allowed, decisions[0].allowed, decisions[1].retryAfterMs]).toEqual([false, true, 10_000])
  })

  it('with looks take nothing for those', async () => {
    const { store, left } = scene()
    await warm(store, ['a', 'b'])
    const { decisions } = await store.decide([demand('a', 0), demand('b')])
    expect(decisions.map(({ remaining }) => remaining)).toEqual([90, 89])
    await report(store)
    expect([left('a'), left('b')]).toEqual([90, 89])
  })

  it('give units back to the hand if the store fails with an error', async () => {
    const { inner, store, left } = scene()
    await warm(store, ['a'])
    inner.decide = () => Promise.reject(new Error('gone'))
    await expect(store.decide([demand('a'), demand('cold')])).rejects.toThrow('gone')
    await report(store)
    expect(left('a')).toBe(90)
  })
})

describe('a store that answers only after the units in hand are over', () => {
  async function late(spoil: (inner: LendingBuckets) => Promise<unknown>) {
    const { clock, inner, store, left } = scene()
    await warm(store, ['a'])
    const decide = inner.decide.bind(inner)
    let calls = 0
    inner.decide = async (demands) => {
      const answer = await decide(demands)
      if (calls++ === 0) {
        clock.advance(3_000)
        await spoil(inner)
      }
      return answer
    }
    const answer = await store.decide([demand('a'), demand('cold')])
    await store.close()
    return { answer, calls, left }
  }

  it('is asked for those units too', async () => {
    const { answer, calls, left } = await late(async () => {})
    expect([answer.allowed, calls]).toEqual([true, 2])
    expect(left('a')).toBeLessThanOrEqual(92)
    expect(left('cold')).toBe(100)
  })

  it('gets back what it gave if it then denies', async () => {
    const { answer, left } = await late((inner) => inner.charge(demand('a', 100)))
    expect([answer.allowed, ...answer.decisions.map(({ allowed }) => allowed)]).toEqual([false, false, true])
    expect(left('cold')).toBe(100)
  })
})

it('units that end while the store is asked for others are not spent: it is asked for them too, call after call', async () => {
  const { clock, inner, store } = scene()
  const large = tokenBucket({ capacity: 1_000, refill: '1000/s' })
  const busy = (key: string, cost = 1): Demand => ({ name: 'api', limit: large, key, cost })
  const startMs = clock.now()
  const carry = inner.wire
  // Exchanges fail from now on, so each hand keeps the units of one round.
  const cutOff = () => {
    inner.wire = async () => ({ instead: () => Promise.reject(new Error('away')) as never })
  }
  for (let i = 0; i < 200; i++) await store.decide([busy('a')])
  cutOff()
  while (clock.now() < startMs + 1_100) {
    await clock.advanceAsync(50)
    expect(store.decideNow(busy('a'))?.allowed).toBe(true)
  }
  inner.wire = carry
  let admittedToB = 0
  for (let i = 0; i < 200; i++) admittedToB += (await store.decide([busy('b')])).allowed ? 1 : 0
  cutOff()
  const decide = inner.decide.bind(inner)
  const asked: string[][] = []
  inner.decide = async (demands) => {
    const answer = await decide(demands)
    asked.push(demands.map(({ key }) => key))
    // The units of `a` end before the first answer comes, those of `b` before the second.
    if (asked.length < 3) clock.advance(startMs + [0, 2_050, 3_200][asked.length] - clock.now())
    return answer
  }
  const { allowed } = await store.decide([busy('a', 20), busy('b', 20), busy('cold')])
  expect([allowed, asked]).toEqual([true, [['cold'], ['a'], ['b']]])
  // The store counted the 20 units of `b`: no more than what it has now is left to be taken.
  expect(inner.unitsOf(busy('b')).left).toBe(1_000 - 20)
  expect(admittedToB).toBe(200)
})

it('a request takes from all of its keys or from none, whichever of them are leased', async () => {
  const request = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), cost: fc.constantFrom(1, 1, 2, 5) }), {
    minLength: 1,
    maxLength: 4,
  })
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 10, maxLength: 120 }), async (requests) => {
      const { store, left } = scene()
      const taken = new Map(['a', 'b', 'c', 'd'].map((key) => [key, 0]))
      for (const demands of requests) {
        const { allowed, decisions } = await store.decide(demands.map(({ key, cost }) => demand(key, cost)))
        expect(allowed).toBe(decisions.every((each) => each.allowed))
        if (allowed) for (const { key, cost } of demands) taken.set(key, (taken.get(key) ?? 0) + cost)
      }
      await store.close()
      for (const [key, units] of taken) expect(left(key)).toBe(100 - units)
    }),
    { numRuns: 100 },
  )
})

it('a policy on a leased store decides hot levels from the hand', async () => {
  const { inner, store } = scene()
  const policy = createPolicy({
    name: 'api',
    store,
    levels: [
      { name: 'all', limit: tokenBucket({ capacity: 1_000, refill: '100/s' }) },
      { name: 'user', key: 'user', limit },
    ],
  })
  for (let i = 0; i < 10; i++) expect((await policy.check({ user: 'ann' })).allowed).toBe(true)
  const before = inner.counts.decides
  for (let i = 0; i < 10; i++) expect((await policy.check({ user: 'ann' })).allowed).toBe(true)
  expect(inner.counts.decides).toBe(before)
  await policy.check({ user: 'eve' })
  expect(inner.counts.decides).toBe(before + 1)
})
