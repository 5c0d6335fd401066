import { tokenBucket } from 'sluice'
import type { SharedLayout } from '../../src/stores/shared/shared-layout.js'
import { SharedLimits } from '../../src/stores/shared/shared-limits.js'
import { SharedMemory } from '../../src/stores/shared/shared-memory.js'
import { SharedState } from '../../src/stores/shared/shared-state.js'
import { setWord } from '../../src/stores/shared/state-word.js'
import { runAlone, type ThreadCode } from './schedules.js'

/** The time of all threads, in microseconds since the store began. */
export const NOW_US = 10_000_000
export const UNIT_US = 1_000_000

/** Two units, and one more each second. */
const limit = new SharedLimits(0, [1, 2]).limitOf('test', tokenBucket({ capacity: 2, refill: '1/s' }))

/** The home of A and C is entry 0, that of B and D is entry 1, if there is one. */
export type Key = 'A' | 'B' | 'C' | 'D'

function numberOf(key: Key): number {
  return 'ABCD'.indexOf(key) + 2
}

/** A table of one group with few entries, without room for overflow, and threads that use it. */
export class SmallTable {
  readonly groupSize: number
  readonly #layout: SharedLayout

  constructor(groupSize: number) {
    this.groupSize = groupSize
    const [insertions, entries] = [3, 4]
    this.#layout = {
      keys: 0,
      dropped: 0,
      shared: 0,
      refused: 0,
      overflowKeys: 1,
      blocks: 2,
      table: { groups: 1, groupSize, insertions, entries },
      overflow: { groups: 1, groupSize: 1, insertions: 2, entries: 0 },
      cells: entries + groupSize * 2,
    }
  }

  /** A thread that takes a unit, and returns whether it was allowed. A key without room is denied. */
  take(key: Key): ThreadCode {
    return (cells) => this.#open(cells, key).tryTake(1)
  }

  /** A thread that gives a unit back. */
  refund(key: Key): ThreadCode {
    return (cells) => {
      this.#open(cells, key).refund(1, undefined)
      return true
    }
  }

  /** A thread that leaves the key its whole quota. */
  setWhole(key: Key): ThreadCode {
    return (cells) => {
      this.#open(cells, key).restart(0)
      return true
    }
  }

  reset(key: Key): ThreadCode {
    return (cells) => {
      this.#open(cells, key).reset()
      return true
    }
  }

  /** Memory in which the entries hold these keys, each with a bucket that is full at that time. */
  memory(...entries: readonly (readonly [key: Key, fullUs: number])[]): Int32Array {
    const memory = new Int32Array(this.#layout.cells * 2)
    for (const [i, [key, fullUs]] of entries.entries()) {
      const word = { hi: 0, lo: 0 }
      setWord(word, fullUs, 0)
      memory.set([numberOf(key) << 16, numberOf(key), word.lo, word.hi], (this.#layout.table.entries + i * 2) * 2)
    }
    return memory
  }

  /** How many more units a key gets from a thread that comes later. Throws if dead threads are in its way. */
  unitsLeft(memory: Int32Array, key: Key): number {
    const copy = memory.slice()
    let units = 0
    while (runAlone(copy, this.take(key)) === true) units++
    return units
  }

  /** The tags in use, without their generations. */
  tags(memory: Int32Array): readonly string[] {
    return Array.from({ length: this.groupSize }, (_, i) => (this.#layout.table.entries + i * 2) * 2)
      .filter((at) => memory[at + 1] !== 0)
      .map((at) => `${memory[at + 1]}:${memory[at] >>> 16}`)
  }

  #open(cells: Parameters<ThreadCode>[0], key: Key): SharedState {
    const state = new SharedState(new SharedMemory(cells, this.#layout), false, () => NOW_US)
    // `use` mixes the fingerprint of the limit in, so it is taken out here.
    state.use(limit, { high: numberOf(key) ^ limit.high, low: numberOf(key) ^ limit.low }, NOW_US)
    state.open()
    return state
  }
}
