import { InvalidTypeError, shown } from '../errors.js'
import { nearest } from './nearest.js'
import { peerAdvice } from './peer-advice.js'

/**
 * Checks that `value` is an object with known option names only, and returns it. A name that another library uses, or that is
 * misspelt, is answered with the right one.
 */
export function checkOptions(what: string, value: unknown, known: readonly string[]): Record<string, unknown> {
  if (!isObject(value)) {
    throw new InvalidTypeError(`${what} takes an object with ${known.join(', ')}, got ${shown(value)}`)
  }
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue
    const advice = peerAdvice(name, known) ?? spellingAdvice(name, known)
    throw new InvalidTypeError(`${what} has no option ${shown(name)}; ${advice}`, { option: name })
  }
  return value as Record<string, unknown>
}

/** An object that may hold options: any object that is not an array. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function spellingAdvice(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'it takes none'
  const meant = nearest(name, known)
  return meant === undefined ? `it takes ${known.join(', ')}` : `did you mean ${meant}?`
}
