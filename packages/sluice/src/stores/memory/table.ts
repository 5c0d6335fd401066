import { OVERFLOW } from './key-hash.js'
import { Segment } from './segment.js'

/** Knows what the states of a table mean. */
export interface TableOwner {
  /** May the state at `at` be forgotten without loss? */
  isWhole(segment: Segment, at: number, nowUs: number): boolean
  /** The state at `at` is about to be forgotten. */
  forget(segment: Segment, at: number): void
}

/** Counts the entries of all tables of a store. */
export interface EntryCounts {
  /** Entries of keys: a state or a block. */
  keys: number
  /** States that keys share because the store is full. */
  overflow: number
  /** Entries that sweeps have dropped so far. */
  dropped: number
}

/** A segment with more entries splits in two. The size of a segment bounds the longest pause. */
const MOST_IN_SEGMENT = 4096

/**
 * Maps fingerprints to states, in segments that grow, split and shrink one at a time (extendible hashing). The leading
 * bits of a fingerprint choose the segment. No operation touches more than one segment, so none takes noticeably long.
 */
export class Table {
  count = 0
  readonly #stateWords: number
  readonly #owner: TableOwner
  readonly #counts: EntryCounts
  #segments: Segment[]
  #depth = 0
  #sweptSegment = 0
  #sweptEntry = 0

  constructor(stateWords: number, owner: TableOwner, counts: EntryCounts) {
    this.#stateWords = stateWords
    this.#owner = owner
    this.#counts = counts
    this.#segments = [new Segment(0, stateWords, 0)]
  }

  /** The segment that holds a fingerprint, if the table does. Any `add` or `sweep` may replace it or move its states. */
  segment(high: number): Segment {
    return this.#segments[this.#index(high)]
  }

  /** Makes an entry for a fingerprint that is not here yet, and returns where in its segment the state begins. */
  add(high: number, low: number, nowUs: number): number {
    if (this.segment(high).isFull) this.#makeRoom(high, nowUs)
    this.#count(high, 1)
    return this.segment(high).add(high, low)
  }

  remove(high: number, low: number): void {
    const segment = this.segment(high)
    const state = segment.find(high, low)
    if (state >= 0) this.#drop(segment, state)
  }

  /** Looks at the next few entries and drops whole states. Returns whether it reached the end of the table. */
  sweep(entries: number, nowUs: number): boolean {
    for (let i = 0; i < entries; i++) {
      const segment = this.#segments[this.#sweptSegment]
      if (this.#sweptEntry < segment.size) {
        this.#sweptEntry = this.#sweepEntry(segment, this.#sweptEntry, nowUs)
        continue
      }
      const span = this.#span(segment)
      if (segment.isSparse) this.#rebuild(this.#sweptSegment)
      this.#sweptEntry = 0
      this.#sweptSegment += span
      if (this.#sweptSegment < this.#segments.length) continue
      this.#sweptSegment = 0
      return true
    }
    return false
  }

  get bytes(): number {
    let bytes = 0
    for (const segment of new Set(this.#segments)) bytes += segment.bytes
    return bytes
  }

  /** Drops whole states. If that does not help enough, replaces the segment by a larger one or by two. */
  #makeRoom(high: number, nowUs: number): void {
    const segment = this.segment(high)
    const before = segment.count
    for (let entry = 0; entry < segment.size; ) entry = this.#sweepEntry(segment, entry, nowUs)
    if (segment.count * 4 <= before * 3) return
    const first = this.#index(high) & -this.#span(segment)
    if (segment.count < MOST_IN_SEGMENT) this.#rebuild(first)
    else this.#split(first)
  }

  #rebuild(first: number): void {
    const old = this.#segments[first]
    const next = new Segment(old.depth, this.#stateWords, old.count)
    old.copyTo(next, next)
    this.#segments.fill(next, first, first + this.#span(old))
  }

  #split(first: number): void {
    const old = this.#segments[first]
    if (old.depth === this.#depth) {
      this.#segments = this.#segments.flatMap((segment) => [segment, segment])
      this.#depth++
      this.#sweptSegment *= 2
      first *= 2
    }
    const onTheRight = old.countRight()
    const left = new Segment(old.depth + 1, this.#stateWords, old.count - onTheRight)
    const right = new Segment(old.depth + 1, this.#stateWords, onTheRight)
    old.copyTo(left, right)
    const half = this.#span(old) / 2
    this.#segments.fill(left, first, first + half)
    this.#segments.fill(right, first + half, first + 2 * half)
  }

  /** Drops an entry if its state is whole, and returns which entry to look at next. */
  #sweepEntry(segment: Segment, entry: number, nowUs: number): number {
    const state = segment.stateOf(entry)
    if (state < 0 || !this.#owner.isWhole(segment, state, nowUs)) return entry + 1
    this.#counts.dropped++
    this.#drop(segment, state)
    // Another state may have moved into the entry.
    return entry
  }

  #drop(segment: Segment, state: number): void {
    this.#owner.forget(segment, state)
    this.#count(segment.highOf(state), -1)
    segment.remove(state)
  }

  #count(high: number, change: 1 | -1): void {
    this.count += change
    if (high === OVERFLOW) this.#counts.overflow += change
    else this.#counts.keys += change
  }

  /** The leading bits of a fingerprint. Shifted twice, because JavaScript ignores a shift by 32. */
  #index(high: number): number {
    return (high >>> 1) >>> (31 - this.#depth)
  }

  /** How many elements of the directory point to a segment. */
  #span(segment: Segment): number {
    return 1 << (this.#depth - segment.depth)
  }
}

/** Every 32nd call sweeps 16 neighbouring entries, so that sweeping fetches few cache lines. */
const CALLS_A_SWEEP = 32
const ENTRIES_A_SWEEP = 16

/** All tables of a store: counts their entries and sweeps them in turn. */
export class TableSet {
  readonly counts: EntryCounts = { keys: 0, overflow: 0, dropped: 0 }
  readonly #tables: Table[] = []
  #next = 0
  #callsUntilSweep = CALLS_A_SWEEP

  add(stateWords: number, owner: TableOwner): Table {
    const table = new Table(stateWords, owner, this.counts)
    this.#tables.push(table)
    return table
  }

  /** To be called once a call of the store. */
  sweepAtTimes(nowUs: number): void {
    if (--this.#callsUntilSweep > 0) return
    this.#callsUntilSweep = CALLS_A_SWEEP
    this.sweep(ENTRIES_A_SWEEP, nowUs)
  }

  /** Looks at the next few entries of the next table and drops whole states. */
  sweep(entries: number, nowUs: number): void {
    if (this.#tables.length === 0) return
    if (this.#tables[this.#next].sweep(entries, nowUs)) this.#next = (this.#next + 1) % this.#tables.length
  }

  get bytes(): number {
    return this.#tables.reduce((bytes, table) => bytes + table.bytes, 0)
  }
}
