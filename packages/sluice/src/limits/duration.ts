/**
 * Lengths of time as people write them: '250ms', '1.5s', '1m', '1h', '30d', or a number of milliseconds. Inside, every
 * length is a whole number of microseconds, which a float64 holds exactly.
 */
import { invalidType, invalidValue } from '../errors.js'

const UNITS = [
  ['d', 86_400_000_000],
  ['h', 3_600_000_000],
  ['m', 60_000_000],
  ['s', 1_000_000],
  ['ms', 1_000],
] as const

const UNIT_US: ReadonlyMap<string, number> = new Map(UNITS)

/** What people write out of habit, and what it is called here. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ms: ['msec', 'msecs', 'milli', 'millis', 'millisecond', 'milliseconds'],
    s: ['sec', 'secs', 'second', 'seconds'],
    m: ['min', 'mins', 'minute', 'minutes'],
    h: ['hr', 'hrs', 'hour', 'hours'],
    d: ['day', 'days'],
  }).flatMap(([unit, names]) => names.map((name) => [name, unit] as const)),
)

const DURATION = /^(\d{1,15})(?:\.(\d{1,9}))?([a-z]{1,12})$/i
const LONGEST_US = 36_500 * 86_400_000_000
const WANTED = "a duration such as '250ms', '1s', '1m', '1h' or '30d', or a whole number of milliseconds"
const RANGE = 'from 1ms to 36500d'

/** A length of time: a text such as `'1m'`, or a whole number of milliseconds. */
export type Duration = string | number

/** The microseconds of a duration; an error names `option` and the value when it is not one. */
export function durationUs(option: string, value: unknown): number {
  const us = typeof value === 'number' ? numberUs(option, value) : textUs(option, value)
  if (us < 1_000 || us > LONGEST_US) throw invalidValue(option, `a duration ${RANGE}`, value)
  return us
}

/** The shortest way to write so many microseconds: 60,000,000 is '1m', 90,000,000 is '90s'. */
export function durationText(us: number): string {
  for (const [unit, unitUs] of UNITS) {
    if (us >= unitUs && us % unitUs === 0) return `${us / unitUs}${unit}`
  }
  return `${us / 1_000}ms`
}

function numberUs(option: string, ms: number): number {
  if (!Number.isSafeInteger(ms)) throw invalidValue(option, WANTED, ms)
  return ms * 1_000
}

function textUs(option: string, value: unknown): number {
  if (typeof value !== 'string') throw invalidType(option, WANTED, value)
  const match = DURATION.exec(value)
  if (match === null) throw invalidValue(option, withoutSpaces(value, DURATION) ?? WANTED, value)
  const [, whole = '', fraction = '', unit = ''] = match
  const perUnitUs = unitUs(option, unit, value, (name) => `${whole}${fraction && `.${fraction}`}${name}`)
  // In whole numbers, which may be long: 1.1 * 1e6 is not one in a float64.
  const parts = BigInt(whole + fraction) * BigInt(perUnitUs)
  const perUs = 10n ** BigInt(fraction.length)
  if (parts % perUs !== 0n) throw invalidValue(option, 'a whole number of microseconds', value)
  return Number(parts / perUs)
}

/** How to write a text that would be right but for the spaces in it. */
export function withoutSpaces(text: string, pattern: RegExp): string | undefined {
  const written = text.length > 60 ? text : text.replace(/\s+/g, '')
  return written !== text && pattern.test(written) ? `written '${written}'` : undefined
}

/** The microseconds of a unit; an unknown one is an error that says how to write it, if that can be guessed. */
export function unitUs(option: string, unit: string, value: unknown, written: (unit: string) => string): number {
  const us = UNIT_US.get(unit)
  if (us !== undefined) return us
  const meant =
    OTHER_NAMES.get(unit.toLowerCase()) ?? (UNIT_US.has(unit.toLowerCase()) ? unit.toLowerCase() : undefined)
  const advice = meant === undefined ? 'in ms, s, m, h or d' : `written '${written(meant)}'`
  throw invalidValue(option, advice, value)
}
