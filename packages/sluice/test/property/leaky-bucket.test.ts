import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createLimiter, leakyBucket } from 'sluice'
import { describe, expect, it } from 'vitest'
import { type Fraction, fraction, leakyBuckets, RUNS, type Series, series } from './arbitraries.js'
import { type Answered, admitted, askPure, askStore, ExactClock, wentForward } from './asking.js'

describe('law 1, leaky bucket: departures are never closer than cost / drain, to within a microsecond', () => {
  it('holds on clocks that stand still, advance by less than a microsecond, and leap', () => {
    fc.assert(
      fc.property(series(leakyBuckets, { back: false }), (asked) => {
        expectSpaced(asked, admitted(askPure(asked)))
        expectSpaced(asked, admitted(askStore(asked)))
      }),
      RUNS,
    )
  })

  it('holds on clocks that step back', () => {
    fc.assert(
      fc.property(series(leakyBuckets, { back: true }), (asked) => {
        expectSpaced(asked, admitted(askPure(asked)))
      }),
      RUNS,
    )
  })

  it('holds in a store on clocks that step back, counting only how far the clock moves forward', () => {
    fc.assert(
      fc.property(series(leakyBuckets, { back: true }), (asked) => {
        expectSpaced(asked, admitted(wentForward(askStore(asked))))
      }),
      RUNS,
    )
  })

  it('lets no request wait longer than the queue before it takes to drain', () => {
    fc.assert(
      fc.property(series(leakyBuckets, { back: false }), (asked) => {
        const { rate } = asked.given
        let freeAt: Fraction = [0n, 1n]
        for (const { us, cost, decision } of admitted(askPure(asked))) {
          const turn = latest([us, 1n], freeAt)
          const departs = departure(us, decision.delayMs)
          assert(isAtMost(departs, plus(turn, [1n, 1n])))
          freeAt = plus(turn, [BigInt(cost) * rate.perUs, rate.units])
        }
      }),
      RUNS,
    )
  })
})

describe('a burst on an empty leaky bucket', () => {
  it('is admitted up to exactly the capacity: the first request at once, each next one cost / drain later', () => {
    const bursts = fc.record({
      given: leakyBuckets.filter(({ quota }) => quota <= 100n),
      startUs: fc.bigInt({ min: 0n, max: 4n * 10n ** 15n }),
      cost: fc.integer({ min: 1, max: 3 }),
    })
    fc.assert(
      fc.property(bursts, ({ given: { limit, quota, rate }, startUs, cost }) => {
        const limiter = createLimiter({ limit, clock: new ExactClock(startUs) })
        const fitting = Math.floor(Number(quota) / cost)
        for (let i = 0; i < fitting; i++) {
          const { allowed, delayMs } = limiter.tryAcquire('key', { cost })
          assert(allowed)
          const exactMs = Number(BigInt(i * cost) * rate.perUs) / Number(rate.units) / 1000
          assert(Math.abs(delayMs - exactMs) <= 0.001 + exactMs * 1e-12)
        }
        expect(limiter.tryAcquire('key', { cost }).allowed).toBe(false)
      }),
      RUNS,
    )
  })

  it('lets three requests at 10/s leave at 0, 100 and 200 ms', () => {
    const clock = new ExactClock(1_745_000_100_000_000n)
    const limiter = createLimiter({ limit: leakyBucket({ capacity: 3, drain: '10/s' }), clock })
    const decisions = [1, 2, 3, 4].map(() => limiter.tryAcquire('key'))
    expect(decisions.map(({ allowed, delayMs }) => [allowed, delayMs])).toEqual([
      [true, 0],
      [true, 100],
      [true, 200],
      [false, 0],
    ])
  })
})

function expectSpaced({ given: { rate } }: Series, taken: readonly Answered[]): void {
  for (let i = 1; i < taken.length; i++) {
    const before = departure(taken[i - 1].us, taken[i - 1].decision.delayMs)
    const gap: Fraction = [BigInt(taken[i - 1].cost) * rate.perUs, rate.units]
    const soonest = plus(plus(before, gap), [-1n, 1n])
    const departs = departure(taken[i].us, taken[i].decision.delayMs)
    assert(isAtMost(soonest, departs), `departures ${i - 1} and ${i} are too close`)
  }
}

/** When a request leaves, in microseconds. */
function departure(us: bigint, delayMs: number): Fraction {
  const [numerator, denominator] = fraction(delayMs)
  return plus([us, 1n], [numerator * 1000n, denominator])
}

function plus([a, b]: Fraction, [c, d]: Fraction): Fraction {
  return [a * d + c * b, b * d]
}

function isAtMost([a, b]: Fraction, [c, d]: Fraction): boolean {
  return a * d <= c * b
}

function latest(a: Fraction, b: Fraction): Fraction {
  return isAtMost(a, b) ? b : a
}
