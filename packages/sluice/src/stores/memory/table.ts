import { Segment } from './segment.js'

/** Who knows what the states in a table mean. */
export interface TableOwner {
  /** May this state be forgotten without loss? */
  isWhole(words: Float64Array, at: number, nowUs: number): boolean
  /** A state is about to be forgotten. */
  forget(words: Float64Array, at: number): void
}

/** How many keys a store holds, over all its tables, and how many states the others share. */
export interface Census {
  keys: number
  dropped: number
  readonly shared: Omit<Census, 'shared'>
}

/** A segment with more than this splits in two; its size bounds the longest pause. */
const MOST_IN_SEGMENT = 4096

/**
 * Fingerprints to states, in segments that grow, split and shrink one at a time (extendible hashing): the leading bits
 * of a fingerprint choose the segment. No operation touches more than one segment, so none takes noticeably long.
 */
export class Table {
  count = 0
  readonly #stateWords: number
  readonly #owner: TableOwner
  readonly #census: Omit<Census, 'shared'>
  #segments: Segment[]
  #depth = 0
  #sweptSegment = 0
  #sweptSlot = 0

  constructor(stateWords: number, owner: TableOwner, census: Omit<Census, 'shared'>) {
    this.#stateWords = stateWords
    this.#owner = owner
    this.#census = census
    this.#segments = [new Segment(0, stateWords, 0)]
  }

  /** The segment that holds a fingerprint, if the table does. Any `add` may replace it. */
  segment(high: number): Segment {
    return this.#segments[this.#index(high)]
  }

  /** Makes a slot for a fingerprint that is not here yet and says where in its segment the state begins. */
  add(high: number, low: number, nowUs: number): number {
    if (this.segment(high).isFull) this.#makeRoom(high, nowUs)
    this.#census.keys++
    this.count++
    return this.segment(high).add(high, low)
  }

  remove(high: number, low: number): void {
    const segment = this.segment(high)
    const state = segment.find(high, low)
    if (state >= 0) this.#drop(segment, state)
  }

  /** Looks at the next few slots and drops what is whole. Says whether it came to the table's end. */
  sweep(slots: number, nowUs: number): boolean {
    for (let i = 0; i < slots; i++) {
      const segment = this.#segments[this.#sweptSegment]
      if (this.#sweptSlot < segment.size) {
        this.#sweptSlot = this.#sweepSlot(segment, this.#sweptSlot, nowUs)
        continue
      }
      const span = this.#span(segment)
      if (segment.isSparse) this.#rebuild(this.#sweptSegment)
      this.#sweptSlot = 0
      this.#sweptSegment += span
      if (this.#sweptSegment < this.#segments.length) continue
      this.#sweptSegment = 0
      return true
    }
    return false
  }

  get bytes(): number {
    let bytes = 0
    for (const segment of new Set(this.#segments)) bytes += segment.words.byteLength
    return bytes
  }

  /** Drops what is whole; if that does not help enough, the segment is replaced by a larger one or by two. */
  #makeRoom(high: number, nowUs: number): void {
    const segment = this.segment(high)
    const before = segment.count
    for (let slot = 0; slot < segment.size; ) slot = this.#sweepSlot(segment, slot, nowUs)
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

  /** Drops the state in a slot if it is whole, and says which slot to look at next. */
  #sweepSlot(segment: Segment, slot: number, nowUs: number): number {
    const state = segment.stateOf(slot)
    if (state < 0 || !this.#owner.isWhole(segment.words, state, nowUs)) return slot + 1
    this.#census.dropped++
    this.#drop(segment, state)
    // Another state may have moved into the slot.
    return slot
  }

  #drop(segment: Segment, state: number): void {
    this.#owner.forget(segment.words, state)
    segment.remove(state)
    this.#census.keys--
    this.count--
  }

  /** The leading bits of a fingerprint. Shifted twice, because a shift by 32 is none. */
  #index(high: number): number {
    return (high >>> 1) >>> (31 - this.#depth)
  }

  /** How many places of the directory point to a segment. */
  #span(segment: Segment): number {
    return 1 << (this.#depth - segment.depth)
  }
}
