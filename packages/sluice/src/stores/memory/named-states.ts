import { type Arithmetic, arithmeticOf, type Limit } from '../../limits/index.js'
import type { Fingerprint } from './key-hash.js'
import type { LogStorage } from './log-storage.js'
import type { Segment } from './segment.js'
import type { Table, TableOwner, TableSet } from './table.js'

/** The memory of a store, which all its names share. */
export interface StoreMemory {
  readonly tables: TableSet
  readonly logs: LogStorage
}

/** How and where a limit counts. */
export interface LimitStates {
  readonly arithmetic: Arithmetic
  readonly states: StateTable
  /** The limit's number among those that write in the table. */
  readonly writer: number
}

/** Everything a store keeps under one name: a table of states for each state id (nearly always one), and the blocks. */
export class NamedStates {
  readonly #memory: StoreMemory
  readonly #tables = new Map<string, StateTable>()
  readonly #limits = new WeakMap<Limit, LimitStates>()
  #blocks: Table | undefined

  constructor(memory: StoreMemory) {
    this.#memory = memory
  }

  statesOf(limit: Limit): LimitStates {
    return this.#limits.get(limit) ?? this.#addLimit(limit)
  }

  #addLimit(limit: Limit): LimitStates {
    const arithmetic = arithmeticOf(limit)
    const states = this.#tables.get(arithmetic.stateId) ?? new StateTable(arithmetic, this.#memory)
    this.#tables.set(arithmetic.stateId, states)
    const limitStates = { arithmetic, states, writer: states.writerOf(arithmetic) }
    this.#limits.set(limit, limitStates)
    return limitStates
  }

  get hasBlocks(): boolean {
    return this.#blocks !== undefined && this.#blocks.count > 0
  }

  /** How long a key is still blocked, in microseconds; 0 or less if it is not. */
  blockedUs({ high, low }: Fingerprint, nowUs: number): number {
    if (this.#blocks === undefined) return 0
    const segment = this.#blocks.segment(high)
    const state = segment.find(high, low)
    return state < 0 ? 0 : segment.words[state] - nowUs
  }

  /** Blocks a key. Asks for room only if the key is not blocked yet, and returns false if there is none. */
  block({ high, low }: Fingerprint, nowUs: number, untilUs: number, makeRoom: () => boolean): boolean {
    this.#blocks ??= this.#memory.tables.add(1, BLOCKS)
    let state = this.#blocks.segment(high).find(high, low)
    if (state < 0) {
      if (!makeRoom()) return false
      state = this.#blocks.add(high, low, nowUs)
    }
    this.#blocks.segment(high).words[state] = untilUs
    return true
  }

  /** Forgets every state of a key, and its block. */
  forget({ high, low }: Fingerprint): void {
    for (const { own } of this.#tables.values()) own.remove(high, low)
    this.#blocks?.remove(high, low)
  }
}

/** A block's state is the time of its end. */
const BLOCKS: TableOwner = {
  isWhole: ({ words }, at, nowUs) => words[at] <= nowUs,
  forget: () => {},
}

/** Keys that come when the store is full share a state by this many bits, so a store has at most 1,024 such states. */
const OVERFLOW_BITS = 10
const MOST_OVERFLOW = 2 ** OVERFLOW_BITS
/** When those are taken, a table has one more for all other keys. The bits of a key never lead to this number. */
const COMMON = 1
/** All fingerprints of an overflow table have this first half, which must not be 0. */
export const OVERFLOW_HIGH = 1

/**
 * The states of all keys of one name and one state id. Limits with other quotas or rates use the same states. The limit
 * that wrote a state last says when it is whole, so the table numbers its limits and each entry has its writer's number.
 *
 * An entry holds the state itself or, for a log, the number of its array in the log storage.
 */
export class StateTable implements TableOwner {
  /** The states of keys that have one of their own. */
  readonly own: Table
  /** Where the states are if they grow; otherwise `undefined`. */
  readonly logs: LogStorage | undefined
  readonly #tables: TableSet
  readonly #entryWords: number
  readonly #writers: Arithmetic[] = []
  readonly #writerNumbers = new Map<string, number>()
  #overflow: Table | undefined

  constructor(arithmetic: Arithmetic, { tables, logs }: StoreMemory) {
    this.#tables = tables
    this.logs = arithmetic.elastic === undefined ? undefined : logs
    this.#entryWords = arithmetic.elastic === undefined ? arithmetic.words : 1
    this.own = tables.add(this.#entryWords, this)
  }

  /** The number of a limit among those that write here. Limits with equal numbers share one. */
  writerOf(arithmetic: Arithmetic): number {
    const text = arithmetic.remote.parameters.join()
    let number = this.#writerNumbers.get(text)
    if (number === undefined) {
      number = this.#writers.push(arithmetic) - 1
      this.#writerNumbers.set(text, number)
    }
    return number
  }

  /** Does nothing but the words of an entry decide? */
  get isPlain(): boolean {
    return this.logs === undefined && this.#writers.length === 1
  }

  /** Do limits with different numbers write here? */
  get isMixed(): boolean {
    return this.#writers.length > 1
  }

  isWhole(segment: Segment, at: number, nowUs: number): boolean {
    const writer = this.#writers[segment.writerOf(at)]
    return this.logs === undefined
      ? writer.isWhole(segment.words, at, nowUs)
      : writer.isWhole(this.logs.get(segment.words[at]), 0, nowUs)
  }

  forget({ words }: Segment, at: number): void {
    this.logs?.remove(words[at])
  }

  /** The table for the states that keys share while the store is full. */
  get overflow(): Table {
    this.#overflow ??= this.#tables.add(this.#entryWords, this, this.#tables.overflow)
    return this.#overflow
  }

  /** Where the state that a key shares is, in the only segment of the overflow table; -1 if it does not exist. */
  findOverflow(low: number): number {
    if (this.#overflow === undefined || this.#overflow.count === 0) return -1
    const segment = this.#overflow.segment(OVERFLOW_HIGH)
    const state = segment.find(OVERFLOW_HIGH, overflowLow(low))
    return state >= 0 ? state : segment.find(OVERFLOW_HIGH, COMMON)
  }

  /** The second half of the fingerprint that a new overflow state for a key gets. */
  overflowLow(low: number): number {
    return this.#tables.overflow.entries < MOST_OVERFLOW ? overflowLow(low) : COMMON
  }
}

/** The leading bits only, so that many keys come to share a state. */
function overflowLow(low: number): number {
  return low & (-1 << (32 - OVERFLOW_BITS))
}
