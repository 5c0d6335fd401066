import {
  type AsyncStore,
  concurrency,
  createLimiter,
  createLimiters,
  memoryStore,
  type SyncStore,
  slidingLog,
  tokenBucket,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { FailingStore } from '../../src/testing/failing-store.js'

const START = 1_745_000_000_000
const MINUTE = 60_000
const limit = tokenBucket({ capacity: 5, refill: '1/s' })

function made() {
  const clock = new ManualClock(START)
  return { clock, limiter: createLimiter({ limit, clock, blockFor: '1m' }) }
}

describe('a limiter with blockFor', () => {
  it('denies a key everything from the first denial to the end of the block, and not a millisecond longer', () => {
    const { clock, limiter } = made()
    for (let i = 0; i < 5; i++) expect(limiter.tryAcquire('a').allowed).toBe(true)
    expect(limiter.tryAcquire('a')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: MINUTE })
    clock.advance(MINUTE - 1)
    expect(limiter.tryAcquire('a')).toMatchObject({ allowed: false, retryAfterMs: 1 })
    expect(limiter.tryAcquire('b').allowed).toBe(true)
    clock.advance(1)
    expect(limiter.tryAcquire('a')).toMatchObject({ allowed: true, remaining: 4 })
  })

  it('tells the longer wait if the units are not there when the block ends', () => {
    const clock = new ManualClock(START)
    const limiter = createLimiter({ limit: slidingLog({ quota: 1, window: '1h' }), clock, blockFor: '1m' })
    limiter.tryAcquire('a')
    expect(limiter.tryAcquire('a').retryAfterMs).toBe(60 * MINUTE)
    clock.advance(60 * MINUTE)
    expect(limiter.tryAcquire('a').allowed).toBe(true)
  })

  it('makes one block for any number of denials', () => {
    const { clock, limiter } = made()
    for (let i = 0; i < 40; i++) limiter.tryAcquire('a')
    clock.advance(MINUTE / 2)
    for (let i = 0; i < 40; i++) expect(limiter.tryAcquire('a').retryAfterMs).toBe(MINUTE / 2)
  })

  it('counts a denied reserve, with and without a ttl, and a denied lease', () => {
    const { limiter } = made()
    expect(limiter.reserve('a', { cost: 6 }).decision.allowed).toBe(false)
    expect(limiter.peek('a')).toMatchObject({ allowed: false, retryAfterMs: MINUTE })
    expect(limiter.reserve('b', { cost: 6, ttl: '1s' }).decision.allowed).toBe(false)
    expect(limiter.peek('b')).toMatchObject({ allowed: false, retryAfterMs: MINUTE })
    const places = createLimiter({ limit: concurrency({ max: 1, ttl: '1s' }), blockFor: '1m' })
    const lease = places.lease('a')
    expect(places.lease('a').allowed).toBe(false)
    lease.release()
    expect(places.lease('a').allowed).toBe(false)
  })

  it('counts no peek, charge, refund, settle or extend', () => {
    const { limiter } = made()
    const reservation = limiter.reserve('a')
    reservation.settle(8)
    limiter.peek('a')
    limiter.charge('a')
    limiter.refund('a', { cost: 9 })
    expect(limiter.peek('a')).toMatchObject({ allowed: true, remaining: 5 })
    const clock = new ManualClock(START)
    const places = createLimiter({ limit: concurrency({ max: 1, ttl: '1s' }), blockFor: '1m', clock })
    const lease = places.lease('a')
    places.charge('a')
    expect(lease.extend()).toBe(false)
    clock.advance(1_000)
    expect(places.lease('a').allowed).toBe(true)
  })

  it('a refund and a cancelled reservation do not end a block; reset does, and forgets the offence', () => {
    const clock = new ManualClock(START)
    const limiter = createLimiter({ limit, clock, blockFor: { first: '1m' } })
    const reservation = limiter.reserve('a', { cost: 5 })
    limiter.tryAcquire('a')
    reservation.cancel()
    expect(limiter.peek('a')).toMatchObject({ allowed: false, retryAfterMs: MINUTE })
    limiter.reset('a')
    expect(limiter.tryAcquire('a', { cost: 5 }).allowed).toBe(true)
    expect(limiter.tryAcquire('a').retryAfterMs).toBe(MINUTE)
  })

  it('blocks repeat offenders longer each time, until they are forgotten', () => {
    const clock = new ManualClock(START)
    const blockFor = { first: '1m', factor: 2, most: '3m', forget: '10m' } as const
    const limiter = createLimiter({ limit, clock, blockFor })
    const exceed = () => limiter.tryAcquire('a', { cost: 5 }) && limiter.tryAcquire('a').retryAfterMs / MINUTE
    const lengths = [0, 0, 0, 9, 10].map((waitMinutes) => {
      clock.advance(waitMinutes * MINUTE)
      const length = exceed()
      clock.advance(length * MINUTE)
      return length
    })
    expect(lengths).toEqual([1, 2, 3, 3, 1])
  })

  it('lets a caller of acquire wait: for units without an offence, and for the end of a block', async () => {
    const { clock, limiter } = made()
    limiter.tryAcquire('a', { cost: 5 })
    const waiting = limiter.acquire('a')
    clock.advance(1_000)
    expect((await waiting).allowed).toBe(true)
    expect(limiter.tryAcquire('a').retryAfterMs).toBe(MINUTE)
    const blocked = limiter.acquire('a')
    clock.advance(MINUTE)
    expect((await blocked).allowed).toBe(true)
  })

  it('createLimiters gives the rule to each of its limiters', () => {
    const limiters = createLimiters({ account: limit, address: limit }, { blockFor: '1m' })
    limiters.account.tryAcquire('a', { cost: 6 })
    expect(limiters.account.peek('a').retryAfterMs).toBeGreaterThan(59_000)
    expect(limiters.address.peek('a').allowed).toBe(true)
  })
})

describe('blocks in a memory store', () => {
  it('take room only as long as they are remembered', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 1_000 })
    const blockFor = { first: '1s', most: '2s', forget: '1m' } as const
    const limiter = createLimiter({ name: 'test', limit, store, blockFor })
    for (let i = 0; i < 400; i++) limiter.tryAcquire(`key-${i}`, { cost: 6 })
    expect(store.size).toBe(400)
    clock.advance(61_000)
    for (let i = 0; i < 20_000; i++) limiter.peek('other')
    expect(store.size).toBe(0)
  })

  it('are not made if the store is full: the key is denied for lack of units, and stats say so', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 10 })
    const limiter = createLimiter({ name: 'test', limit, store, blockFor: '1m' })
    for (let i = 0; i < 10; i++) limiter.tryAcquire(`key-${i}`, { cost: 5 })
    expect(limiter.tryAcquire('key-3')).toMatchObject({ allowed: false, retryAfterMs: 1_000 })
    expect(store.stats()).toMatchObject({ keys: 10, refused: 1 })
  })
})

describe('blockFor while a store fails', () => {
  const fail = () => {
    throw new Error('unreachable')
  }

  it.each(['open', 'closed', 'local'] as const)('a block that the store made holds (%s)', (onFailure) => {
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => warnings.mockRestore())
    const clock = new ManualClock(START)
    const failing = new FailingStore(memoryStore({ clock }))
    const limiter = createLimiter({ name: 'test', limit, store: failing.store as SyncStore, blockFor: '1m', onFailure })
    limiter.tryAcquire('a', { cost: 5 })
    limiter.tryAcquire('a')
    failing.failure = fail
    expect(limiter.tryAcquire('a')).toMatchObject({ allowed: false, degraded: onFailure })
    clock.advance(MINUTE - 1)
    expect(limiter.tryAcquire('a').allowed).toBe(false)
    clock.advance(1)
    expect(limiter.tryAcquire('a').allowed).toBe(onFailure !== 'closed')
  })

  it('local limits block too, in this process; the rules open and closed make no block', () => {
    for (const [onFailure, retryAfterMs] of [
      ['local', MINUTE],
      ['closed', 0],
      ['open', 0],
    ] as const) {
      const failing = new FailingStore(memoryStore({ clock: new ManualClock(START) }))
      const limiter = createLimiter({
        name: 'test',
        limit,
        store: failing.store as SyncStore,
        blockFor: '1m',
        onFailure,
      })
      failing.failure = fail
      for (let i = 0; i < 7; i++) limiter.tryAcquire('a')
      if (onFailure === 'local') expect(limiter.tryAcquire('a').retryAfterMs).toBe(retryAfterMs)
      failing.failure = undefined
      expect(limiter.peek('a').allowed).toBe(true)
    }
  })
})

it('a store that answers later keeps the rule if it says so', async () => {
  const inner = memoryStore({ clock: new ManualClock(START) })
  const later: AsyncStore = {
    blocksByRule: true,
    decide: async (demands) => inner.decide(demands),
    peek: async (demands) => inner.peek(demands),
    charge: async (demand) => inner.charge(demand),
    set: async (limited, remaining) => inner.set(limited, remaining),
    refund: async (demand, taken) => inner.refund(demand, taken),
    reset: async (name, key) => inner.reset(name, key),
    block: async (name, key, durationUs) => inner.block(name, key, durationUs),
  }
  const limiter = createLimiter({ name: 'test', limit, store: later, blockFor: '1m' })
  const decisions = await Promise.all(Array.from({ length: 40 }, () => limiter.tryAcquire('a')))
  expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5)
  expect((await limiter.peek('a')).retryAfterMs).toBe(MINUTE)
})
