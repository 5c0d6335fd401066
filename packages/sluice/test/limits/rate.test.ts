import assert from 'node:assert/strict'
import fc from 'fast-check'
import { tokenBucket } from 'sluice'
import { exactRate, parseRate } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import { lowerFraction } from '../../src/limits/rate.js'
import { RUNS, rates } from '../property/arbitraries.js'
import { adviceOf } from './refusals.js'

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
  ] as const)('%s is written %s, the shortest way that means the same', (long, short) => {
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

  it.each([
    ['0.3333333333/s', '1/3s'],
    ['0.66666666667/s', '2/3s'],
    ['0.0166666666666666/s', '1/m'],
    ['1.3333333333/m', '4/3m'],
    ['0.5000000000/s', '1/2s'],
    ['0.12345678987/s', '0.12345679/s'],
    ['12.34567898765432/s', '12.345678988/s'],
    ['0.00000000001/s', '0.031536/36500d'],
    ['3.3333333333333334e-9/s', '10.512/36500d'],
    ['1.6666666666666667e-7/m', '8.76/36500d'],
  ])('%s has more than nine decimals, and %s is written instead', (text, right) => {
    expect(() => exactRate('refill', text)).toThrow(
      `refill must be a rate of at most nine decimals, got '${text}': write '${right}'`,
    )
    expect(exactRate('refill', right).text).toBe(right)
  })

  it.each([
    [`${1e-7}/s`, '0.0000001/s'],
    [`${2.5e-7}/m`, '0.00000025/m'],
  ])('%s is to be written %s', (text, right) => {
    expect(() => exactRate('refill', text)).toThrow(`refill must be written '${right}', got '${text}'`)
    expect(exactRate('refill', right).text).toBe(right)
  })

  it('with more than nine decimals is an error that names a rate within a millionth of it', () => {
    const period = fc.constantFrom('/s', '/m', '/250ms', '/7h', '/d')
    fc.assert(
      fc.property(fc.nat(100), fc.stringMatching(/^[0-9]{10,20}$/), period, (whole, digits, per) => {
        const [units, scale] = [BigInt(whole + digits), 10n ** BigInt(digits.length)]
        fc.pre(units * 10n ** 7n > scale)
        const said = exactRate(
          'refill',
          adviceOf(() => exactRate('refill', `${whole}.${digits}${per}`)),
        )
        const one = exactRate('refill', `1${per}`)
        const [right, got] = [units * one.units * said.perUs, said.units * one.perUs * scale]
        const gap = right > got ? right - got : got - right
        expect(gap * 1_000_000n <= right).toBe(true)
      }),
      RUNS,
    )
  })

  it('of any small number, as JavaScript writes it, is an error that names a rate within a millionth of it', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-10, max: 9e-7, noNaN: true }), (number) => {
        // With few decimals it is only to be written in another way.
        fc.pre(String(number).length > 10)
        const said = exactRate(
          'refill',
          adviceOf(() => exactRate('refill', `${number}/s`)),
        )
        const perSecond = (Number(said.units) * 1e6) / Number(said.perUs)
        expect(Math.abs(perSecond - number)).toBeLessThanOrEqual(number * 1.1e-6)
      }),
      RUNS,
    )
  })

  it('that is too slow for nine decimals in any period is an error without a proposal', () => {
    expect(() => exactRate('refill', `0.${'0'.repeat(30)}1/s`)).toThrow(/at most nine decimals, got '[^']*'$/)
  })

  it('of any fraction with a small denominator is recognised by its first decimals, cut or rounded', () => {
    const fractions = fc.record({
      n: fc.integer({ min: 1, max: 999 }),
      d: fc.integer({ min: 2, max: 999 }),
      up: fc.boolean(),
    })
    fc.assert(
      fc.property(fractions, ({ n, d, up }) => {
        const digits = (BigInt(n) * 10n ** 12n + (up ? BigInt(d) / 2n : 0n)) / BigInt(d)
        const text = `${digits / 10n ** 12n}.${String(digits % 10n ** 12n).padStart(12, '0')}/s`
        const said = exactRate(
          'refill',
          adviceOf(() => exactRate('refill', text)),
        )
        expect(said.units * BigInt(d) * 1_000_000n).toBe(BigInt(n) * said.perUs)
      }),
      RUNS,
    )
  })

  it('from configuration is checked, and returned as its shortest text', () => {
    expect(parseRate('60/60s')).toBe('60/m')
    expect(() => parseRate(5, 'REFILL')).toThrow("REFILL must be a rate such as '5/s'")
    expect(() => parseRate(undefined)).toThrow('rate must be a rate')
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
