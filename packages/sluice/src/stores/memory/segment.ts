/** A slot is a tag (two 32-bit halves of a fingerprint) and its words, side by side, so that a look-up misses one line. */
const FULLEST = 0.75
const ROOMIEST = 0.62
const FEWEST_SLOTS = 8

/**
 * A small hash table with open addressing and linear probing over flat arrays. It does not grow: its table replaces it.
 */
export class Segment {
  /** How many leading bits of the first half all its fingerprints share. */
  readonly depth: number
  readonly size: number
  readonly words: Float64Array
  count = 0
  readonly #stride: number
  readonly #most: number
  readonly #tags: Int32Array

  constructor(depth: number, stateWords: number, expected: number) {
    this.depth = depth
    this.#stride = stateWords + 1
    this.size = Math.max(FEWEST_SLOTS, Math.ceil(expected / ROOMIEST))
    this.#most = Math.floor(this.size * FULLEST)
    this.words = new Float64Array(this.size * this.#stride)
    this.#tags = new Int32Array(this.words.buffer)
  }

  get isFull(): boolean {
    return this.count >= this.#most
  }

  /** So empty that a smaller segment would do. */
  get isSparse(): boolean {
    return this.size > FEWEST_SLOTS && this.count * 4 < this.size
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

  /** Takes a slot for a fingerprint that is not here yet, and says where its state begins. */
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
    return (at >> 1) + 1
  }

  /** Where the state in a slot begins, or -1 if the slot is empty. */
  stateOf(slot: number): number {
    const at = slot * this.#stride
    return this.#tags[at * 2] === 0 ? -1 : at + 1
  }

  /** How many fingerprints go to the right when the segment is split: those with the next bit set. */
  countRight(): number {
    const tags = this.#tags
    const step = this.#stride * 2
    let count = 0
    for (let at = 0; at < tags.length; at += step) if (tags[at] !== 0) count += this.#nextBit(tags[at])
    return count
  }

  /** Adds every state to one of two segments, by the next bit of its fingerprint. */
  copyTo(left: Segment, right: Segment): void {
    const tags = this.#tags
    const step = this.#stride * 2
    for (let at = 0; at < tags.length; at += step) {
      const high = tags[at]
      if (high === 0) continue
      const target = this.#nextBit(high) === 1 ? right : left
      const to = target.add(high, tags[at + 1])
      for (let i = 0; i < this.#stride - 1; i++) target.words[to + i] = this.words[(at >> 1) + 1 + i]
    }
  }

  /** Empties a slot and moves up those behind it that would otherwise not be found again. */
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
      this.#move(at, hole)
      hole = at
    }
    tags[hole] = 0
    this.count--
  }

  #move(from: number, to: number): void {
    this.#tags[to] = this.#tags[from]
    this.#tags[to + 1] = this.#tags[from + 1]
    this.words.copyWithin((to >> 1) + 1, (from >> 1) + 1, (from >> 1) + this.#stride)
  }

  #nextBit(high: number): number {
    return (high >>> (31 - this.depth)) & 1
  }

  /** The slot where probing begins: the low half as a share of the size, which need not be a power of two. */
  #home(low: number): number {
    return ((low >>> 0) * this.size * 2 ** -32) | 0
  }
}
