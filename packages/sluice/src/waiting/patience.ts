/** How long a caller waits at most, as it says in its options. */
import { invalidType, invalidValue } from '../errors.js'

/** By its shape: signals of other realms and of polyfills are as good. */
export function isSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener, removeEventListener } = (value ?? {}) as Partial<AbortSignal>
  const canBeWatched = typeof addEventListener === 'function' && typeof removeEventListener === 'function'
  return typeof aborted === 'boolean' && canBeWatched
}

export function checkSignal(value: unknown): void {
  if (value === undefined || isSignal(value)) return
  throw invalidType('signal', 'an AbortSignal such as AbortSignal.timeout(1000)', value)
}

export function checkMaxWaitMs(value: unknown): void {
  const wanted = 'a number of milliseconds from 0'
  if (typeof value !== 'number') throw invalidType('maxWaitMs', wanted, value)
  if (!(value >= 0)) throw invalidValue('maxWaitMs', wanted, value)
}
