import assert from 'node:assert/strict'
import fc from 'fast-check'
import { tokenBucket } from 'sluice'
import { exactRate } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import { lowerFraction } from '../../src/limits/rate.js'
import { RUNS, rates } from '../property/arbitraries.js'

describe('a rate', () => {
  it.each([
    ['5/s', 5n, 1_000_000n],
    ['100/m', 100n, 60_000_000n],
    ['5/h', 5n, 3_600_000_000n],
    ['1000/d', 1000n, 86_400_000_000n],
    ['10/250ms', 10n, 250_000n],
    ['0.08/s', 8n, 100_000_000n],
    ['1/ms', 1n, 1_000n],
    ['0.000000001/s', 1n, 10n ** 15n],
    ['999999999999999/ms', 999_999_999_999_999n, 1_000n],
    ['1/36500d', 1n, 36_500n * 86_400_000_000n],
  ])('%s is read exactly', (text, units, perUs) => {
    const rate = exactRate('refill', text)
    expect(rate.units * perUs).toBe(units * rate.perUs)
    expect(rate.text).toBe(text)
  })

  it.each([
    ['60/60s', '60/m'],
    ['1/1000ms', '1/s'],
    ['007/s', '7/s'],
    ['2.50/s', '2.5/s'],
    ['5.000/24h', '5/d'],
    ['0.5/90s', '0.5/90s'],
    ['00.5/1s', '0.5/s'],
  ])('%s is written %s, the shortest way that means the same', (long, short) => {
    expect(exactRate('refill', long).text).toBe(short)
    expect(tokenBucket({ capacity: 1, refill: long }).refill).toBe(short)
  })

  it('is the fraction of its text in lowest terms, and is written as a text with the same value', () => {
    fc.assert(
      fc.property(rates, ({ text, units, perUs }) => {
        const rate = exactRate('refill', text)
        expect(rate.units * perUs).toBe(units * rate.perUs)
        expect(greatestCommonDivisor(rate.units, rate.perUs)).toBe(1n)
        expect(exactRate('refill', rate.text)).toEqual(rate)
        expect(rate.text.length).toBeLessThanOrEqual(text.length)
      }),
      RUNS,
    )
  })
})

describe('the largest fraction that is not above a rate', () => {
  it('is the largest of all fractions with small denominators, found by trying them', () => {
    const small = fc.record({
      units: fc.bigInt({ min: 1n, max: 500n }),
      perUs: fc.bigInt({ min: 1n, max: 300n }),
      largest: fc.bigInt({ min: 1n, max: 60n }),
    })
    fc.assert(
      fc.property(small, ({ units, perUs, largest }) => {
        const divisor = greatestCommonDivisor(units, perUs)
        const rate = { units: units / divisor, perUs: perUs / divisor }
        const [n, d] = lowerFraction(rate, largest)
        expect(d >= 1n && d <= largest).toBe(true)
        expect(n * perUs <= units * d).toBe(true)
        for (let other = 1n; other <= largest; other++) {
          const best = (units * other) / perUs
          assert(best * d <= n * other, `${best}/${other} is closer than ${n}/${d}`)
        }
      }),
      { numRuns: 5_000 },
    )
  })

  it('is not above the rate, and no other fraction lies between them, for numbers of any size', () => {
    const large = fc.record({
      units: fc.bigInt({ min: 1n, max: 10n ** 18n }),
      perUs: fc.bigInt({ min: 1n, max: 10n ** 18n }),
      largest: fc.bigInt({ min: 1n, max: 2n ** 50n }),
    })
    fc.assert(
      fc.property(large, ({ units, perUs, largest }) => {
        const divisor = greatestCommonDivisor(units, perUs)
        const rate = { units: units / divisor, perUs: perUs / divisor }
        const [n, d] = lowerFraction(rate, largest)
        expect(d >= 1n && d <= largest).toBe(true)
        // The next fraction with such a denominator is 1/(d · other) larger, where other > largest − d.
        const below = rate.units * d - rate.perUs * n
        expect(below >= 0n).toBe(true)
        expect(below * (largest - d + 1n) < rate.perUs).toBe(true)
      }),
      RUNS,
    )
  })

  it('is the rate itself if its denominator fits', () => {
    expect(lowerFraction({ units: 7n, perUs: 1_000n }, 1_000n)).toEqual([7n, 1_000n])
    expect(lowerFraction({ units: 7n, perUs: 1_000n }, 999n)).toEqual([1n, 143n])
  })
})

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b)
}
