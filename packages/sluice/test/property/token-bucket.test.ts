import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createLimiter, InvalidValueError, memoryStore, tokenBucket } from 'sluice'
import { describe, expect, it } from 'vitest'
import { capacities, clockMs, RUNS, rates, type Series, series, tokenBuckets } from './arbitraries.js'
import { type Answered, admitted, askPure, askStore, ExactClock, inOrder, wentForward } from './asking.js'

describe('law 1, token bucket: in any interval of length T at most refill · T + capacity units are admitted', () => {
  it('holds on clocks that stand still, advance by less than a microsecond, and leap', () => {
    fc.assert(
      fc.property(series(tokenBuckets, { back: false }), (asked) => {
        expectLaw(asked, admitted(askPure(asked)))
        expectLaw(asked, admitted(askStore(asked)))
      }),
      RUNS,
    )
  })

  it('holds on clocks that step back, where T is counted from the latest time so far', () => {
    fc.assert(
      fc.property(series(tokenBuckets, { back: true }), (asked) => {
        expectLaw(asked, inOrder(admitted(askPure(asked))))
      }),
      RUNS,
    )
  })

  it('holds in a store on clocks that step back, where T is how far the clock moves forward', () => {
    fc.assert(
      fc.property(series(tokenBuckets, { back: true }), (asked) => {
        expectLaw(asked, admitted(wentForward(askStore(asked))))
      }),
      RUNS,
    )
  })

  it('holds with refunds, which count as not taken', () => {
    const withRefunds = fc.record({
      asked: series(tokenBuckets, { back: false }),
      refunds: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 40, maxLength: 40 }),
    })
    fc.assert(
      fc.property(withRefunds, ({ asked, refunds }) => {
        const clock = new ExactClock(0n)
        const limiter = createLimiter({ limit: asked.given.limit, clock })
        const moves = asked.asks.map(({ us, cost }, i) => {
          clock.us = us
          const taken = limiter.tryAcquire('key', { cost }).allowed ? cost : 0
          const before = limiter.peek('key').remaining
          const given = limiter.refund('key', { cost: refunds[i] }).remaining - before
          return { us, net: BigInt(taken - given) }
        })
        expectBound(asked, moves)
      }),
      RUNS,
    )
  })
})

describe('a new token bucket', () => {
  const anyBucket = fc.record({
    capacity: capacities,
    rate: rates,
    startUs: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2n ** 52n })),
    noiseUs: fc.constantFrom(0, 0.4, -0.4),
  })

  it('admits a burst of exactly its capacity, at any rate and any time', () => {
    fc.assert(
      fc.property(anyBucket, ({ capacity, rate, startUs, noiseUs }) => {
        const limit = countable(() => tokenBucket({ capacity, refill: rate.text }))
        fc.pre(limit !== undefined)
        const limiter = createLimiter({ limit, clock: { now: () => clockMs(startUs, noiseUs) } })
        const cost = Math.ceil(capacity / 60)
        let units = 0
        while (units <= capacity && limiter.tryAcquire('one by one', { cost }).allowed) units += cost
        expect(units).toBe(capacity - (capacity % cost))
        expect(limiter.tryAcquire('at once', { cost: capacity })).toMatchObject({ allowed: true, remaining: 0 })
        expect(limiter.tryAcquire('at once').allowed).toBe(false)
        expect(limiter.tryAcquire('too many', { cost: capacity + 1 })).toMatchObject({ retryAfterMs: Infinity })
      }),
      RUNS,
    )
  })

  it('of capacity 2 at 6/s admits 2 units', () => {
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 2, refill: '6/s' }) })
    expect([1, 2, 3].map(() => limiter.tryAcquire('key').allowed)).toEqual([true, true, false])
  })

  it('admits its capacity for all small capacities and rates, at a time that float64 cannot hold exactly', () => {
    const store = memoryStore({ clock: { now: () => 1_745_000_100_000 + 1 / 3 } })
    for (let capacity = 1; capacity <= 40; capacity++) {
      for (let units = 1; units <= 40; units++) {
        const limit = tokenBucket({ capacity, refill: `${units}/s` })
        let allowed = 0
        while (allowed <= capacity && store.decideOne(`${capacity} at ${units}/s`, limit, 'key', 1).allowed) allowed++
        expect(allowed, `${capacity} at ${units}/s`).toBe(capacity)
      }
    }
  })
})

describe('a rate that float64 cannot count exactly with a capacity', () => {
  it('is never faster than written, and slower by at most a millionth', () => {
    const large = fc.record({ capacity: fc.integer({ min: 1_000_000, max: 10 ** 15 }), rate: rates })
    fc.assert(
      fc.property(large, ({ capacity, rate }) => {
        const limit = countable(() => tokenBucket({ capacity, refill: rate.text }))
        fc.pre(limit !== undefined)
        const limiter = createLimiter({ limit, clock: new ExactClock(1_745_000_100_000_000n) })
        limiter.tryAcquire('key', { cost: capacity })
        const waitUs = BigInt(limiter.tryAcquire('key', { cost: capacity }).retryAfterMs) * 1000n
        const wholeUs = BigInt(capacity) * rate.perUs
        expect(waitUs * rate.units).toBeGreaterThanOrEqual(wholeUs)
        const slowestUs = wholeUs + wholeUs / 999_999n + 1001n * rate.units
        expect((waitUs - 1000n) * rate.units).toBeLessThanOrEqual(slowestUs)
      }),
      RUNS,
    )
  })
})

/** `undefined` if the limit is refused because it cannot be counted. */
function countable<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof InvalidValueError && error.message.includes('cannot be counted')) return undefined
    throw error
  }
}

function expectLaw(asked: Series, taken: readonly Answered[]): void {
  expectBound(
    asked,
    taken.map(({ us, cost }) => ({ us, net: BigInt(cost) })),
  )
}

/** For every i ≤ j: net(i) + … + net(j) ≤ refill · (t(j) − t(i)) + capacity, in whole numbers. */
function expectBound({ given }: Series, moves: readonly { us: bigint; net: bigint }[]): void {
  const { quota, rate } = given
  for (let i = 0; i < moves.length; i++) {
    let sum = 0n
    for (let j = i; j < moves.length; j++) {
      sum += moves[j].net
      const most = rate.units * (moves[j].us - moves[i].us) + quota * rate.perUs
      assert(sum * rate.perUs <= most, `${sum} units from request ${i} to ${j}`)
    }
  }
}
