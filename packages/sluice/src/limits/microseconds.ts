import { invalidValue } from '../errors.js'

/**
 * A clock's epoch milliseconds as whole microseconds, the unit of all arithmetic here: float64 holds every one of them
 * exactly until the year 2255, while fractions of a millisecond are off by up to 0.2 µs and must not be added up.
 */
export function microseconds(epochMs: number): number {
  const us = typeof epochMs === 'number' ? Math.floor(epochMs * 1000 + 0.5) : NaN
  if (us >= 0 && us <= Number.MAX_SAFE_INTEGER) return us
  throw invalidValue('clock.now()', 'epoch milliseconds, a number from 0 to 9,007,199,254,740', epochMs)
}
