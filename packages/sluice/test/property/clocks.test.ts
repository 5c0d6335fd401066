import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createLimiter, tokenBucket } from 'sluice'
import { microseconds } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import { type Fraction, fraction, RUNS, tokenBuckets } from './arbitraries.js'

describe('a clock in fractions of a millisecond', () => {
  it('is read to the microsecond, at any time until the year 2109', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 2 ** 42, noNaN: true }), (ms) => {
        const [numerator, denominator] = fraction(ms)
        const off = 1000n * numerator - BigInt(microseconds(ms)) * denominator
        expect((off < 0n ? -off : off) < denominator).toBe(true)
      }),
      RUNS,
    )
  })

  it('keeps every whole microsecond, until the year 2109', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 42 * 1000 }), (us) => {
        expect(microseconds(us / 1000)).toBe(us)
      }),
      RUNS,
    )
  })

  it('never makes a bucket admit more than refill · T + capacity, to within a microsecond', () => {
    const ticks = fc.record({
      given: tokenBuckets,
      startMs: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 2 ** 41, noNaN: true })),
      // Sums of such steps are off by an unpredictable last bit, as performance.now() is.
      stepsMs: fc.array(fc.oneof(fc.constantFrom(0.1, 1 / 3, 1e-4, 0), fc.double({ min: 0, max: 50, noNaN: true })), {
        minLength: 1,
        maxLength: 60,
        size: 'max',
      }),
    })
    fc.assert(
      fc.property(ticks, ({ given: { limit, quota, rate }, startMs, stepsMs }) => {
        let nowMs = startMs
        const limiter = createLimiter({ limit, clock: { now: () => nowMs } })
        const taken: Fraction[] = []
        for (const stepMs of stepsMs) {
          nowMs += stepMs
          if (limiter.tryAcquire('key').allowed) taken.push(fraction(nowMs))
        }
        for (const [i, [n1, d1]] of taken.entries()) {
          for (const [j, [n2, d2]] of taken.entries()) {
            if (j < i) continue
            // (j − i + 1) ≤ units / perUs · (1000 · (n2/d2 − n1/d1) + 1) + capacity
            const elapsed = 1000n * (n2 * d1 - n1 * d2) + d1 * d2
            const most = rate.units * elapsed + quota * rate.perUs * d1 * d2
            assert(BigInt(j - i + 1) * rate.perUs * d1 * d2 <= most, `too many from ${i} to ${j}`)
          }
        }
      }),
      RUNS,
    )
  })

  it('loses nothing by small steps: ten thousand steps of 0.1 µs are a millisecond', () => {
    let nowMs = 1_000
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/ms' }), clock: { now: () => nowMs } })
    limiter.tryAcquire('key')
    let steps = 0
    while (steps < 20_000 && !limiter.tryAcquire('key').allowed) nowMs = 1_000 + ++steps / 10_000
    expect(steps).toBeGreaterThanOrEqual(9_990)
    expect(steps).toBeLessThanOrEqual(10_000)
  })

  it('must show a time: any other value is an error, and the request takes nothing', () => {
    let nowMs: unknown = 1_000
    const limiter = createLimiter({
      limit: tokenBucket({ capacity: 5, refill: '1/s' }),
      clock: { now: () => nowMs as number },
    })
    limiter.tryAcquire('key')
    for (const wrong of [Number.NaN, Infinity, -Infinity, -1, 2 ** 53, undefined]) {
      nowMs = wrong
      expect(() => limiter.tryAcquire('key'), String(wrong)).toThrow(/clock\.now\(\) must be epoch milliseconds/)
    }
    nowMs = 1_000
    expect(limiter.peek('key').remaining).toBe(4)
  })
})
