/**
 * Durations as people write them: '250ms', '1.5s', '1m', '1h', '30d'. Inside, every duration is a whole number of
 * microseconds, which a float64 holds exactly.
 */
import { invalidType, invalidValue } from '../errors.js'

const UNITS = [
  ['d', 86_400_000_000],
  ['h', 3_600_000_000],
  ['m', 60_000_000],
  ['s', 1_000_000],
  ['ms', 1_000],
] as const

/** The units of durations and rates. */
export type TimeUnit = (typeof UNITS)[number][0]

/**
 * A duration: a number and its unit, such as `'250ms'`, `'1m'` or `` `${minutes}m` ``. For a text that the compiler does not
 * know, there is {@link parseDuration}.
 */
export type Duration = `${number}${TimeUnit}`

const UNIT_US: ReadonlyMap<string, number> = new Map(UNITS)

/** Other spellings that people write, by the name used here. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ms: ['msec', 'msecs', 'milli', 'millis', 'millisecond', 'milliseconds'],
    s: ['sec', 'secs', 'second', 'seconds'],
    m: ['min', 'mins', 'minute', 'minutes'],
    h: ['hr', 'hrs', 'hour', 'hours'],
    d: ['day', 'days'],
  }).flatMap(([unit, names]) => names.map((name) => [name, unit] as const)),
)

const DURATION = /^(\d{1,15})(?:\.(\d{1,40}))?([a-z]{1,12})$/i
/** The most decimals of a duration and of a rate. */
export const MOST_DECIMALS = 9
/** The longest duration: 100 years. */
export const LONGEST_DURATION_US = 36_500 * 86_400_000_000
const WANTED = "a duration such as '250ms', '1s', '1m', '1h' or '30d'"
const RANGE = 'from 1ms to 36500d'

/**
 * Reads a duration from configuration, checks it, and returns its shortest text. The error names `option`.
 *
 * @example
 * ```ts
 * import { fixedWindow, parseDuration } from 'sluice'
 *
 * const window = parseDuration(process.env.QUOTA_WINDOW ?? '1m', 'QUOTA_WINDOW')
 * const limit = fixedWindow({ quota: 100, window })
 * ```
 */
export function parseDuration(value: unknown, option = 'duration'): Duration {
  return durationText(durationUs(option, value))
}

/** The microseconds of a duration. The error for a wrong value names `option` and the value. */
export function durationUs(option: string, value: unknown): number {
  if (typeof value === 'number') throw invalidType(option, WANTED, value, unitAdvice(value))
  if (typeof value !== 'string') throw invalidType(option, WANTED, value)
  const match = DURATION.exec(withoutSpaces(value))
  if (match === null) throw invalidValue(option, WANTED, value, BARE.test(value) ? unitAdvice(value) : undefined)
  const [, whole = '', fraction = '', name = ''] = match
  const unit = unitOf(option, name, value)
  // In whole numbers, which may be long: 1.1 * 1e6 is not one in a float64.
  const parts = BigInt(whole + fraction) * BigInt(unit.us)
  const perUs = 10n ** BigInt(fraction.length)
  const us = Number((2n * parts + perUs) / (2n * perUs))
  if (us < 1_000 || us > LONGEST_DURATION_US) throw invalidValue(option, `a duration ${RANGE}`, value)
  const advice = `write '${durationText(us)}'`
  if (fraction.length > MOST_DECIMALS) throw invalidValue(option, 'a duration of at most nine decimals', value, advice)
  if (parts % perUs !== 0n) throw invalidValue(option, 'a whole number of microseconds', value, advice)
  checkWritten(option, `${whole}${fraction && `.${fraction}`}${unit.name}`, value)
  return us
}

/** The shortest text for a number of microseconds: 60,000,000 is '1m', 90,000,000 is '90s'. */
export function durationText(us: number): Duration {
  for (const [unit, unitUs] of UNITS) {
    if (us >= unitUs && us % unitUs === 0) return `${us / unitUs}${unit}`
  }
  return `${us / 1_000}ms`
}

const BARE = /^\d+(\.\d+)?$/

/** Some libraries count in seconds and others in milliseconds, so a number without a unit is never guessed. */
function unitAdvice(bare: number | string): string {
  const texts: string[] = []
  if (isDuration(`${bare}s`)) texts.push(`'${bare}s' for seconds`)
  // The shortest text: 60000 milliseconds are '1m'.
  if (isDuration(`${bare}ms`)) texts.push(`'${parseDuration(`${bare}ms`)}' for milliseconds`)
  return `a bare number has no unit${texts.length === 0 ? '' : `, write ${texts.join(' or ')}`}`
}

function isDuration(text: string): boolean {
  try {
    return durationUs('', text) > 0
  } catch {
    return false
  }
}

/** A text without the spaces in it, unless it is too long to be anything but a mistake. */
export function withoutSpaces(text: string): string {
  return text.length > 60 ? text : text.replace(/\s+/g, '')
}

/** The unit that is meant by a name, also by one that is only out of habit. */
export function unitOf(option: string, written: string, value: string): { readonly name: string; readonly us: number } {
  const lower = written.toLowerCase()
  const name = OTHER_NAMES.get(lower) ?? lower
  const us = UNIT_US.get(name)
  if (us === undefined) throw invalidValue(option, 'in ms, s, m, h or d', value)
  return { name, us }
}

/** Refuses a text that is understood but not written as it should be. Comes last, so that what it says is taken. */
export function checkWritten(option: string, right: string, text: string): void {
  if (text !== right) throw invalidValue(option, `written '${right}'`, text)
}

/**
 * A clock's epoch milliseconds as whole microseconds, the unit of all arithmetic here. A float64 holds every microsecond
 * exactly until the year 2255. Fractions of a millisecond are off by up to 0.2 µs, so they must not be added up.
 */
export function microseconds(epochMs: number): number {
  const us = typeof epochMs === 'number' ? Math.floor(epochMs * 1000 + 0.5) : NaN
  if (us >= 0 && us <= Number.MAX_SAFE_INTEGER) return us
  throw invalidValue('clock.now()', 'epoch milliseconds, a number from 0 to 9,007,199,254,740', epochMs)
}
