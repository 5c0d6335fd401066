import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ceilRatio } from '../../src/limits/ceil-ratio.js'

const whole = fc.oneof(
  fc.integer({ min: 1, max: 1_000 }),
  fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  fc.integer({ min: 0, max: 9 }).map((less) => Number.MAX_SAFE_INTEGER - less),
)

describe('a · b / c, rounded up', () => {
  it('is exact for whole numbers below 2^53 whose ratio is below 2^53 too', () => {
    fc.assert(
      fc.property(whole, whole, whole, (a, b, c) => {
        const exact = (BigInt(a) * BigInt(b) + BigInt(c) - 1n) / BigInt(c)
        fc.pre(exact <= BigInt(Number.MAX_SAFE_INTEGER))
        expect(BigInt(ceilRatio(a, b, c))).toBe(exact)
      }),
      { numRuns: 20_000 },
    )
  })

  it('is exact if the ratio is a whole number', () => {
    fc.assert(
      fc.property(whole, whole, fc.integer({ min: -2, max: 2 }), (q, c, off) => {
        const a = Math.min(q + off, Number.MAX_SAFE_INTEGER)
        fc.pre(a > 0)
        expect(BigInt(ceilRatio(a, c, c))).toBe(BigInt(a))
        expect(BigInt(ceilRatio(q, c, q))).toBe(BigInt(c))
      }),
      { numRuns: 20_000 },
    )
  })
})
