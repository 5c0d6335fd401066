/**
 * Rates as people write them: '5/s', '100/m', '0.08/s', '10/250ms'. A rate is an exact fraction, so parsing loses nothing.
 */
import { invalidType, invalidValue } from '../errors.js'
import { checkWritten, durationText, unitOf, withoutSpaces } from './duration.js'

/** `units` every `perUs` microseconds, in lowest terms. */
export interface Rate {
  readonly units: bigint
  readonly perUs: bigint
  /** The shortest text for it: '60/60s' is '60/m'. */
  readonly text: string
}

const RATE = /^(\d{1,15})(?:\.(\d{1,9}))?\/(\d{0,9})([a-z]{1,12})$/i
const WANTED = "a rate such as '5/s', '100/m', '0.08/s' or '10/250ms'"
const LONGEST_PERIOD_US = 36_500n * 86_400_000_000n

/** Reads a rate. The error for a wrong value names `option` and the value. */
export function parseRate(option: string, value: unknown): Rate {
  if (typeof value === 'number') throw invalidType(option, `${WANTED} (a bare number does not say per what)`, value)
  if (typeof value !== 'string') throw invalidType(option, WANTED, value)
  const match = RATE.exec(withoutSpaces(value))
  if (match === null) throw invalidValue(option, WANTED, value)
  const [, whole = '', fraction = '', count, name = ''] = match
  const unit = unitOf(option, name, value)
  const units = BigInt(whole + fraction)
  const periodUs = BigInt(count || 1) * BigInt(unit.us)
  if (units === 0n) throw invalidValue(option, `${WANTED}, above zero`, value)
  if (periodUs === 0n || periodUs > LONGEST_PERIOD_US) throw invalidValue(option, 'a rate per 1ms to 36500d', value)
  checkWritten(option, `${whole}${fraction && `.${fraction}`}/${count}${unit.name}`, value)
  const perUs = periodUs * 10n ** BigInt(fraction.length)
  const divisor = greatestCommonDivisor(units, perUs)
  return { units: units / divisor, perUs: perUs / divisor, text: rateText(whole, fraction, Number(periodUs)) }
}

function rateText(whole: string, fraction: string, periodUs: number): string {
  const decimals = fraction.replace(/0+$/, '')
  const count = whole.replace(/^0+(?=\d)/, '') + (decimals && `.${decimals}`)
  return `${count}/${durationText(periodUs).replace(/^1(?=\D)/, '')}`
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

/**
 * The largest fraction n/d at or below `units`/`perUs` with d at most `largestDenominator`. It walks both sides of the
 * Stern–Brocot tree in strides. The result is never above the rate, so a rounded limit still keeps its law.
 */
export function lowerFraction(rate: Pick<Rate, 'units' | 'perUs'>, largestDenominator: bigint): [bigint, bigint] {
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
