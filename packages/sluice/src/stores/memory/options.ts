import type { Clock } from '../../clock.js'
import { invalidType, invalidValue } from '../../errors.js'
import { checkNames, checkUnits } from '../../limits/options.js'

/** Options of a memory store. */
export interface MemoryStoreOptions {
  /** The most keys that have a state of their own: a whole number from 1 to 2^30. Default 2^24. */
  readonly maxKeys?: number
  /**
   * What happens to a new key when `maxKeys` have a state and none of those can be forgotten without loss. `'share'`
   * (default): it shares one of 1,024 states with other such keys. `'deny'`: it is denied.
   */
  readonly onFull?: 'share' | 'deny'
  /** Tells the time. Default: the process's clock, which never steps back. */
  readonly clock?: Clock
  /**
   * The most timestamps that sliding logs and concurrency limits hold together, where each key counts as three more: a
   * whole number from 1. A request that needs more is denied. Default 2^24, which is 128 MiB.
   */
  readonly maxLogTimestamps?: number
  /** Two 32-bit numbers that key the hash. Default: random ones. For tests that want the same table twice. */
  readonly seed?: readonly [number, number]
}

const MOST_KEYS = 2 ** 30

/** The options, each checked, with what they are when absent. */
export function checkMemoryStoreOptions(options: MemoryStoreOptions) {
  const given = checkNames('memoryStore', options, ['maxKeys', 'onFull', 'clock', 'maxLogTimestamps', 'seed'])
  return {
    maxKeys: given.maxKeys === undefined ? 2 ** 24 : checkUnits('maxKeys', given.maxKeys, MOST_KEYS),
    onFull: checkOnFull(given.onFull),
    clock: checkClock(given.clock),
    maxLogTimestamps:
      given.maxLogTimestamps === undefined
        ? 2 ** 24
        : checkUnits('maxLogTimestamps', given.maxLogTimestamps, MOST_KEYS),
    seed: checkSeed(given.seed),
  }
}

/** A clock, or nothing. */
export function checkClock(value: unknown): Clock | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'object' || value === null || typeof (value as Clock).now !== 'function')
    throw invalidType('clock', 'an object with a method now() that returns epoch milliseconds', value)
  const { alarm } = value as Clock
  if (alarm !== undefined && typeof alarm !== 'function') throw invalidType('clock.alarm', 'a function', alarm)
  return value as Clock
}

function checkOnFull(value: unknown): 'share' | 'deny' {
  if (value === undefined) return 'share'
  if (value === 'share' || value === 'deny') return value
  throw invalidValue('onFull', "'share' or 'deny'", value)
}

function checkSeed(value: unknown): readonly [number, number] {
  if (value === undefined) {
    const [first = 0, second = 0] = crypto.getRandomValues(new Uint32Array(2))
    return [first, second]
  }
  if (Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger)) return [value[0], value[1]]
  throw invalidType('seed', 'two whole numbers', value)
}
