import assert from 'node:assert/strict'
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
import {
  type CountedLimit,
  type Fraction,
  fraction,
  type LimitCase,
  leakyBuckets,
  RUNS,
  rawSteps,
  stepCost,
  stepUs,
  tokenBuckets,
} from './arbitraries.js'
import { ExactClock, probe } from './asking.js'
import { KEY } from './lives.js'

const START_US = 1_745_000_100_000_000n

/** One limit of each algorithm, whose quota may change. */
const MAKERS: Readonly<Record<CountedLimit['algorithm'], (quota: number) => Limit>> = {
  'token-bucket': (capacity) => tokenBucket({ capacity, refill: '2/s' }),
  'leaky-bucket': (capacity) => leakyBucket({ capacity, drain: '2/s' }),
  'fixed-window': (quota) => fixedWindow({ quota, window: '10s' }),
  'sliding-window': (quota) => slidingWindow({ quota, window: '10s', slices: 4 }),
  'sliding-log': (quota) => slidingLog({ quota, window: '10s' }),
  concurrency: (max) => concurrency({ max, ttl: '10s' }),
}

/** Of each algorithm a limit that is whole again within two seconds, and one that takes an hour. */
const SLOWED: Readonly<Record<CountedLimit['algorithm'], readonly [Limit, Limit]>> = {
  'token-bucket': [tokenBucket({ capacity: 5, refill: '5/s' }), tokenBucket({ capacity: 5, refill: '5/h' })],
  'leaky-bucket': [leakyBucket({ capacity: 5, drain: '5/s' }), leakyBucket({ capacity: 5, drain: '5/h' })],
  'fixed-window': [fixedWindow({ quota: 5, window: '1s' }), fixedWindow({ quota: 5, window: '1h' })],
  'sliding-window': [slidingWindow({ quota: 5, window: '1s' }), slidingWindow({ quota: 5, window: '1h' })],
  'sliding-log': [slidingLog({ quota: 5, window: '1s' }), slidingLog({ quota: 5, window: '1h' })],
  concurrency: [concurrency({ max: 5, ttl: '1s' }), concurrency({ max: 5, ttl: '1h' })],
}

const changes = fc.record({
  smaller: fc.integer({ min: 1, max: 20 }),
  more: fc.integer({ min: 1, max: 30 }),
  asks: fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 2_500 }), cost: fc.integer({ min: 1, max: 8 }) }), {
    minLength: 1,
    maxLength: 15,
  }),
  cost: fc.integer({ min: 1, max: 20 }),
})

describe('when the quota of a named limit changes', () => {
  for (const [algorithm, make] of Object.entries(MAKERS)) {
    it(`a raised ${algorithm} never makes a key worse off: no fewer units are left, and no wait is longer`, () => {
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

    const gain = algorithm === 'token-bucket' ? 'starts with the tokens that are left' : 'gives the difference at once'
    it(`a larger quota of a ${algorithm} ${gain}`, () => {
      fc.assert(
        fc.property(changes, ({ smaller, more, asks }) => {
          const store = storeAfter(make(smaller), asks)
          const was = store.decideOne('test', make(smaller), KEY, 0)
          const is = store.decideOne('test', make(smaller + more), KEY, 0)
          const isWhole = was.resetAfterMs === 0
          expect(is.remaining - was.remaining).toBe(algorithm === 'token-bucket' && !isWhole ? 0 : more)
        }),
        RUNS,
      )
    })

    it(`a lowered ${algorithm} applies at once, and is whole no later than before`, () => {
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

    it(`a look or a denial under another quota of a ${algorithm} changes nothing`, () => {
      fc.assert(
        fc.property(changes, fc.boolean(), ({ smaller, more, asks, cost }, isRaised) => {
          const quotas = isRaised ? [smaller, smaller + more] : [smaller + more, smaller]
          const [limit, other] = quotas.map(make)
          const store = storeAfter(limit, asks)
          const was = probe(store, 'test', limit, KEY, cost)
          store.decideOne('test', other, KEY, 0)
          store.decideOne('test', other, KEY, 1_000)
          expect(probe(store, 'test', limit, KEY, cost)).toEqual(was)
        }),
        RUNS,
      )
    })
  }
})

describe('when a named limit becomes slower or faster', () => {
  for (const [algorithm, [fast, slow]] of Object.entries(SLOWED)) {
    const isWindow = 'window' in fast
    it(`a slower ${algorithm} ${isWindow ? 'begins a new count' : 'finds the units that the faster one took'}`, () => {
      expect(remainingAfterDeploy(fast, slow, 100_000n, 0)).toBe(isWindow ? 5 : 0)
    })

    it(`a ${algorithm} is whole when the limit that wrote it last says so`, () => {
      expect(remainingAfterDeploy(fast, slow, 2_000_000n, 0)).toBe(5)
      expect(remainingAfterDeploy(fast, slow, 2_000_000n, 10_000)).toBe(5)
    })

    it(`a changed ${algorithm} states a wait that is long enough`, () => {
      for (const [first, second] of [
        [fast, slow],
        [slow, fast],
      ] as const) {
        const clock = new ExactClock(START_US)
        const store = memoryStore({ clock })
        store.decideOne('test', first, KEY, 5)
        const { allowed, retryAfterMs } = store.decideOne('test', second, KEY, 3)
        if (allowed) continue
        clock.us += BigInt(retryAfterMs) * 1000n
        expect(store.decideOne('test', second, KEY, 3).allowed).toBe(true)
      }
    })
  }
})

describe('when both numbers of a named bucket change', () => {
  const kinds: Readonly<Record<string, Arbitrary<LimitCase>>> = {
    'token bucket': tokenBuckets,
    'leaky bucket': leakyBuckets,
  }

  for (const [kind, limits] of Object.entries(kinds)) {
    it(`a ${kind} without a debt is whole within the new limit's own time to fill`, () => {
      fc.assert(
        fc.property(limits, limits, rawSteps(false), (before, after, steps) => {
          const { clock, store } = started()
          for (const step of steps) {
            clock.us += stepUs(step, before)
            store.decideOne('test', before.limit, KEY, stepCost(step, before))
          }
          const { resetAfterMs } = store.decideOne('test', after.limit, KEY, 0)
          expect(resetAfterMs).toBeLessThanOrEqual(timeOfMs(after, after.quota))
        }),
        RUNS,
      )
    })

    it(`a ${kind} with more capacity and a faster rate never makes a key worse off`, () => {
      fc.assert(
        fc.property(limits, limits, rawSteps(false), (one, other, steps) => {
          const isFaster = one.rate.units * other.rate.perUs >= other.rate.units * one.rate.perUs
          const [before, after] = isFaster ? [other, one] : [one, other]
          fc.pre(after.quota >= before.quota)
          const { clock, store } = started()
          for (const step of steps) {
            clock.us += stepUs(step, before)
            const cost = stepCost(step, before)
            const was = probe(store, 'test', before.limit, KEY, cost)
            const is = probe(store, 'test', after.limit, KEY, cost)
            expect(is.remaining).toBeGreaterThanOrEqual(was.remaining)
            expect(is.retryAfterMs).toBeLessThanOrEqual(was.retryAfterMs)
            store.decideOne('test', before.limit, KEY, cost)
          }
        }),
        RUNS,
      )
    })

    it(`a debt of a ${kind} is a debt of as many units under the new numbers`, () => {
      fc.assert(
        fc.property(limits, limits, fc.integer({ min: 1, max: 1_000 }), (before, after, debt) => {
          // A debt stops growing at 2^50 parts, which take 35 years or more to come back.
          fc.pre([before, after].every(({ rate }) => BigInt(debt) * rate.perUs <= 2n ** 50n))
          const { store } = started()
          store.charge({ name: 'test', limit: before.limit, key: KEY, cost: Number(before.quota) + debt })
          const decision = store.decideOne('test', after.limit, KEY, 0)
          const retryAfterMs = timeOfMs(after, BigInt(debt))
          expect(decision).toMatchObject({ allowed: false, remaining: 0, retryAfterMs })
          expect(decision.resetAfterMs).toBe(timeOfMs(after, after.quota + BigInt(debt)))
        }),
        RUNS,
      )
    })
  }
})

describe('when the numbers of a leaky bucket change', () => {
  it('departures stay cost / faster drain apart if the new capacity is no smaller and the new drain no faster', () => {
    const stepsOf = fc.record({ before: rawSteps(false, 20), after: rawSteps(false, 20) })
    fc.assert(
      fc.property(leakyBuckets, leakyBuckets, stepsOf, (one, other, steps) => {
        const isFaster = one.rate.units * other.rate.perUs >= other.rate.units * one.rate.perUs
        const [before, after] = isFaster ? [one, other] : [other, one]
        fc.pre(after.quota >= before.quota)
        const { clock, store } = started()
        let freeAt: Fraction = [0n, 1n]
        for (const [given, part] of [
          [before, steps.before],
          [after, steps.after],
        ] as const) {
          for (const step of part) {
            clock.us += stepUs(step, before)
            const cost = stepCost(step, given)
            const { allowed, delayMs } = store.decideOne('test', given.limit, KEY, cost)
            if (!allowed || cost === 0) continue
            const [delay, denominator] = fraction(delayMs)
            const departs: Fraction = [clock.us * denominator + delay * 1000n, denominator]
            // A delay is a float64, so departures are exact to a microsecond.
            assert((departs[0] + departs[1]) * freeAt[1] >= freeAt[0] * departs[1], 'a departure is too early')
            const { units, perUs } = before.rate
            freeAt = [departs[0] * units + BigInt(cost) * perUs * departs[1], departs[1] * units]
          }
        }
      }),
      RUNS,
    )
  })

  it('a smaller capacity reads at most its own queue', () => {
    const { store } = started()
    store.decideOne('test', leakyBucket({ capacity: 1_000, drain: '1000/s' }), KEY, 1_000)
    const small = leakyBucket({ capacity: 2, drain: '1/s' })
    expect(store.decideOne('test', small, KEY, 1)).toMatchObject({ allowed: false, retryAfterMs: 1_000 })
  })

  it('a smaller capacity keeps a queue that fits in it', () => {
    const { store } = started()
    const before = createLimiter({ name: 'test', limit: leakyBucket({ capacity: 10, drain: '1/s' }), store })
    const after = createLimiter({ name: 'test', limit: leakyBucket({ capacity: 5, drain: '1/s' }), store })
    expect([1, 2, 3, 4].map(() => before.tryAcquire(KEY).delayMs)).toEqual([0, 1_000, 2_000, 3_000])
    expect(after.tryAcquire(KEY)).toMatchObject({ allowed: true, delayMs: 4_000 })
  })

  it('a larger capacity lets no request wait for more than the queue', () => {
    const { store } = started()
    const before = createLimiter({ name: 'test', limit: leakyBucket({ capacity: 5, drain: '1/s' }), store })
    const after = createLimiter({ name: 'test', limit: leakyBucket({ capacity: 10, drain: '1/s' }), store })
    expect(before.tryAcquire(KEY)).toMatchObject({ allowed: true, delayMs: 0 })
    expect(after.tryAcquire(KEY)).toMatchObject({ allowed: true, delayMs: 1_000 })
  })

  it('a faster drain may overtake departures that were promised under a slower one', () => {
    const { store } = started()
    const [slow, fast] = (['1/s', '10/s'] as const).map((drain) => leakyBucket({ capacity: 10, drain }))
    expect([1, 2, 3].map(() => store.decideOne('test', slow, KEY, 1).delayMs)).toEqual([0, 1_000, 2_000])
    expect(store.decideOne('test', fast, KEY, 1)).toMatchObject({ allowed: true, delayMs: 300 })
  })
})

function started() {
  const clock = new ExactClock(START_US)
  return { clock, store: memoryStore({ clock }) }
}

/** How long a bucket takes to bring so many units, in milliseconds rounded up. */
function timeOfMs({ rate: { units: gain, perUs } }: LimitCase, units: bigint): number {
  return Number((units * perUs + gain * 1000n - 1n) / (gain * 1000n))
}

/** A key is exhausted, the limit becomes slower at once, `others` are served, and later the key comes back. */
function remainingAfterDeploy(fast: Limit, slow: Limit, laterUs: bigint, others: number): number {
  const { clock, store } = started()
  store.decideOne('test', fast, KEY, 5)
  store.decideOne('test', slow, 'other', 1)
  clock.us += laterUs
  for (let i = 0; i < others; i++) store.decideOne('test', slow, `other ${i}`, 1)
  return store.decideOne('test', slow, KEY, 0).remaining
}

/** A store in which a key has made some requests of a limit. */
function storeAfter(limit: Limit, asks: readonly { afterMs: number; cost: number }[]) {
  const { clock, store } = started()
  for (const { afterMs, cost } of asks) {
    clock.us += BigInt(afterMs) * 1000n
    store.decideOne('test', limit, KEY, cost)
  }
  return store
}
