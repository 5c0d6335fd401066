/** Checks of single options and arguments. Each throws before anything changes, and says what would be right. */
import { type InvalidTypeError, type InvalidValueError, invalidType, invalidValue, shown } from '../errors.js'

/** The largest quota or capacity: whole units stay exact in a float64, with room for a debt of the same size. */
const LARGEST_QUOTA = 1e15
const LARGEST_COST_TEXT = '9,007,199,254,740,991'

/** A count of which there must be one: a whole number from 1 to `largest`. */
export function checkUnits(option: string, value: unknown, largest = LARGEST_QUOTA): number {
  return checkWhole(option, value, 1, largest)
}

/** The quota or capacity of a limit: a whole number from 0, which denies everything, to `largest`. */
export function checkQuota(option: string, value: unknown, largest = LARGEST_QUOTA): number {
  return checkWhole(option, value, 0, largest)
}

/** A whole number within bounds. */
export function checkWhole(option: string, value: unknown, least: number, largest: number): number {
  // `+ 0` makes 0 of -0, which JSON can contain.
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= largest) return value + 0
  // Formatted only for the error: the first toLocaleString takes a process milliseconds.
  throw wrong('number', option, `a whole number from ${least} to ${largest.toLocaleString('en')}`, value)
}

/** A cost is a safe integer from 0. */
export function checkCost(cost: unknown, option = 'cost'): asserts cost is number {
  if (Number.isSafeInteger(cost) && (cost as number) >= 0) return
  throw wrong('number', option, `a whole number from 0 to ${LARGEST_COST_TEXT}`, cost)
}

/** A key or name is any non-empty string. */
export function checkKey(key: unknown, option = 'key'): asserts key is string {
  if (typeof key === 'string' && key.length > 0) return
  const isId = option === 'key' && (typeof key === 'number' || typeof key === 'bigint')
  throw wrong('string', option, 'a non-empty string', key, isId ? 'write String(id)' : undefined)
}

/** One of a few texts: `checkValue('onFull', value, ['share', 'deny'])`. */
export function checkValue<T extends string>(option: string, value: unknown, choices: readonly T[]): T {
  if (choices.includes(value as T)) return value as T
  const texts = choices.map(shown)
  throw invalidValue(option, `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`, value)
}

/** How long a caller waits at most: milliseconds from 0, `Infinity` included. */
export function checkMaxWaitMs(value: unknown): void {
  if (typeof value === 'number' && value >= 0) return
  throw wrong('number', 'maxWaitMs', 'a number of milliseconds from 0', value)
}

/** An `AbortSignal`, or nothing. */
export function checkSignal(value: unknown): void {
  if (value === undefined || isSignal(value)) return
  throw invalidType('signal', 'an AbortSignal such as AbortSignal.timeout(1000)', value)
}

/** Recognises a signal by its shape, so that signals of other realms and of polyfills are accepted. */
export function isSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener, removeEventListener } = (value ?? {}) as Partial<AbortSignal>
  const canBeWatched = typeof addEventListener === 'function' && typeof removeEventListener === 'function'
  return typeof aborted === 'boolean' && canBeWatched
}

/** A type error for a value of another type than wanted, a value error for a wrong value of the right type. */
function wrong(
  type: 'number' | 'string',
  option: string,
  wanted: string,
  value: unknown,
  advice?: string,
): InvalidTypeError | InvalidValueError {
  const isOfType = type === 'number' ? typeof value === 'number' : typeof value === 'string'
  return isOfType ? invalidValue(option, wanted, value, advice) : invalidType(option, wanted, value, advice)
}
