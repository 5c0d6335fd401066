import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import fc from 'fast-check'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import {
  type AsyncStore,
  claimOnce,
  concurrency,
  createLimiter,
  createPolicy,
  type DecisionEvent,
  memoryStore,
  tokenBucket,
} from '../../src/index.js'
import { deeds, playDeeds, QUOTA } from './reservation-model.js'

const START_MS = Date.UTC(2026, 0, 1)
const limit = tokenBucket({ capacity: 10, refill: '1/d' })

function fresh() {
  const clock = new ManualClock(START_MS)
  const store = memoryStore({ clock })
  return { clock, store, limiter: createLimiter({ name: 'test', limit, store }) }
}

/** The same store, answering later. */
function later(clock: ManualClock): AsyncStore {
  const store = memoryStore({ clock })
  return {
    clock,
    decide: async (demands) => store.decide(demands),
    peek: async (demands) => store.peek(demands),
    charge: async (demand) => store.charge(demand),
    set: async (limited, remaining) => store.set(limited, remaining),
    refund: async (demand, taken) => store.refund(demand, taken),
    reset: async (name, key) => store.reset(name, key),
    block: async (name, key, durationUs) => store.block(name, key, durationUs),
  }
}

describe('a reservation with a ttl', () => {
  it('agrees with a model, whatever is reserved, settled, cancelled and left', async () => {
    const one = tokenBucket({ capacity: QUOTA, refill: '1/d' })
    await fc.assert(
      fc.asyncProperty(deeds, async (list) => {
        const clock = new ManualClock(START_MS)
        const store = memoryStore({ clock })
        const limiters = [1, 2].map(() => createLimiter({ name: 'test', limit: one, store }))
        await playDeeds(limiters, [() => {}], clock, list)
      }),
      { numRuns: 500 },
    )
  })

  it('gives back what it took, whatever a caller does to the decision or the verdict', () => {
    const { store, limiter } = fresh()
    const reservation = limiter.reserve('key', { cost: 4, ttl: '1m' })
    Object.assign(reservation.decision, { allowed: false, delayMs: -1, degraded: 'open' })
    reservation.cancel()
    expect(limiter.peek('key').remaining).toBe(10)

    const policy = createPolicy({ name: 'policy', levels: [{ name: 'all', limit }], store })
    const held = policy.reserve({}, { cost: 4, ttl: '1m' })
    Object.assign(held.verdict.levels[0].decision, { allowed: false, delayMs: -1, degraded: 'open' })
    held.cancel()
    expect(policy.check({}).levels[0].decision.remaining).toBe(9)
  })

  it('gives each of two calls with one id a decision of its own', async () => {
    const limiter = createLimiter({ name: 'test', limit, store: later(new ManualClock(START_MS)) })
    const [one, other] = await Promise.all([1, 2].map(() => limiter.reserve('key', { ttl: '1m', id: 'same' })))
    expect(one.decision).toEqual(other.decision)
    expect(one.decision).not.toBe(other.decision)
  })

  it('wakes a caller that waits for its units when it ends by itself', async () => {
    const clock = new ManualClock(START_MS)
    const places = createLimiter({ limit: concurrency({ max: 1, ttl: '1h' }), clock })
    places.reserve('key', { ttl: '1s' })
    const lease = places.acquireLease('key')
    await clock.advanceAsync(1_000)
    const outcome = await Promise.race([lease, Promise.resolve('waits')])
    expect(outcome).not.toBe('waits')
  })

  it('takes once if two calls with one id ask a slow store at the same time', async () => {
    const clock = new ManualClock(START_MS)
    const limiter = createLimiter({ name: 'test', limit, store: later(clock) })
    const both = await Promise.all([1, 2].map(() => limiter.reserve('key', { cost: 4, ttl: '1m', id: 'same' })))
    expect(both.map(({ id }) => id)).toEqual(['same', 'same'])
    expect((await limiter.peek('key')).remaining).toBe(6)
    await clock.advanceAsync(60_000)
    expect((await limiter.peek('key')).remaining).toBe(10)
  })

  it('gives back what it took, even if the caller has changed its decision', () => {
    const { clock, limiter } = fresh()
    const { decision } = limiter.reserve('key', { cost: 4, ttl: '1m' })
    Object.assign(decision, { allowed: false, degraded: 'open', delayMs: -1 })
    clock.advance(60_000)
    expect(limiter.peek('key').remaining).toBe(10)
  })

  it('agrees with the model on a store that answers later', async () => {
    const one = tokenBucket({ capacity: QUOTA, refill: '1/d' })
    await fc.assert(
      fc.asyncProperty(deeds, async (list) => {
        const clock = new ManualClock(START_MS)
        const store = later(clock)
        const limiters = [1, 2].map(() => createLimiter({ name: 'test', limit: one, store }))
        await playDeeds(limiters, [() => clock.advanceAsync(0)], clock, list)
      }),
      { numRuns: 200 },
    )
  })

  it('gives everything back at its end and not before', () => {
    const { clock, limiter } = fresh()
    const { id, endsAtMs } = limiter.reserve('key', { cost: 4, ttl: '30s' })
    expect(endsAtMs).toBe(START_MS + 30_000)
    clock.advance(29_999)
    expect(limiter.peek('key').remaining).toBe(6)
    clock.advance(1)
    expect(limiter.peek('key').remaining).toBe(10)
    expect([limiter.settle(id, 2), limiter.cancel(id)]).toEqual([false, false])
    expect(limiter.peek('key').remaining).toBe(10)
  })

  it('sets no alarm after it has been settled', () => {
    const { clock, limiter } = fresh()
    const { id } = limiter.reserve('key', { cost: 4, ttl: '30s' })
    expect(clock.nextAlarmMs).toBe(START_MS + 30_000)
    expect(limiter.settle(id, 1)).toBe(true)
    expect(clock.nextAlarmMs).toBeUndefined()
  })

  it('belongs to its limiter: another limiter of the store cannot settle it', () => {
    const { store, limiter } = fresh()
    const other = createLimiter({ name: 'other', limit, store })
    const { id } = limiter.reserve('key', { cost: 4, ttl: '30s' })
    expect(other.cancel(id)).toBe(false)
    other.reserve('key', { cost: 1, ttl: '30s', id })
    expect(limiter.cancel(id)).toBe(true)
    expect([limiter.peek('key').remaining, other.peek('key').remaining]).toEqual([10, 9])
  })

  it('gives its place of a concurrency limit back when it is settled', () => {
    const clock = new ManualClock(START_MS)
    const limiter = createLimiter({ limit: concurrency({ max: 1, ttl: '1h' }), clock })
    limiter.reserve('key', { ttl: '1m' }).settle(1)
    expect(limiter.peek('key').remaining).toBe(1)
  })

  it('wakes callers that wait when it is settled by its id', async () => {
    const { limiter } = fresh()
    const { id } = limiter.reserve('key', { cost: 10, ttl: '30s' })
    const waiting = limiter.acquire('key', { cost: 5 })
    limiter.settle(id, 3)
    expect((await waiting).remaining).toBe(2)
  })

  it('after a denial, its methods do nothing, even if the id is used by then', () => {
    const { limiter } = fresh()
    const denied = limiter.reserve('key', { cost: 11, ttl: '30s', id: 'a' })
    expect(denied).toMatchObject({ id: 'a', endsAtMs: undefined, decision: { allowed: false } })
    limiter.reserve('key', { cost: 4, ttl: '30s', id: 'a' })
    denied.cancel()
    expect(limiter.peek('key').remaining).toBe(6)
  })

  it.each(['at once', 'later'])('publishes its decision on a store that answers %s', async (when) => {
    const clock = new ManualClock(START_MS)
    const store = when === 'later' ? later(clock) : memoryStore({ clock })
    const limiter = createLimiter({ name: 'test', limit, store })
    const published: unknown[] = []
    const listen = (message: unknown) => {
      const { method, name, allowed, demands } = message as DecisionEvent
      published.push([method, name, allowed, demands[0].cost])
    }
    subscribe('sluice:decision', listen)
    try {
      expect((await limiter.reserve('key', { cost: 4, ttl: '1m' })).decision.remaining).toBe(6)
      expect((await limiter.reserve('key', { cost: 7, ttl: '1m' })).decision.allowed).toBe(false)
    } finally {
      unsubscribe('sluice:decision', listen)
    }
    expect(published).toEqual([
      ['reserve', 'test', true, 4],
      ['reserve', 'test', false, 7],
    ])
  })

  it('refuses an id without a ttl, and wrong ids and ttls, and takes nothing', () => {
    const { limiter } = fresh()
    for (const [options, message] of [
      [{ id: 'a' }, 'ttl must be a duration'],
      [{ ttl: '0s' }, 'ttl must be a duration from 1ms'],
      [{ ttl: '1m', id: '' }, 'id must be a non-empty string'],
      [{ ttl: '1m', id: 5 }, 'id must be a non-empty string, got 5'],
      [{ tll: '1m' }, "reserve has no option 'tll'; did you mean ttl?"],
    ] as const)
      expect(() => limiter.reserve('key', options as never), message).toThrow(message)
    expect(limiter.peek('key').remaining).toBe(10)
    expect(() => limiter.settle('a', -1)).toThrow('actual must be a whole number')
  })
})

describe('a reservation of a policy with a ttl', () => {
  const levels = [
    { name: 'requests', key: ['user'], cost: 1, limit },
    { name: 'tokens', key: ['user'], cost: 'tokens', limit: tokenBucket({ capacity: 100, refill: '1/d' }) },
    { name: 'busy', key: ['user'], limit: concurrency({ max: 2, ttl: '1h' }) },
  ] as const
  const start = () => {
    const clock = new ManualClock(START_MS)
    const store = memoryStore({ clock })
    const policy = createPolicy({ name: 'api', levels, store })
    const left = () => policy.peek({ user: 'a', tokens: 0 }).levels.map(({ decision }) => decision.remaining)
    return { clock, store, policy, left }
  }

  it('is settled by its id with attributes or a number, and gives places back', () => {
    const { policy, left } = start()
    const { id } = policy.reserve({ user: 'a', tokens: 40 }, { ttl: '30s' })
    expect(left()).toEqual([9, 60, 1])
    expect(policy.settle(id, { tokens: 25 })).toBe(true)
    expect(left()).toEqual([9, 75, 2])
    expect(policy.settle(id, { tokens: 0 })).toBe(false)
    expect(left()).toEqual([9, 75, 2])
  })

  it('is cancelled, released, or given back at its end', () => {
    const { clock, policy, left } = start()
    const reserve = () => policy.reserve({ user: 'a', tokens: 40 }, { ttl: '30s' })
    expect(policy.cancel(reserve().id)).toBe(true)
    expect(left()).toEqual([10, 100, 2])
    expect(policy.release(reserve().id)).toBe(true)
    expect(left()).toEqual([9, 60, 2])
    reserve()
    expect(left()).toEqual([8, 20, 1])
    clock.advance(30_000)
    expect(left()).toEqual([9, 60, 2])
  })

  it('is ended once by the methods of the reservation', () => {
    const { policy, left } = start()
    const reservation = policy.reserve({ user: 'a', tokens: 40 }, { ttl: '30s' })
    reservation.release()
    reservation.settle({ tokens: 0 })
    reservation.cancel()
    expect(left()).toEqual([9, 60, 2])
  })

  it('is settled by a newer policy: the cost of a level that is gone stays', () => {
    const { store, policy, left } = start()
    const { id } = policy.reserve({ user: 'a', tokens: 40 }, { ttl: '30s' })
    const newer = createPolicy({ name: 'api', levels: levels.slice(0, 1), store })
    expect(newer.settle(id, 3)).toBe(true)
    expect(left()).toEqual([9, 60, 2])
  })

  it('is returned again for the same id and request, and refused for another request', () => {
    const { policy, left } = start()
    const options = { ttl: '30s', id: 'once' } as const
    const first = policy.reserve({ user: 'a', tokens: 40 }, options)
    const again = policy.reserve({ user: 'a', tokens: 40 }, options)
    expect([again.verdict, again.endsAtMs]).toEqual([first.verdict, first.endsAtMs])
    expect(left()).toEqual([9, 60, 1])
    expect(() => policy.reserve({ user: 'b', tokens: 40 }, options)).toThrow(
      "the id 'once' is open for another request",
    )
    expect(left()).toEqual([9, 60, 1])
  })
})

describe('claimOnce', () => {
  it('is true for the first call of an id until its ttl is over', () => {
    const { clock, store } = fresh()
    const claim = (id: string) => claimOnce(store, id, { ttl: '1h' })
    expect([claim('a'), claim('a'), claim('b')]).toEqual([true, false, true])
    clock.advance(3_600_000)
    expect(claim('a')).toBe(true)
    expect(() => claimOnce(store, '', { ttl: '1h' })).toThrow('id must be a non-empty string')
  })

  it('is true once for calls at the same time on a store that answers later', async () => {
    const store = later(new ManualClock(START_MS))
    const claimed = await Promise.all([1, 2, 3].map(() => claimOnce(store, 'a', { ttl: '1h' })))
    expect(claimed).toEqual([true, false, false])
  })
})
