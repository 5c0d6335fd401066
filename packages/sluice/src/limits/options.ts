/** Checks that every limit's options share. An error names the option, the value and what would be right. */
import { InvalidTypeError, invalidType, invalidValue, shown } from '../errors.js'
import type { Alignment } from './limit.js'

/** The largest quota or capacity: whole units stay exact in a float64, with room for a debt of the same size. */
const LARGEST_QUOTA = 1e15

const NO_HABITS: ReadonlyMap<string, string> = new Map()

/** A quota, capacity or similar: a whole number from 1 to `largest`. */
export function checkUnits(option: string, value: unknown, largest = LARGEST_QUOTA): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= largest) return value
  // Not made before it is needed: the first text of this kind takes a process milliseconds.
  const wanted = `a whole number from 1 to ${largest.toLocaleString('en')}`
  throw typeof value === 'number' ? invalidValue(option, wanted, value) : invalidType(option, wanted, value)
}

/** Where windows begin; absent means the epoch. */
export function checkAlign(option: string, value: unknown): Alignment {
  if (value === undefined || value === 'epoch') return 'epoch'
  if (value === 'first') return 'first'
  throw invalidValue(option, "'epoch' or 'first'", value)
}

/**
 * An options object with none but the known names. One that people write out of habit is answered with its advice, and
 * a misspelt one with the nearest.
 */
export function checkNames(
  what: string,
  value: unknown,
  known: readonly string[],
  habits: ReadonlyMap<string, string> = NO_HABITS,
): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidTypeError(`${what} takes an object with ${known.join(', ')}, got ${shown(value)}`)
  }
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue
    const advice = habits.get(name) ?? spellingAdvice(name, known)
    throw new InvalidTypeError(`${what} has no option ${shown(name)}; ${advice}`, { option: name })
  }
  return value as Record<string, unknown>
}

function spellingAdvice(name: string, known: readonly string[]): string {
  const meant = nearest(name, known)
  return meant === undefined ? `it takes ${known.join(', ')}` : `did you mean ${meant}?`
}

/** The known name that a misspelt one is closest to, if any is close. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > 40) return undefined
  let best: string | undefined
  // Of a short name nearly any other would be near.
  const { length } = name
  let bestDistance = (length > 3 ? Math.max(2, Math.floor(length / 3)) : Math.min(1, length - 1)) + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]
}
