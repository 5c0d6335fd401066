import { Worker } from 'node:worker_threads'
import {
  concurrency,
  createLimiter,
  createPolicy,
  createShaper,
  fixedWindow,
  InvalidValueError,
  type Limit,
  leakyBucket,
  memoryStore,
  StoreFullError,
  slidingLog,
  slidingWindow,
  tokenBucket,
  unlimited,
} from 'sluice'
import { sharedStore } from 'sluice/shared'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { tableProblems } from './table-problems.js'

const START = 1_745_000_000_000

describe('a store for threads', () => {
  it('is one store for every object that is attached to its handle', () => {
    const clock = new ManualClock(START)
    const store = sharedStore({ clock, maxKeys: 100 })
    const limit = tokenBucket({ capacity: 3, refill: '1/s' })
    const [one, other] = [store, sharedStore.attach(structuredClone(store.handle), { clock })].map((each) =>
      createLimiter({ name: 'api', limit, store: each, blockFor: '1m' }),
    )
    one.tryAcquire('a')
    expect(other.tryAcquire('a', { cost: 2 }).remaining).toBe(0)
    expect(one.tryAcquire('a')).toMatchObject({ allowed: false, retryAfterMs: 60_000 })
    expect(other.peek('a').retryAfterMs).toBe(60_000)
    other.reset('a')
    expect(one.peek('a').remaining).toBe(3)
    expect(store.size).toBe(2)
  })

  it('says why it refuses a limit, when the limiter, policy or shaper is made', () => {
    const store = sharedStore({ maxKeys: 100 })
    const refused: readonly (readonly [Limit, RegExp])[] = [
      [slidingWindow({ quota: 5, window: '1m' }), /'sliding-window'.*Use a token bucket/],
      [slidingLog({ quota: 5, window: '1m' }), /'sliding-log'.*Use a token bucket/],
      [concurrency({ max: 5, ttl: '1m' }), /'concurrency'.*Use a token bucket/],
      [fixedWindow({ quota: 5, window: '1m', align: 'first' }), /use align: 'epoch', or a token bucket/],
      [fixedWindow({ quota: 10_000_000, window: '1ms' }), /use a quota of at most 1048575/],
      [fixedWindow({ quota: 1, window: '36500d' }), /use a shorter window/],
      [tokenBucket({ capacity: 5, refill: '9999/s' }), /'9999\/s'.*use a rounder rate/],
      [leakyBucket({ capacity: 220, drain: '1/30d' }), /use a smaller capacity or a faster rate/],
    ]
    for (const [limit, why] of refused) {
      expect(() => createLimiter({ name: 'x', limit, store }), JSON.stringify(limit)).toThrow(InvalidValueError)
      expect(() => createLimiter({ name: 'x', limit, store })).toThrow(why)
      expect(() => createPolicy({ name: 'x', levels: [{ name: 'y', limit }], store })).toThrow(why)
    }
    expect(() => createShaper({ name: 'x', drain: '9999/s', capacity: 5, store })).toThrow(/use a rounder rate/)
  })

  it('refuses overrides at run time, which one thread alone would know', () => {
    const levels = [{ name: 'user', key: ['user'], limit: tokenBucket({ capacity: 3, refill: '1/s' }) }] as const
    const policy = createPolicy({ name: 'x', levels, store: sharedStore({ maxKeys: 100 }) })
    expect(() => policy.override('user', 'a', tokenBucket({ capacity: 9, refill: '1/s' }))).toThrow(/override/)
  })

  it('refuses onFailure, because it cannot fail', () => {
    const limit = tokenBucket({ capacity: 3, refill: '1/s' })
    const store = sharedStore({ maxKeys: 100 })
    const why = /onFailure must be left out, for a store in memory cannot fail/
    expect(() => createLimiter({ name: 'x', limit, store, onFailure: 'open' })).toThrow(why)
    expect(() => createShaper({ name: 'x', drain: '1/s', capacity: 5, store, onFailure: 'open' })).toThrow(why)
  })

  it('exempts a key from a level by an override that is unlimited, and cuts another off by a quota of 0', () => {
    const levels = [
      {
        name: 'user',
        key: ['user'],
        limit: tokenBucket({ capacity: 2, refill: '1/s' }),
        overrides: [
          { when: { user: 'partner' }, limit: unlimited() },
          { when: { user: 'guest' }, limit: tokenBucket({ capacity: 0, refill: '1/s' }) },
        ],
      },
    ] as const
    const policy = createPolicy({ name: 'api', levels, store: sharedStore({ maxKeys: 100 }) })
    const admitted = (user: string) => Array.from({ length: 10 }, () => policy.check({ user })).filter((v) => v.allowed)
    expect(['partner', 'guest', 'other'].map((user) => admitted(user).length)).toEqual([10, 0, 2])
    policy.block({ user: 'partner' }, { duration: '1m' })
    expect(policy.check({ user: 'partner' })).toMatchObject({ allowed: false, deniedBy: ['user'] })
  })

  it('starts fresh if the numbers of a limit change', () => {
    const store = sharedStore({ clock: new ManualClock(START), maxKeys: 100 })
    const [before, after] = [5, 8].map((capacity) =>
      createLimiter({ name: 'api', limit: tokenBucket({ capacity, refill: '1/s' }), store }),
    )
    before.tryAcquire('a', { cost: 5 })
    expect(after.peek('a').remaining).toBe(8)
    expect(before.peek('a').remaining).toBe(0)
    after.reset('a')
    expect(before.peek('a').remaining).toBe(5)
  })

  it('gives the entries of keys that are whole to others, and finds every key', () => {
    const clock = new ManualClock(START)
    const store = sharedStore({ clock, maxKeys: 256, onFull: 'deny' })
    const limiter = createLimiter({ name: 'api', limit: tokenBucket({ capacity: 2, refill: '1/s' }), store })
    for (let round = 0; round < 50; round++) {
      for (let i = 0; i < 256; i++) expect(limiter.tryAcquire(`${round}:${i}`).remaining).toBe(1)
      for (let i = 0; i < 256; i++) expect(limiter.peek(`${round}:${i}`).remaining).toBe(1)
      expect(tableProblems(store.handle, Infinity)).toEqual([])
      clock.advance(1_001)
    }
    expect(store.stats()).toMatchObject({ shared: 0, refused: 0 })
    expect(store.stats().dropped).toBeGreaterThan(50 * 256 - 512 - 1)
  })

  it('takes no bad options, and no bad handle', () => {
    expect(() => sharedStore({ maxKeys: 0 })).toThrow(/maxKeys must be a whole number from 1 to 67,108,864, got 0/)
    expect(() => sharedStore({ maxkeys: 5 } as object)).toThrow(/did you mean maxKeys/)
    for (const handle of [undefined, 5, {}, { memory: new SharedArrayBuffer(8) }])
      expect(() => sharedStore.attach(handle as never)).toThrow(/handle must be the handle of a store/)
    const { handle } = sharedStore({ maxKeys: 10 })
    expect(() => sharedStore.attach(handle, { clock: 5 } as never)).toThrow(/clock must be/)
  })
})

describe('a store for threads that is full', () => {
  function fullStore(onFull: 'share' | 'deny') {
    const clock = new ManualClock(START)
    const store = sharedStore({ clock, maxKeys: 32, onFull, seed: [1, 2] })
    const limiter = createLimiter({ name: 'api', limit: tokenBucket({ capacity: 5, refill: '1/s' }), store })
    for (let i = 0; i < 64; i++) limiter.charge(`old:${i}`, { cost: 5 })
    return { clock, store, limiter }
  }

  it('lets new keys share a limited number of states, and counts how often', () => {
    const { store, limiter } = fullStore('share')
    let admitted = 0
    for (let i = 0; i < 50_000; i++) if (limiter.tryAcquire(`new:${i}`).allowed) admitted++
    expect(admitted).toBe(512 * 5)
    expect(store.stats()).toMatchObject({ keys: 64, maxKeys: 32, shared: 50_000, refused: 0 })
    for (let i = 0; i < 64; i++) expect(limiter.peek(`old:${i}`).remaining).toBe(0)
  })

  it("denies new keys with onFull: 'deny', and throws for a block", () => {
    const { store, limiter } = fullStore('deny')
    expect(limiter.tryAcquire('new')).toMatchObject({ allowed: false, quota: 5, remaining: 0, retryAfterMs: 1000 })
    expect(limiter.charge('new').allowed).toBe(false)
    expect(limiter.refund('new').allowed).toBe(false)
    expect(limiter.peek('new').allowed).toBe(false)
    // A denial, and a charge that was lost. A peek and a refund take nothing.
    expect(store.stats()).toMatchObject({ shared: 0, refused: 2 })
    expect(() => limiter.block('new', { duration: '1m' })).toThrow(StoreFullError)
  })

  it('sets keys that have an entry, and throws for others: to set a state that keys share would change them all', () => {
    const { store, limiter } = fullStore('share')
    expect(limiter.set('old:7', { remaining: 3 }).remaining).toBe(3)
    expect(limiter.tryAcquire('old:7').remaining).toBe(2)
    expect(() => limiter.set('new', { remaining: 3 })).toThrow(StoreFullError)
    expect(limiter.peek('new').remaining).toBe(5)
    expect(store.stats()).toMatchObject({ shared: 0, refused: 0 })
  })

  it('keeps no state of unlimited keys, so they need no room', () => {
    const { store } = fullStore('deny')
    const limiter = createLimiter({ name: 'free', limit: unlimited(), store })
    for (let i = 0; i < 1_000; i++) expect(limiter.tryAcquire(`free:${i}`, { cost: 1_000 }).remaining).toBe(Infinity)
    expect(store.stats()).toMatchObject({ keys: 64, shared: 0, refused: 0 })
  })

  it('continues from a copy of the shared state when a key gets room', () => {
    const { clock, limiter } = fullStore('share')
    for (let i = 0; i < 5; i++) expect(limiter.tryAcquire('sharer').allowed).toBe(true)
    clock.advance(1)
    for (let i = 0; i < 64; i++) limiter.reset(`old:${i}`)
    expect(limiter.tryAcquire('sharer')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 999 })
  })
})

describe('the clock of a store for threads', () => {
  it('says the same in every thread, and is not before the time that another thread has read', async () => {
    const store = sharedStore({ maxKeys: 10 })
    const code = `
      const { parentPort, workerData } = require('node:worker_threads')
      import(${JSON.stringify(import.meta.resolve('sluice/shared'))}).then(({ sharedStore }) =>
        parentPort.postMessage(sharedStore.attach(workerData).clock.now()))`
    const before = store.clock.now()
    const told = await new Promise<number>((resolve, reject) => {
      new Worker(code, { eval: true, workerData: store.handle }).once('message', resolve).once('error', reject)
    })
    expect(told).toBeGreaterThanOrEqual(before)
    expect(store.clock.now()).toBeGreaterThanOrEqual(told)
    expect(Math.abs(Date.now() - store.clock.now())).toBeLessThan(60_000)
  })
})

describe('a store for threads beside a memory store', () => {
  it('gives the same decisions to callers of a policy with several levels', () => {
    const clock = new ManualClock(START)
    const levels = [
      { name: 'global', limit: fixedWindow({ quota: 40, window: '10s' }) },
      { name: 'user', key: ['user'], limit: tokenBucket({ capacity: 6, refill: '7/3s' }), blockFor: '2s' },
      { name: 'queue', key: ['user'], limit: leakyBucket({ capacity: 9, drain: '3/s' }), shadow: true },
    ] as const
    const [shared, memory] = [sharedStore({ clock, maxKeys: 100 }), memoryStore({ clock })].map((store) =>
      createPolicy({ name: 'api', levels, store }),
    )
    for (let i = 0; i < 3_000; i++) {
      clock.advance((i * 7_919) % 311)
      const request = { user: `user:${(i * 31) % 7}` }
      expect(shared.check(request, { cost: 1 + (i % 3) })).toEqual(memory.check(request, { cost: 1 + (i % 3) }))
    }
  })
})
