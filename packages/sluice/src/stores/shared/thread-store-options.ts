import { checkOptions, isObject } from '../../checks/check-options.js'
import { checkUnits, checkValue } from '../../checks/check-value.js'
import { type Clock, checkClock } from '../../clock.js'
import { invalidType } from '../../errors.js'
import { checkSeed } from '../memory/memory-store-options.js'
import { isThreadMemory, type ThreadMemory } from './cells-program.js'
import type { ClockAnchor } from './thread-clock.js'

/** Options of a store that threads share. */
export interface ThreadStoreOptions {
  /**
   * How many keys the store has room for: a whole number from 1 to 2^26. The memory for them is set aside at once, 32 bytes
   * a key, and the system provides it when it is first used. A block counts as a key. Default 1,000,000.
   */
  readonly maxKeys?: number
  /**
   * How a new key is treated if there is no room for it, because no state of its group can be forgotten without loss.
   * `'share'` (default): it shares a common state with other such keys; there are at most 512 common states for each limit,
   * and 1,024 in all. `'deny'`: it is denied.
   */
  readonly onFull?: 'share' | 'deny'
  /** Default: a clock that says the same in every thread and never steps back. A clock of your own must do so too. */
  readonly clock?: Clock
  /** Two 32-bit numbers that key the hash. Default: random. Fixed numbers are for tests. */
  readonly seed?: readonly [number, number]
}

/** Options of a thread that joins a store. */
export interface AttachOptions {
  /** Default: the same clock as in every other thread. Give one if the thread that made the store was given one. */
  readonly clock?: Clock
}

/** All that another thread needs to join a store. It can be sent as `workerData` or by `postMessage`. */
export interface SharedStoreHandle {
  /** A shared `WebAssembly.Memory`. */
  readonly memory: ThreadMemory
  readonly maxKeys: number
  readonly onFull: 'share' | 'deny'
  readonly seed: readonly [number, number]
  /** When the store began, in epoch microseconds. */
  readonly startUs: number
  readonly anchor: ClockAnchor
}

const MOST_KEYS = 2 ** 26

/** Checks the options and fills in defaults. */
export function checkThreadStoreOptions(options: ThreadStoreOptions) {
  const given = checkOptions('sharedStore', options, ['maxKeys', 'onFull', 'clock', 'seed'])
  const { maxKeys = 1_000_000, onFull = 'share', clock, seed } = given
  return {
    maxKeys: checkUnits('maxKeys', maxKeys, MOST_KEYS),
    onFull: checkValue('onFull', onFull, ['share', 'deny']),
    clock: checkClock(clock),
    seed: checkSeed(seed),
  }
}

/** Checks that a value is a handle: it may have come through a message. */
export function checkHandle(value: unknown): asserts value is SharedStoreHandle {
  const { memory, maxKeys, seed, startUs, anchor } = (value ?? {}) as Partial<SharedStoreHandle>
  const isRight = isThreadMemory(memory) && typeof maxKeys === 'number' && typeof startUs === 'number'
  if (isRight && Array.isArray(seed) && isObject(anchor)) return
  throw invalidType('handle', 'the handle of a store, as in sharedStore.attach(workerData.handle)', value)
}

/** Checks the options of `attach`. */
export function checkAttachOptions(options: AttachOptions) {
  return { clock: checkClock(checkOptions('sharedStore.attach', options, ['clock']).clock) }
}
