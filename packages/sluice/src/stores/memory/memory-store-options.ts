import { checkOptions } from '../../checks/check-options.js'
import { checkUnits, checkValue } from '../../checks/check-value.js'
import { type Clock, checkClock } from '../../clock.js'
import { invalidType } from '../../errors.js'

/** Options of a memory store. */
export interface MemoryStoreOptions {
  /** The most keys that have a state of their own: a whole number from 1 to 2^30. Default 2^24. */
  readonly maxKeys?: number
  /**
   * How a new key is treated if `maxKeys` keys have a state and none of those can be forgotten without loss. `'share'`
   * (default): it shares a common state with other such keys; there are at most 1,024 common states, and one more for
   * each table. `'deny'`: it is denied.
   */
  readonly onFull?: 'share' | 'deny'
  /** Default: the process's own clock, which never steps back. */
  readonly clock?: Clock
  /**
   * The most timestamps that all sliding logs and concurrency limits together hold: a whole number from 1. Each key counts
   * as three timestamps in addition. A request that needs more is denied. Default 2^24, which is 128 MiB.
   */
  readonly maxLogTimestamps?: number
  /** Two 32-bit numbers that key the hash. Default: random. Fixed numbers are for tests. */
  readonly seed?: readonly [number, number]
}

const MOST_KEYS = 2 ** 30

/** Checks the options and fills in defaults. */
export function checkMemoryStoreOptions(options: MemoryStoreOptions) {
  const given = checkOptions('memoryStore', options, ['maxKeys', 'onFull', 'clock', 'maxLogTimestamps', 'seed'])
  const { maxKeys = 2 ** 24, onFull = 'share', clock, maxLogTimestamps = 2 ** 24, seed } = given
  return {
    maxKeys: checkUnits('maxKeys', maxKeys, MOST_KEYS),
    onFull: checkValue('onFull', onFull, ['share', 'deny']),
    clock: checkClock(clock),
    maxLogTimestamps: checkUnits('maxLogTimestamps', maxLogTimestamps, MOST_KEYS),
    seed: checkSeed(seed),
  }
}

/** Checks the seed of a hash. Without one, makes a random one. */
export function checkSeed(value: unknown): readonly [number, number] {
  if (value === undefined) {
    const [first = 0, second = 0] = crypto.getRandomValues(new Uint32Array(2))
    return [first, second]
  }
  if (Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger)) return [value[0], value[1]]
  throw invalidType('seed', 'two whole numbers', value)
}
