/**
 * A state in one cell: a time, and 12 bits of detail below it.
 *
 *     word = timeUs · 2^12 + detail        0 ≤ timeUs < 2^51, in microseconds since the store began
 *
 * The limit that wrote the word knows what the detail means. Any other limit knows enough: when `timeUs` has passed, the
 * state is whole. A word of 0 is a state that took nothing. A word with the sign bit is a claim: see `SharedTable`.
 */
export interface StateWord {
  hi: number
  lo: number
}

const DETAIL_BITS = 12

/** How many values the detail has. */
export const DETAILS = 2 ** DETAIL_BITS

/** The largest time that a word holds: 71 years after the store began. */
export const LAST_US = 2 ** 51 - 1

/** A store works for at least this long: 20 years of microseconds. */
export const LIFE_US = 20 * 365.25 * 86_400_000_000

/** Microseconds of one step of the upper half. */
const HI_US = 2 ** (32 - DETAIL_BITS)

export function timeOf(hi: number, lo: number): number {
  return hi * HI_US + (lo >>> DETAIL_BITS)
}

export function detailOf(lo: number): number {
  return lo & (DETAILS - 1)
}

export function setWord(word: StateWord, timeUs: number, detail: number): void {
  const hi = Math.floor(timeUs / HI_US)
  word.hi = hi
  word.lo = ((timeUs - hi * HI_US) << DETAIL_BITS) | detail
}
