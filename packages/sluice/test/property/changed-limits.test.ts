import fc, { type Arbitrary } from 'fast-check'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  type Limit,
  leakyBucket,
  memoryStore,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'
import { describe, expect, it } from 'vitest'
import { RUNS } from './arbitraries.js'
import { ExactClock, probe } from './asking.js'
import { KEY } from './lives.js'

const MAKERS: Readonly<Record<Limit['algorithm'], (quota: number) => Limit>> = {
  'token-bucket': (capacity) => tokenBucket({ capacity, refill: '2/s' }),
  'leaky-bucket': (capacity) => leakyBucket({ capacity, drain: '2/s' }),
  'fixed-window': (quota) => fixedWindow({ quota, window: '10s' }),
  'sliding-window': (quota) => slidingWindow({ quota, window: '10s', slices: 4 }),
  'sliding-log': (quota) => slidingLog({ quota, window: '10s' }),
  concurrency: (max) => concurrency({ max, ttl: '10s' }),
}

/** The same algorithm that is whole again within two seconds, and one that takes an hour. */
const SLOWED: Readonly<Record<Limit['algorithm'], readonly [Limit, Limit]>> = {
  'token-bucket': [tokenBucket({ capacity: 5, refill: '5/s' }), tokenBucket({ capacity: 5, refill: '5/h' })],
  'leaky-bucket': [leakyBucket({ capacity: 5, drain: '5/s' }), leakyBucket({ capacity: 5, drain: '5/h' })],
  'fixed-window': [fixedWindow({ quota: 5, window: '1s' }), fixedWindow({ quota: 5, window: '1h' })],
  'sliding-window': [slidingWindow({ quota: 5, window: '1s' }), slidingWindow({ quota: 5, window: '1h' })],
  'sliding-log': [slidingLog({ quota: 5, window: '1s' }), slidingLog({ quota: 5, window: '1h' })],
  concurrency: [concurrency({ max: 5, ttl: '1s' }), concurrency({ max: 5, ttl: '1h' })],
}

describe('when the numbers of a named limit change', () => {
  const changes = fc.record({
    smaller: fc.integer({ min: 1, max: 20 }),
    more: fc.integer({ min: 1, max: 30 }),
    asks: fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 2_500 }), cost: fc.integer({ min: 1, max: 8 }) }), {
      minLength: 1,
      maxLength: 15,
    }),
    cost: fc.integer({ min: 1, max: 20 }),
  })

  for (const [algorithm, make] of Object.entries(MAKERS)) {
    it(`a raised ${algorithm} helps at once: no less is left, and no wait is longer`, () => {
      fc.assert(
        fc.property(changes, ({ smaller, more, asks, cost }) => {
          const [before, after] = [make(smaller), make(smaller + more)]
          const store = storeAfter(before, asks)
          const asked = Math.min(cost, smaller)
          const was = probe(store, 'test', before, KEY, asked)
          const is = probe(store, 'test', after, KEY, asked)
          expect(is.remaining).toBeGreaterThanOrEqual(was.remaining)
          expect(is.retryAfterMs).toBeLessThanOrEqual(was.retryAfterMs)
          if (was.allowed) expect(is.delayMs).toBeLessThanOrEqual(was.delayMs)
        }),
        RUNS,
      )
    })

    it(`a lowered ${algorithm} applies at once, and locks nobody out for longer than it takes to fill`, () => {
      fc.assert(
        fc.property(changes, ({ smaller, more, asks }) => {
          const [before, after] = [make(smaller + more), make(smaller)]
          const store = storeAfter(before, asks)
          const was = store.decideOne('test', before, KEY, 0)
          const is = store.decideOne('test', after, KEY, 0)
          expect(is.remaining).toBeLessThanOrEqual(Math.min(was.remaining, smaller))
          expect(is.resetAfterMs).toBeLessThanOrEqual(was.resetAfterMs)
        }),
        RUNS,
      )
    })
  }

  it('nobody is refilled: a change there and back leaves no more than there was', () => {
    const limits: Arbitrary<(quota: number) => Limit> = fc.constantFrom(...Object.values(MAKERS))
    fc.assert(
      fc.property(changes, limits, ({ smaller, more, asks }, make) => {
        const [before, between] = [make(smaller), make(smaller + more)]
        const store = storeAfter(before, asks)
        const was = store.decideOne('test', before, KEY, 0)
        store.decideOne('test', between, KEY, 0)
        expect(store.decideOne('test', before, KEY, 0).remaining).toBeLessThanOrEqual(was.remaining)
      }),
      RUNS,
    )
  })

  for (const [algorithm, [fast, slow]] of Object.entries(SLOWED)) {
    const isWindow = 'window' in fast
    it(`a slower ${algorithm} ${isWindow ? 'begins a new count' : 'finds the units that the faster one took'}`, () => {
      expect(remainingAfterDeploy(fast, slow, 100_000n, 0)).toBe(isWindow ? 5 : 0)
    })

    it(`a ${algorithm} is whole when the limit that wrote it last says so`, () => {
      expect(remainingAfterDeploy(fast, slow, 2_000_000n, 0)).toBe(5)
      expect(remainingAfterDeploy(fast, slow, 2_000_000n, 10_000)).toBe(5)
    })

    it(`a wait that a changed ${algorithm} tells is never too short`, () => {
      for (const [first, second] of [
        [fast, slow],
        [slow, fast],
      ] as const) {
        const clock = new ExactClock(1_745_000_100_000_000n)
        const store = memoryStore({ clock })
        store.decideOne('test', first, KEY, 5)
        const { allowed, retryAfterMs } = store.decideOne('test', second, KEY, 3)
        if (allowed) continue
        clock.us += BigInt(retryAfterMs) * 1000n
        expect(store.decideOne('test', second, KEY, 3).allowed).toBe(true)
      }
    })
  }

  it('two versions of a bucket side by side admit at most the larger burst and the faster rate', () => {
    const buckets = fc.record({
      capacity: fc.integer({ min: 1, max: 30 }),
      refill: fc.constantFrom('1/s', '3/s', '7/m', '10/250ms'),
    })
    const asks = fc.array(
      fc.record({
        afterMs: fc.constantFrom(0, 0, 0, 1, 100, 900, 5_000),
        second: fc.boolean(),
        cost: fc.integer({ min: 0, max: 6 }),
      }),
      { minLength: 1, maxLength: 60 },
    )
    fc.assert(
      fc.property(buckets, buckets, asks, (one, other, asks) => {
        const clock = new ExactClock(1_745_000_100_000_000n)
        const store = memoryStore({ clock })
        const limits = [tokenBucket(one), tokenBucket(other)]
        const burst = Math.max(one.capacity, other.capacity)
        const perMs = Math.max(unitsPerMs(one.refill), unitsPerMs(other.refill))
        // The most that one bucket of the larger capacity and the faster rate could have left, step by step.
        let left = burst
        for (const { afterMs, second, cost } of asks) {
          clock.us += BigInt(afterMs) * 1000n
          left = Math.min(burst, left + afterMs * perMs)
          if (store.decideOne('test', limits[second ? 1 : 0], KEY, cost).allowed) left -= cost
          // A state that is whole for the smaller bucket is whole: the larger one then starts fresh, once.
          expect(left).toBeGreaterThanOrEqual(-burst - 1e-6)
        }
      }),
      RUNS,
    )
  })

  it('two windows side by side admit at most both quotas', () => {
    const store = memoryStore({ clock: new ExactClock(1_745_000_100_000_000n) })
    const [one, other] = [fixedWindow({ quota: 5, window: '1h' }), fixedWindow({ quota: 3, window: '2h' })]
    let admitted = 0
    for (let i = 0; i < 50; i++)
      for (const limit of [one, other]) if (store.decideOne('test', limit, KEY, 1).allowed) admitted++
    expect(admitted).toBe(8)
  })

  it('a count is compared with the quota of the limit that asks', () => {
    const store = memoryStore({ clock: new ExactClock(1_745_000_100_000_000n) })
    const [small, large] = [fixedWindow({ quota: 5, window: '1h' }), fixedWindow({ quota: 8, window: '1h' })]
    store.decideOne('test', large, KEY, 6)
    expect(store.decideOne('test', small, KEY, 0)).toMatchObject({ allowed: false, remaining: 0 })
    expect(store.decideOne('test', large, KEY, 2).allowed).toBe(true)
    expect(store.decideOne('test', large, KEY, 1).allowed).toBe(false)
  })

  it('a leaky bucket with a smaller capacity reads at most its own queue, and a debt stays a debt', () => {
    const clock = new ExactClock(1_745_000_100_000_000n)
    const store = memoryStore({ clock })
    const [large, small] = [
      leakyBucket({ capacity: 1_000, drain: '1000/s' }),
      leakyBucket({ capacity: 2, drain: '1/s' }),
    ]
    store.decideOne('queue', large, KEY, 1_000)
    expect(store.decideOne('queue', small, KEY, 1)).toMatchObject({ allowed: false, retryAfterMs: 1_000 })
    store.charge({ name: 'debt', limit: large, key: KEY, cost: 1_003 })
    expect(store.decideOne('debt', small, KEY, 1)).toMatchObject({ allowed: false, retryAfterMs: 4_000 })
  })

  it('a leaky bucket whose capacity is lowered keeps its queue: departures are still cost / drain apart', () => {
    const clock = new ExactClock(1_745_000_100_000_000n)
    const store = memoryStore({ clock })
    const before = createLimiter({ name: 'test', limit: leakyBucket({ capacity: 10, drain: '1/s' }), store })
    const after = createLimiter({ name: 'test', limit: leakyBucket({ capacity: 5, drain: '1/s' }), store })
    expect([1, 2, 3, 4].map(() => before.tryAcquire(KEY).delayMs)).toEqual([0, 1_000, 2_000, 3_000])
    expect(after.tryAcquire(KEY)).toMatchObject({ allowed: true, delayMs: 4_000 })
  })

  it('a leaky bucket whose capacity is raised lets nobody wait for a queue that is not there', () => {
    const clock = new ExactClock(1_745_000_100_000_000n)
    const store = memoryStore({ clock })
    const before = createLimiter({ name: 'test', limit: leakyBucket({ capacity: 5, drain: '1/s' }), store })
    const after = createLimiter({ name: 'test', limit: leakyBucket({ capacity: 10, drain: '1/s' }), store })
    expect(before.tryAcquire(KEY)).toMatchObject({ allowed: true, delayMs: 0 })
    expect(after.tryAcquire(KEY)).toMatchObject({ allowed: true, delayMs: 1_000 })
  })
})

/** An exhausted key; the limit is slowed at once; `others` are served; some time later the key comes back. */
function remainingAfterDeploy(fast: Limit, slow: Limit, laterUs: bigint, others: number): number {
  const clock = new ExactClock(1_745_000_100_000_000n)
  const store = memoryStore({ clock })
  store.decideOne('test', fast, KEY, 5)
  store.decideOne('test', slow, 'other', 1)
  clock.us += laterUs
  for (let i = 0; i < others; i++) store.decideOne('test', slow, `other ${i}`, 1)
  return store.decideOne('test', slow, KEY, 0).remaining
}

/** '3/s' is 0.003 units a millisecond. */
function unitsPerMs(rate: string): number {
  const [count, period] = rate.split('/')
  return Number(count) / ({ s: 1_000, m: 60_000, '250ms': 250 }[period] ?? Number.NaN)
}

/** A store in which a key has made some requests of a limit. */
function storeAfter(limit: Limit, asks: readonly { afterMs: number; cost: number }[]) {
  const clock = new ExactClock(1_745_000_100_000_000n)
  const store = memoryStore({ clock })
  for (const { afterMs, cost } of asks) {
    clock.us += BigInt(afterMs) * 1000n
    store.decideOne('test', limit, KEY, cost)
  }
  return store
}
