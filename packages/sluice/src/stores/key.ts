import { invalidType, invalidValue } from '../errors.js'

/** A key or name is any non-empty string; anything else is an error, before any state was looked at. */
export function checkKey(key: unknown, option = 'key'): asserts key is string {
  if (typeof key !== 'string') throw invalidType(option, 'a non-empty string', key)
  if (key.length === 0) throw invalidValue(option, 'a non-empty string', key)
}
