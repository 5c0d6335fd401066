import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  createLimiter,
  fixedWindow,
  leakyBucket,
  memoryStore,
  type Reservation,
  slidingLog,
  slidingWindow,
} from 'sluice'
import { describe, expect, it } from 'vitest'
import { BY_ALGORITHM, fixedWindows, RUNS, series, slidingLogs, slidingWindows, stepCost } from './arbitraries.js'
import { ExactClock } from './asking.js'
import { estimate } from './exact-model.js'
import { KEY, live, lives } from './lives.js'

const wish = fc.record({
  cost: fc.constantFrom(1, 1, 2, 3, -1, -2),
  share: fc.integer({ min: 0, max: 1_000 }),
  actual: fc.integer({ min: 0, max: 2_000 }),
})

describe('law 6: a refund', () => {
  for (const [algorithm, limits] of Object.entries(BY_ALGORITHM)) {
    it(`never makes more than the whole quota of a ${algorithm}`, () => {
      fc.assert(
        fc.property(lives(limits), fc.integer({ min: 0, max: 5 }), (life, cost) => {
          const { limiter } = live(life)
          const refunded = limiter.refund(KEY, { cost: 10 ** 9 + cost })
          fc.pre(refunded.allowed)
          expect(limiter.tryAcquire(KEY, { cost: refunded.remaining }).allowed).toBe(true)
          expect(limiter.tryAcquire(KEY).allowed).toBe(false)
        }),
        RUNS,
      )
    })

    it(`leaves no trace if a reservation of a ${algorithm} is cancelled at once`, () => {
      fc.assert(
        fc.property(lives(limits, { back: false }), wish, (life, { cost, share }) => {
          expectNoTrace(life, cost, share)
        }),
        RUNS,
      )
    })

    it(`leaves no trace if a reservation of a ${algorithm} is cancelled at once, after the clock stepped back`, () => {
      fc.assert(
        fc.property(lives(limits), wish, (life, { cost, share }) => {
          expectNoTrace(life, cost, share)
        }),
        RUNS,
      )
    })

    it(`leaves the real cost taken if a reservation of a ${algorithm} is settled at once`, () => {
      fc.assert(
        fc.property(lives(limits, { back: false }), wish, (life, { cost, share, actual }) => {
          const { limiter, given } = live(life)
          const twin = live(life).limiter
          const estimated = stepCost({ ...NO_STEP, cost, share }, given)
          const real = Math.floor((estimated * actual) / 1_000)
          const reservation = limiter.reserve(KEY, { cost: estimated })
          fc.pre(reservation.decision.allowed)
          reservation.settle(real)
          // The first slot of a leaky bucket departs at once, so it cannot be refunded.
          const departed = algorithm === 'leaky-bucket' && reservation.decision.delayMs === 0
          twin.charge(KEY, { cost: departed ? Math.max(estimated, real) : real })
          expect(limiter.peek(KEY)).toEqual(twin.peek(KEY))
        }),
        RUNS,
      )
    })

    it(`takes effect once: later settlements of a reservation of a ${algorithm} are ignored`, () => {
      fc.assert(
        fc.property(lives(limits), wish, (life, { cost, share, actual }) => {
          const { limiter, given } = live(life)
          const reservation = limiter.reserve(KEY, { cost: stepCost({ ...NO_STEP, cost, share }, given) })
          reservation.settle(actual)
          const settled = limiter.peek(KEY)
          reservation.settle(0)
          reservation.settle(actual + 5)
          reservation.cancel()
          expect(limiter.peek(KEY)).toEqual(settled)
        }),
        RUNS,
      )
    })
  }
})

describe('law 6: a reservation made after the clock stepped back a millisecond', () => {
  it.each([
    fixedWindow({ quota: 5, window: '1s' }),
    slidingWindow({ quota: 5, window: '1s' }),
    slidingLog({ quota: 5, window: '1s' }),
  ])('is refunded by $algorithm if it is cancelled at once', (limit) => {
    const clock = new ExactClock(1_745_000_100_000_000n)
    const limiter = createLimiter({ limit, clock })
    limiter.tryAcquire(KEY)
    clock.us -= 1_000n
    limiter.reserve(KEY, { cost: 3 }).cancel()
    expect(limiter.peek(KEY).remaining).toBe(4)
  })
})

describe('law 6: a demand whose request also took from a state that has seen a later time', () => {
  const ahead = { name: 'ahead', limit: fixedWindow({ quota: 5, window: '1h' }), key: KEY, cost: 1 }
  const storeAhead = () => {
    const clock = new ExactClock(1_745_000_110_000_000n)
    const store = memoryStore({ clock })
    store.decide([ahead])
    clock.us -= 10_000_000n
    return { clock, store }
  }

  it.each([
    slidingWindow({ quota: 5, window: '1s' }),
    slidingLog({ quota: 5, window: '1s' }),
    leakyBucket({ capacity: 5, drain: '1/s' }),
  ])('is refunded by $algorithm', (limit) => {
    const { store } = storeAhead()
    const demand = { name: 'other', limit, key: KEY, cost: 2 }
    store.decide([{ ...demand, cost: 1 }])
    const { takenUs, decisions } = store.decide([ahead, demand])
    const { remaining } = store.refund(demand, { atUs: takenUs[1], cost: 2, delayMs: decisions[1].delayMs })
    expect(remaining).toBe(4)
  })

  it('adds nothing to the next window when it is refunded', () => {
    const { clock, store } = storeAhead()
    const demand = { name: 'other', limit: fixedWindow({ quota: 5, window: '1s' }), key: KEY, cost: 3 }
    const { takenUs } = store.decide([ahead, demand])
    clock.us += 1_000_000n
    store.decide([{ ...demand, cost: 4 }])
    expect(store.refund(demand, { atUs: takenUs[1], cost: 3, delayMs: 0 }).remaining).toBe(1)
  })
})

describe('law 6: units of an earlier window', () => {
  const byEpoch = [fixedWindows, slidingWindows, slidingLogs].map((limits) =>
    limits.filter(({ alignFirst }) => !alignFirst),
  )
  const cancels = fc.array(fc.option(fc.integer({ min: 0, max: 20 })), { minLength: 40, maxLength: 40 })

  it('add nothing to the next: a cancelled request is subtracted where it was counted, and nowhere else', () => {
    fc.assert(
      fc.property(series(fc.oneof(...byEpoch), { back: false }), cancels, ({ given, asks }, cancels) => {
        const clock = new ExactClock(0n)
        const limiter = createLimiter({ limit: given.limit, clock })
        const taken: { us: bigint; cost: bigint; reservation: Reservation }[] = []
        for (const [i, { us, cost }] of asks.entries()) {
          clock.us = us
          const reservation = limiter.reserve(KEY, { cost })
          if (reservation.decision.allowed) taken.push({ us, cost: BigInt(cost), reservation })
          const index = cancels[i]
          if (index !== null && index < taken.length) taken.splice(index, 1)[0].reservation.cancel()
          const left = given.quota * given.windowUs - used(taken, us)
          assert.equal(BigInt(limiter.peek(KEY).remaining), left / given.windowUs)
        }
        function used(history: readonly { us: bigint; cost: bigint }[], us: bigint): bigint {
          if (given.limit.algorithm === 'sliding-window') return estimate(given, history, us)
          const isFixed = given.limit.algorithm === 'fixed-window'
          const start = isFixed ? us - (us % given.windowUs) : us - given.windowUs + 1n
          return given.windowUs * history.reduce((sum, { us, cost }) => (us < start ? sum : sum + cost), 0n)
        }
      }),
      RUNS,
    )
  })

  it('are not refunded: a fixed window adds back only units that it gave itself', () => {
    fc.assert(
      fc.property(fixedWindows, fc.nat(1_000), fc.nat(1_000), fc.nat(2_000), (given, first, second, refund) => {
        const quota = Number(given.quota)
        const clock = new ExactClock(1_745_000_100_000_000n)
        const limiter = createLimiter({ limit: given.limit, clock })
        limiter.tryAcquire(KEY, { cost: Math.min(first, quota) })
        clock.us += given.windowUs
        limiter.tryAcquire(KEY, { cost: Math.min(second, quota) })
        const { remaining } = limiter.refund(KEY, { cost: refund })
        expect(remaining).toBe(quota - Math.max(0, Math.min(second, quota) - refund))
      }),
      RUNS,
    )
  })
})

describe('law 6: a refund of a log', () => {
  it('removes its newest units', () => {
    const refunds = fc.array(fc.integer({ min: -8, max: 8 }), { minLength: 40, maxLength: 40 })
    fc.assert(
      fc.property(series(slidingLogs, { back: false }), refunds, ({ given, asks }, refunds) => {
        const { windowUs, limit } = given
        const clock = new ExactClock(0n)
        const limiter = createLimiter({ limit, clock })
        let times: bigint[] = []
        for (const [i, { us, cost }] of asks.entries()) {
          clock.us = us
          times = times.filter((time) => us - time < windowUs)
          if (limiter.tryAcquire(KEY, { cost }).allowed) times.push(...new Array<bigint>(cost).fill(us))
          const given = Math.max(0, refunds[i])
          const { remaining, resetAfterMs, quota } = limiter.refund(KEY, { cost: given })
          times.splice(Math.max(0, times.length - given))
          assert.equal(remaining, quota - times.length)
          const leftUs = times.length === 0 ? 0n : times[times.length - 1] + windowUs - us
          assert.equal(BigInt(resetAfterMs), (leftUs + 999n) / 1000n)
        }
      }),
      RUNS,
    )
  })
})

describe('law 6: a debt', () => {
  it('of a window ends with the window', () => {
    const limits = fc.oneof(fixedWindows, slidingWindows, slidingLogs)
    fc.assert(
      fc.property(limits, fc.bigInt({ min: 0n, max: 4n * 10n ** 15n }), ({ limit, windowUs, slices }, startUs) => {
        const limiter = createLimiter({ limit, clock: new ExactClock(startUs) })
        const { resetAfterMs, allowed, remaining } = limiter.charge(KEY, { cost: 10 ** 12 })
        // A slice counts in full until the window has passed it, and then in part for a slice's length.
        const longestUs = limit.algorithm === 'sliding-window' ? windowUs + windowUs / slices + 1n : windowUs
        expect([allowed, remaining]).toEqual([false, 0])
        expect(BigInt(resetAfterMs)).toBeLessThanOrEqual(longestUs / 1000n + 1n)
      }),
      RUNS,
    )
  })

  it('of a log is at most its quota', () => {
    const limiter = createLimiter({ limit: slidingLog({ quota: 5, window: '1m' }) })
    limiter.charge(KEY, { cost: 10 ** 12 })
    expect(limiter.refund(KEY, { cost: 5 })).toMatchObject({ allowed: false, remaining: 0 })
    expect(limiter.peek(KEY, { cost: 0 }).allowed).toBe(true)
    expect(limiter.refund(KEY, { cost: 1 })).toMatchObject({ allowed: true, remaining: 1 })
  })

  it('of a fixed window shrinks by refunds, unit by unit', () => {
    const limiter = createLimiter({ limit: fixedWindow({ quota: 5, window: '1d', align: 'first' }) })
    expect(limiter.charge(KEY, { cost: 8 })).toMatchObject({ allowed: false, remaining: 0 })
    expect(limiter.refund(KEY, { cost: 2 })).toMatchObject({ allowed: false, remaining: 0 })
    expect(limiter.refund(KEY, { cost: 2 })).toMatchObject({ allowed: true, remaining: 1 })
  })
})

const NO_STEP = { eighths: 0, offUs: 0, noiseUs: 0 }

function expectNoTrace(life: Parameters<typeof live>[0], cost: number, share: number): void {
  const { limiter, given } = live(life)
  const before = limiter.peek(KEY)
  const reservation = limiter.reserve(KEY, { cost: stepCost({ ...NO_STEP, cost, share }, given) })
  fc.pre(reservation.decision.allowed)
  // The first slot of a leaky bucket departs at once, so it cannot be refunded.
  fc.pre(given.limit.algorithm !== 'leaky-bucket' || reservation.decision.delayMs > 0)
  reservation.cancel()
  expect(limiter.peek(KEY)).toEqual(before)
}
