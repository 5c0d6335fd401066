import fc from 'fast-check'
import { durationText, durationUs, fixedWindow, parseDuration, parseLimit } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import { RUNS } from '../property/arbitraries.js'
import { adviceOf } from './refusals.js'

const UNIT_US = { ms: 1_000n, s: 1_000_000n, m: 60_000_000n, h: 3_600_000_000n, d: 86_400_000_000n }
const LONGEST_US = 36_500n * UNIT_US.d

describe('a duration', () => {
  it.each([
    ['250ms', 250_000],
    ['1s', 1_000_000],
    ['1.5s', 1_500_000],
    ['1m', 60_000_000],
    ['1h', 3_600_000_000],
    ['30d', 2_592_000_000_000],
    ['1000d', 86_400_000_000_000],
    ['36500d', 3_153_600_000_000_000],
    ['1.001ms', 1_001],
    ['0.001s', 1_000],
    ['007s', 7_000_000],
  ])('%s is %i µs', (value, us) => {
    expect(durationUs('window', value)).toBe(us)
  })

  it.each([
    [1_000, '1ms'],
    [1_500, '1.5ms'],
    [60_000_000, '1m'],
    [90_000_000, '90s'],
    [86_400_000_000, '1d'],
    [1_000_001, '1000.001ms'],
  ])('%i µs is written %s', (us, text) => {
    expect(durationText(us)).toBe(text)
  })

  it('of a fraction of months or years is read exactly, also as part of a limit', () => {
    expect(durationUs('window', '86.0000001d')).toBe(7_430_400_008_640)
    const limit = fixedWindow({ quota: 1, window: '90748419.523207s' })
    expect(parseLimit(JSON.parse(JSON.stringify(limit)))).toEqual(limit)
  })

  it('that is not a whole number of microseconds is an error, however long it is', () => {
    expect(() => durationUs('window', '1.00000001s')).toThrow(RangeError)
    expect(() => durationUs('window', '36499.999999998d')).toThrow(RangeError)
  })

  it('without a unit is an error that says what to write, and both texts are durations', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 6 }), fc.constantFrom(1, 1_000, 60_000), (n, times) => {
        const count = Math.min(n * times, 10 ** 9)
        const advice = `write '${count}s' for seconds or '${durationText(count * 1_000)}' for milliseconds`
        for (const bare of [count, String(count)]) expect(() => durationUs('window', bare)).toThrow(advice)
        expect(durationUs('window', `${count}s`)).toBe(durationUs('window', `${count}ms`) * 1_000)
      }),
    )
  })

  it('with too many decimals is an error that names the nearest duration that can be written', () => {
    fc.assert(
      fc.property(
        fc.nat(300),
        fc.stringMatching(/^[0-9]{10,20}$/),
        fc.constantFrom('s', 'm', 'h'),
        (n, digits, unit) => {
          const text = `${n}.${digits}${unit}`
          const exactUs = (Number(`${n}.${digits}`) * Number(UNIT_US[unit])) as number
          fc.pre(exactUs > 2_000)
          const said = adviceOf(() => durationUs('window', text))
          expect(Math.abs(durationUs('window', said) - exactUs)).toBeLessThan(0.51)
        },
      ),
      RUNS,
    )
  })

  it('from configuration is checked, and returned as its shortest text', () => {
    expect(parseDuration('60000ms')).toBe('1m')
    expect(() => parseDuration(60, 'WINDOW')).toThrow("WINDOW must be a duration such as '250ms'")
    expect(() => parseDuration(undefined)).toThrow('duration must be a duration')
  })

  it('of any whole number of microseconds is the same after it is written and read', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1_000, max: 10 ** 7 }), fc.integer({ min: 1_000, max: Number(LONGEST_US) })),
        (us) => {
          expect(durationUs('window', durationText(us))).toBe(us)
        },
      ),
      RUNS,
    )
  })

  it('has exactly the value of its digits, or is an error if that is not a whole number of microseconds', () => {
    const texts = fc.record({
      whole: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 40_000 })),
      decimals: fc.oneof(
        fc.constant(''),
        fc.stringMatching(/^[0-9]{1,9}$/),
        fc.stringMatching(/^[0-9]{3}(125|25|5|75)0{0,3}$/),
      ),
      unit: fc.constantFrom('ms', 's', 'm', 'h', 'd'),
    })
    fc.assert(
      fc.property(texts, ({ whole, decimals, unit }) => {
        const text = `${whole}${decimals && `.${decimals}`}${unit}`
        const parts = BigInt(`${whole}${decimals}`) * UNIT_US[unit as keyof typeof UNIT_US]
        const scale = 10n ** BigInt(decimals.length)
        if (parts % scale !== 0n || parts < 1_000n * scale || parts > LONGEST_US * scale) {
          expect(() => durationUs('window', text), text).toThrow(RangeError)
        } else expect(BigInt(durationUs('window', text)), text).toBe(parts / scale)
      }),
      { numRuns: 10_000 },
    )
  })
})
