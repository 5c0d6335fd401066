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
    it(`nobody is refilled: what a slower ${algorithm} finds was taken from the faster one before it`, () => {
      expect(remainingAfterDeploy(fast, slow, 100_000n, 0)).toBe(0)
    })

    it(`a ${algorithm} that is whole by the numbers it was taken with is like a key never seen`, () => {
      expect(remainingAfterDeploy(fast, slow, 2_000_000n, 0)).toBe(5)
      expect(remainingAfterDeploy(fast, slow, 2_000_000n, 10_000)).toBe(5)
    })
  }

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
