import { type Arithmetic, arithmeticOf, type KeyBlock, type Limit } from '../../limits/index.js'
import { type Fingerprint, OVERFLOW } from './key-hash.js'
import type { LogStorage } from './log-storage.js'
import type { Segment } from './segment.js'
import type { EntryCounts, Table, TableOwner, TableSet } from './table.js'

/** How and where a limit counts. */
export interface LimitStates {
  readonly arithmetic: Arithmetic
  readonly states: StateTable
  /** The limit's number among those that write in the table. */
  readonly writer: number
}

/** Everything a store keeps under one name: a table of states for each state id (nearly always one), and the blocks. */
export class NamedStates {
  readonly #allTables: TableSet
  readonly #logs: LogStorage
  readonly #tables = new Map<string, StateTable>()
  readonly #limits = new WeakMap<Limit, LimitStates>()
  #blocks: Table | undefined

  /** `tables` and `logs` are those of the store: all its names share them. */
  constructor(tables: TableSet, logs: LogStorage) {
    this.#allTables = tables
    this.#logs = logs
  }

  statesOf(limit: Limit): LimitStates {
    const known = this.#limits.get(limit)
    if (known !== undefined) return known
    const arithmetic = arithmeticOf(limit)
    const states = this.#tables.get(arithmetic.stateId) ?? new StateTable(arithmetic, this.#allTables, this.#logs)
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

  /** What is known of a key's block, also of one that is over but remembered. */
  blockOf({ high, low }: Fingerprint): KeyBlock | undefined {
    const segment = this.#blocks?.segment(high)
    const at = segment?.find(high, low) ?? -1
    if (segment === undefined || at < 0) return undefined
    const [untilUs, lastUs, rememberedUs] = segment.words.subarray(at, at + BLOCK_WORDS)
    return { untilUs, lastUs, rememberedUs }
  }

  /** Blocks a key. Asks for room only if nothing is known of the key's block, and returns false if there is none. */
  block({ high, low }: Fingerprint, nowUs: number, block: KeyBlock, makeRoom: () => boolean): boolean {
    this.#blocks ??= this.#allTables.add(BLOCK_WORDS, BLOCKS)
    let state = this.#blocks.segment(high).find(high, low)
    if (state < 0) {
      if (!makeRoom()) return false
      state = this.#blocks.add(high, low, nowUs)
    }
    this.#blocks.segment(high).words.set([block.untilUs, block.lastUs, block.rememberedUs], state)
    return true
  }

  /** Forgets every state of a key, and its block. */
  forget({ high, low }: Fingerprint): void {
    for (const { table } of this.#tables.values()) table.remove(high, low)
    this.#blocks?.remove(high, low)
  }
}

/** The words of a block are those of a `KeyBlock`: `untilUs`, `lastUs`, `rememberedUs`. */
const BLOCK_WORDS = 3
const BLOCKS: TableOwner = {
  isWhole: ({ words }, at, nowUs) => words[at] <= nowUs && words[at + 2] <= nowUs,
  forget: () => {},
}

/** Keys without room share a state by their 10 leading bits, so a store has at most 1,024 such states. */
const OVERFLOW_BITS = 10
const OVERFLOW_MASK = -1 << (32 - OVERFLOW_BITS)
const MOST_OVERFLOW = 2 ** OVERFLOW_BITS
/** When those are taken, each table has one more for all other keys. The bits of a key never lead to this number. */
const COMMON = 1

/**
 * The states of all keys of one name and one state id. Limits with other quotas or rates use the same states. The limit
 * that wrote a state last says when it is whole, so the table numbers its limits and each entry has its writer's number.
 *
 * An entry holds the state itself or, for a log, the number of its array in the log storage.
 */
export class StateTable implements TableOwner {
  readonly table: Table
  /** Where the states are if they grow; otherwise `undefined`. */
  readonly logs: LogStorage | undefined
  /** The number of the last request that opened a state here: a second demand of it may be for the same state. */
  lastRequest = 0
  readonly #counts: EntryCounts
  readonly #writers: Arithmetic[] = []
  readonly #writerNumbers = new Map<string, number>()

  constructor(arithmetic: Arithmetic, tables: TableSet, logs: LogStorage) {
    this.#counts = tables.counts
    this.logs = arithmetic.elastic === undefined ? undefined : logs
    this.table = tables.add(arithmetic.elastic === undefined ? arithmetic.words : 1, this)
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

  /** Where the overflow state that a key shares is, in the segment of `OVERFLOW`; -1 if it does not exist. */
  findOverflow(low: number): number {
    if (this.#counts.overflow === 0) return -1
    const segment = this.table.segment(OVERFLOW)
    const state = segment.find(OVERFLOW, low & OVERFLOW_MASK)
    return state >= 0 ? state : segment.find(OVERFLOW, COMMON)
  }

  /** The second half of the fingerprint that a new overflow state for a key gets. */
  overflowLow(low: number): number {
    return this.#counts.overflow < MOST_OVERFLOW ? low & OVERFLOW_MASK : COMMON
  }
}
