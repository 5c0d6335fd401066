const FULLEST = 0.75
const ROOMIEST = 0.62
const FEWEST_ENTRIES = 8

/**
 * A small hash table with open addressing and linear probing. It does not grow: its table replaces it.
 *
 * An entry is a tag (the two 32-bit halves of a fingerprint) and the words of a state, side by side in one array, so that
 * a look-up misses one cache line. An entry also has a writer: the number of the limit that wrote it last, 0 unless set.
 * Writers have an array of their own, which exists only once a writer other than 0 was set.
 */
export class Segment {
  /** How many leading bits of the first half all its fingerprints share. */
  readonly depth: number
  /** How many entries it has, used and free. */
  readonly size: number
  readonly words: Float64Array
  count = 0
  readonly #stride: number
  readonly #most: number
  readonly #tags: Int32Array
  #writers: Uint32Array | undefined

  constructor(depth: number, stateWords: number, expected: number) {
    this.depth = depth
    this.#stride = stateWords + 1
    this.size = Math.max(FEWEST_ENTRIES, Math.ceil(expected / ROOMIEST))
    this.#most = Math.floor(this.size * FULLEST)
    this.words = new Float64Array(this.size * this.#stride)
    this.#tags = new Int32Array(this.words.buffer)
  }

  get bytes(): number {
    return this.words.byteLength + (this.#writers?.byteLength ?? 0)
  }

  get isFull(): boolean {
    return this.count >= this.#most
  }

  /** So empty that a smaller segment would do. */
  get isSparse(): boolean {
    return this.size > FEWEST_ENTRIES && this.count * 4 < this.size
  }

  /** Where the state of a fingerprint begins in `words`, or -1. */
  find(high: number, low: number): number {
    const tags = this.#tags
    const step = this.#stride * 2
    const end = tags.length
    let at = this.#home(low) * step
    for (;;) {
      const tag = tags[at]
      if (tag === high && tags[at + 1] === low) return (at >> 1) + 1
      if (tag === 0) return -1
      at += step
      if (at === end) at = 0
    }
  }

  /** Takes an entry for a fingerprint that is not here yet, and returns where its state begins. */
  add(high: number, low: number): number {
    const tags = this.#tags
    const step = this.#stride * 2
    let at = this.#home(low) * step
    while (tags[at] !== 0) {
      at += step
      if (at === tags.length) at = 0
    }
    tags[at] = high
    tags[at + 1] = low
    this.count++
    const state = (at >> 1) + 1
    this.setWriter(state, 0)
    return state
  }

  writerOf(state: number): number {
    return this.#writers === undefined ? 0 : this.#writers[(state - 1) / this.#stride]
  }

  setWriter(state: number, writer: number): void {
    if (this.#writers === undefined) {
      if (writer === 0) return
      this.#writers = new Uint32Array(this.size)
    }
    this.#writers[(state - 1) / this.#stride] = writer
  }

  /** Where the state of the n-th entry begins, or -1 if the entry is free. */
  stateOf(entry: number): number {
    const at = entry * this.#stride
    return this.#tags[at * 2] === 0 ? -1 : at + 1
  }

  /** The first half of the fingerprint of a state. */
  highOf(state: number): number {
    return this.#tags[(state - 1) * 2]
  }

  /** How many fingerprints have the next bit set: they go to the right when the segment is split. */
  countRight(): number {
    let count = 0
    for (let entry = 0; entry < this.size; entry++) {
      const state = this.stateOf(entry)
      if (state >= 0) count += this.#nextBit(this.highOf(state))
    }
    return count
  }

  /** Adds every state to one of two segments, by the next bit of its fingerprint. */
  copyTo(left: Segment, right: Segment): void {
    for (let entry = 0; entry < this.size; entry++) {
      const state = this.stateOf(entry)
      if (state < 0) continue
      const high = this.highOf(state)
      const target = this.#nextBit(high) === 1 ? right : left
      const to = target.add(high, this.#tags[(state - 1) * 2 + 1])
      for (let i = 0; i < this.#stride - 1; i++) target.words[to + i] = this.words[state + i]
      target.setWriter(to, this.writerOf(state))
    }
  }

  /** Frees an entry, and moves up the entries behind it that a look-up would otherwise miss. */
  remove(state: number): void {
    const step = this.#stride * 2
    const tags = this.#tags
    let hole = (state - 1) * 2
    let at = hole
    for (;;) {
      at += step
      if (at === tags.length) at = 0
      if (tags[at] === 0) break
      const home = this.#home(tags[at + 1]) * step
      // It may move into the hole unless its home lies after the hole (cyclically).
      if (hole <= at ? home > hole && home <= at : home > hole || home <= at) continue
      this.words.copyWithin(hole >> 1, at >> 1, (at >> 1) + this.#stride)
      this.setWriter((hole >> 1) + 1, this.writerOf((at >> 1) + 1))
      hole = at
    }
    tags[hole] = 0
    this.count--
  }

  #nextBit(high: number): number {
    return (high >>> (31 - this.depth)) & 1
  }

  /** The entry where probing begins: the low half as a share of the size, which need not be a power of two. */
  #home(low: number): number {
    return ((low >>> 0) * this.size * 2 ** -32) | 0
  }
}
