/**
 * Rates as people write them: '5/s', '100/m', '0.08/s', '10/250ms'. A rate is an exact fraction, so parsing loses nothing.
 */
import { invalidType, invalidValue } from '../errors.js'
import {
  checkWritten,
  type Duration,
  durationText,
  MOST_DECIMALS,
  type TimeUnit,
  unitOf,
  withoutSpaces,
} from './duration.js'

/**
 * A rate: a number of units and the time in which they come or leave, such as `'5/s'`, `'10/250ms'` or `` `${count}/m` ``. For
 * a text that the compiler does not know, there is {@link parseRate}.
 */
export type Rate = `${number}/${TimeUnit}` | `${number}/${Duration}`

/** `units` every `perUs` microseconds, in lowest terms. */
export interface ExactRate {
  readonly units: bigint
  readonly perUs: bigint
  /** The shortest text for it: '60/60s' is '60/m'. */
  readonly text: Rate
}

const RATE = /^(\d{1,15})(?:\.(\d{1,40}))?\/(\d{0,9})([a-z]{1,12})$/i
/** A small number as JavaScript writes it: 1/3e8 is 3.3333333333333334e-9. */
const EXPONENT = /^(\d)(?:\.(\d{1,17}))?e-(\d{1,2})(?=\/)/i
const WANTED = "a rate such as '5/s', '100/m', '0.08/s' or '10/250ms'"
const LONGEST_PERIOD_US = 36_500n * 86_400_000_000n

/**
 * Reads a rate from configuration, checks it, and returns its shortest text. The error names `option`.
 *
 * @example
 * ```ts
 * import { parseRate, tokenBucket } from 'sluice'
 *
 * const refill = parseRate(process.env.REFILL ?? '5/s', 'REFILL')
 * const limit = tokenBucket({ capacity: 20, refill })
 * ```
 */
export function parseRate(value: unknown, option = 'rate'): Rate {
  return exactRate(option, value).text
}

/** Reads a rate as a fraction. The error for a wrong value names `option` and the value. */
export function exactRate(option: string, value: unknown): ExactRate {
  if (typeof value === 'number') throw invalidType(option, WANTED, value, perAdvice(value))
  if (typeof value !== 'string') throw invalidType(option, WANTED, value)
  const match = RATE.exec(withoutSpaces(value).replace(EXPONENT, decimalsOf))
  if (match === null) throw invalidValue(option, WANTED, value)
  const [, whole = '', fraction = '', count, name = ''] = match
  const unit = unitOf(option, name, value)
  const units = BigInt(whole + fraction)
  const periodUs = BigInt(count || 1) * BigInt(unit.us)
  if (units === 0n) throw invalidValue(option, `${WANTED}, above zero`, value)
  if (periodUs === 0n || periodUs > LONGEST_PERIOD_US) throw invalidValue(option, 'a rate per 1ms to 36500d', value)
  if (fraction.length > MOST_DECIMALS) {
    const near = nearestRate(units, 10n ** BigInt(fraction.length), periodUs)
    throw invalidValue(option, 'a rate of at most nine decimals', value, near && `write '${near}'`)
  }
  checkWritten(option, `${whole}${fraction && `.${fraction}`}/${count}${unit.name}`, value)
  const perUs = periodUs * 10n ** BigInt(fraction.length)
  const divisor = greatestCommonDivisor(units, perUs)
  return { units: units / divisor, perUs: perUs / divisor, text: rateText(whole, fraction, periodUs) }
}

function decimalsOf(_exponent: string, digit: string, digits = '', zeros: string): string {
  return `0.${'0'.repeat(Math.max(0, Number(zeros) - 1))}${digit}${digits}`
}

function perAdvice(bare: number): string {
  const [, decimals = ''] = String(bare).split('.')
  const isRate = bare > 0 && RATE.test(`${bare}/s`) && decimals.length <= MOST_DECIMALS
  return `a bare number does not say per what${isRate ? `, write '${bare}/s' for ${bare} a second` : ''}`
}

function rateText(whole: string, fraction: string, periodUs: bigint): Rate {
  const decimals = fraction.replace(/0+$/, '')
  const count = whole.replace(/^0+(?=\d)/, '') + (decimals && `.${decimals}`)
  // The digits of a number, before and after its point, and a duration or its unit alone.
  return `${count}/${durationText(Number(periodUs)).replace(/^1(?=\D)/, '')}` as Rate
}

const LARGEST_SIMPLE = 1_000n
const BILLION = 10n ** 9n
/** So many billionths are exact to a millionth. */
const ENOUGH_BILLIONTHS = 10n ** 6n

/**
 * The rate that is meant by `units` / `scale` every `periodUs`, if it has too many decimals. A fraction whose decimals were
 * cut or rounded is written as that: 0.3333333333/s is '1/3s'. Another rate is rounded to nine decimals, in a longer period
 * if it is very slow.
 */
function nearestRate(units: bigint, scale: bigint, periodUs: bigint): Rate | undefined {
  const [n, d] = lowerFraction({ units: units + 1n, perUs: scale }, LARGEST_SIMPLE)
  if (n > 0n && n * scale >= (units - 1n) * d && periodUs * d <= LONGEST_PERIOD_US)
    return rateText(String(n), '', periodUs * d)
  for (const us of [periodUs, 86_400_000_000n, LONGEST_PERIOD_US]) {
    const divisor = scale * periodUs
    const billionths = (2n * units * us * BILLION + divisor) / (2n * divisor)
    if (billionths >= ENOUGH_BILLIONTHS)
      return rateText(String(billionths / BILLION), String(billionths % BILLION).padStart(MOST_DECIMALS, '0'), us)
  }
  return undefined
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

/**
 * The largest fraction n/d at or below `units`/`perUs` with d at most `largestDenominator`. It walks both sides of the
 * Stern–Brocot tree in strides. The result is never above the rate, so a rounded limit still keeps its law.
 */
export function lowerFraction(rate: Pick<ExactRate, 'units' | 'perUs'>, largestDenominator: bigint): [bigint, bigint] {
  const { units, perUs } = rate
  if (perUs <= largestDenominator) return [units, perUs]
  let [lowNumerator, lowDenominator] = [units / perUs, 1n]
  let [highNumerator, highDenominator] = [lowNumerator + 1n, 1n]
  for (;;) {
    const below = units * lowDenominator - perUs * lowNumerator
    const above = perUs * highNumerator - units * highDenominator
    if (below === 0n) break
    const raise = smaller(below / above, (largestDenominator - lowDenominator) / highDenominator)
    lowNumerator += raise * highNumerator
    lowDenominator += raise * highDenominator
    const stillBelow = units * lowDenominator - perUs * lowNumerator
    if (stillBelow === 0n) break
    const lower = smaller((above - 1n) / stillBelow, (largestDenominator - highDenominator) / lowDenominator)
    highNumerator += lower * lowNumerator
    highDenominator += lower * lowDenominator
    if (raise === 0n && lower === 0n) break
  }
  return [lowNumerator, lowDenominator]
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
