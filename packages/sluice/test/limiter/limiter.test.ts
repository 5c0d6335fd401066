import {
  type AsyncLimiter,
  type AsyncStore,
  createLimiter,
  createLimiters,
  fixedWindow,
  type Limiter,
  leakyBucket,
  memoryStore,
  slidingLog,
  tokenBucket,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, expectTypeOf, it } from 'vitest'

const START = 1_745_000_000_000
const bucket = tokenBucket({ capacity: 10, refill: '1/s' })

/** A store that answers later: the memory store behind promises. */
function laterStore(clock: ManualClock): AsyncStore {
  const store = memoryStore({ clock })
  return {
    decide: async (demands) => store.decide(demands),
    peek: async (demands) => store.peek(demands),
    charge: async (demand) => store.charge(demand),
    set: async (limited, remaining) => store.set(limited, remaining),
    refund: async (demand, taken) => store.refund(demand, taken),
    reset: async (name, key) => store.reset(name, key),
    block: async (name, key, durationUs) => store.block(name, key, durationUs),
  }
}

describe('a limiter', () => {
  it('returns values on a store that answers at once', () => {
    const limiter = createLimiter({ limit: bucket, clock: new ManualClock(START) })
    expectTypeOf(limiter).toEqualTypeOf<Limiter>()
    expect(limiter.tryAcquire('user', { cost: 3 })).toEqual({
      allowed: true,
      quota: 10,
      remaining: 7,
      retryAfterMs: 0,
      nextUnitAfterMs: 1_000,
      resetAfterMs: 3_000,
      delayMs: 0,
    })
  })

  it('returns promises on any other store, with the same answers', async () => {
    const clock = new ManualClock(START)
    const sync = createLimiter({ limit: bucket, clock })
    const later = createLimiter({ name: 'later', limit: bucket, store: laterStore(clock) })
    expectTypeOf(later).toEqualTypeOf<AsyncLimiter>()
    for (let i = 0; i < 12; i++) expect(await later.tryAcquire('user')).toEqual(sync.tryAcquire('user'))
    expect(await later.charge('user', { cost: 3 })).toEqual(sync.charge('user', { cost: 3 }))
    clock.advance(7_500)
    expect(await later.refund('user', { cost: 1 })).toEqual(sync.refund('user', { cost: 1 }))
    expect(await later.peek('user')).toEqual(sync.peek('user'))
    await later.block('user', { duration: '5s' })
    sync.block('user', { duration: '5s' })
    expect(await later.peek('user')).toEqual(sync.peek('user'))
    await later.reset('user')
    sync.reset('user')
    expect(await later.peek('user')).toEqual(sync.peek('user'))
    const [one, other] = [await later.reserve('user', { cost: 8 }), sync.reserve('user', { cost: 8 })]
    expect(one.decision).toEqual(other.decision)
    await one.settle(5)
    other.settle(5)
    expect((await later.peek('user')).remaining).toBe(5)
    expect(sync.peek('user').remaining).toBe(5)
    await one.cancel()
    expect((await later.peek('user')).remaining).toBe(5)
  })

  it('rejects instead of throwing on a store that answers later', async () => {
    const later = createLimiter({ name: 'later', limit: bucket, store: laterStore(new ManualClock(START)) })
    await expect(later.tryAcquire('')).rejects.toThrow(/key must be a non-empty string/)
    await expect(later.tryAcquire('user', { cost: -1 })).rejects.toThrow(/cost must be a whole number/)
    await expect(later.block('user', { duration: '0s' })).rejects.toThrow(/duration/)
    const reservation = await later.reserve('user')
    await expect(reservation.settle(1.5)).rejects.toThrow(/actual must be a whole number/)
  })

  it('keeps limiters of different names apart, and shares states between those of the same name', () => {
    const store = memoryStore({ clock: new ManualClock(START) })
    const one = createLimiter({ name: 'one', limit: bucket, store })
    const two = createLimiter({ name: 'two', limit: bucket, store })
    const oneAgain = createLimiter({ name: 'one', limit: tokenBucket({ capacity: 10, refill: '60/m' }), store })
    one.tryAcquire('user', { cost: 4 })
    expect(two.peek('user').remaining).toBe(10)
    expect(oneAgain.peek('user').remaining).toBe(6)
  })
})

describe('limiters by name', () => {
  it('are properties that the compiler knows', () => {
    const limiters = createLimiters({ login: slidingLog({ quota: 5, window: '1m' }), search: bucket })
    expectTypeOf(limiters).toEqualTypeOf<Readonly<Record<'login' | 'search', Limiter>>>()
    expect(limiters.login.name).toBe('login')
    expect(limiters.search.tryAcquire('user').remaining).toBe(9)
    expect(limiters.login.tryAcquire('user').remaining).toBe(4)
    // @ts-expect-error there is no such limiter
    expect(limiters.logout).toBeUndefined()
  })

  it('share the store they are given', async () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock })
    const { a, b } = createLimiters({ a: bucket, b: bucket }, { store })
    a.tryAcquire('user')
    b.tryAcquire('user')
    expect(store.size).toBe(2)
    const later = createLimiters({ a: bucket }, { store: laterStore(clock) })
    expectTypeOf(later.a).toEqualTypeOf<AsyncLimiter>()
    expect((await later.a.tryAcquire('user')).remaining).toBe(9)
  })

  it('may be called __proto__ or constructor', () => {
    const limiters = createLimiters({ constructor: bucket, ['__proto__']: bucket })
    expect(limiters.constructor.tryAcquire('user').remaining).toBe(9)
    expect(Object.keys(limiters).sort()).toEqual(['__proto__', 'constructor'])
  })

  it('are named in the error if they have a bad limit', () => {
    const bad = { algorithm: 'token-bucket', capacity: -1, refill: '1/s' } as const
    expect(() => createLimiters({ good: bucket, search: bad })).toThrow(/search: capacity must be/)
  })
})

describe('a reservation', () => {
  const clock = new ManualClock(START)
  const limiter = createLimiter({ limit: tokenBucket({ capacity: 100, refill: '1/h' }), clock })

  it('gives back what was too much', () => {
    limiter.reserve('a', { cost: 50 }).settle(38)
    expect(limiter.peek('a').remaining).toBe(62)
  })

  it('charges what was too little, into debt if need be', () => {
    limiter.reserve('b', { cost: 50 }).settle(130)
    expect(limiter.peek('b')).toMatchObject({ allowed: false, remaining: 0 })
  })

  it('gives everything back when it is cancelled, once', () => {
    const reservation = limiter.reserve('c', { cost: 50 })
    limiter.tryAcquire('c', { cost: 20 })
    reservation.cancel()
    reservation.cancel()
    reservation.settle(0)
    expect(limiter.peek('c').remaining).toBe(80)
  })

  it('stays taken if it is neither settled nor cancelled', () => {
    limiter.reserve('d', { cost: 50 })
    expect(limiter.peek('d').remaining).toBe(50)
  })

  it('does nothing after a denial', () => {
    const reservation = limiter.reserve('e', { cost: 101 })
    expect(reservation.decision).toMatchObject({ allowed: false, retryAfterMs: Infinity })
    reservation.settle(3)
    reservation.cancel()
    expect(limiter.peek('e').remaining).toBe(100)
  })

  it('remembers its window: units of an earlier window are not given to the next', () => {
    const windows = createLimiter({ limit: fixedWindow({ quota: 10, window: '1m' }), clock })
    const early = windows.reserve('f', { cost: 6 })
    clock.advance(60_000)
    windows.tryAcquire('f', { cost: 3 })
    early.cancel()
    expect(windows.peek('f').remaining).toBe(7)
  })

  it('of a log gives back its own timestamps, not newer ones of others', () => {
    const log = createLimiter({ limit: slidingLog({ quota: 2, window: '1m' }), clock })
    const first = log.reserve('g')
    clock.advance(30_000)
    log.tryAcquire('g')
    first.cancel()
    clock.advance(30_000)
    expect(log.peek('g').remaining).toBe(1)
    clock.advance(30_000)
    expect(log.peek('g').remaining).toBe(2)
  })

  it('of a leaky bucket gives back its slot only while it is the last and has not departed', () => {
    const queue = createLimiter({ limit: leakyBucket({ capacity: 10, drain: '1/s' }), clock })
    const departed = queue.reserve('h')
    const middle = queue.reserve('h')
    const last = queue.reserve('h')
    departed.cancel()
    middle.cancel()
    expect(queue.peek('h').delayMs).toBe(3_000)
    last.cancel()
    expect(queue.peek('h').delayMs).toBe(2_000)
    const again = queue.reserve('h')
    expect(again.decision.delayMs).toBe(2_000)
    clock.advance(2_000)
    again.cancel()
    expect(queue.peek('h').delayMs).toBe(1_000)
  })
})
