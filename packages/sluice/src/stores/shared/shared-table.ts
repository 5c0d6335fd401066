import type { Fingerprint } from '../memory/key-hash.js'
import type { Cells } from './cells.js'
import { timeOf } from './state-word.js'

/** How many low bits of the number of an insertion a claim has. */
const SEQUENCE_MASK = 0x7fff
const GENERATION_MASK = 0xffff
/**
 * For so many insertions into its group, a key keeps an entry from which it has not taken yet. Otherwise threads could take
 * an entry from each other for ever.
 */
const KEPT_INSERTIONS = 32

/** Where a table has its cells. */
export interface TableCells {
  readonly groups: number
  /** How many entries a group has: a power of two. A key is in its group or not in the table. */
  readonly groupSize: number
  /** The first of `groups` cells: the insertion that is under way in each group. */
  readonly insertions: number
  /** The first cell of the entries. Each has two: a tag and a word. */
  readonly entries: number
}

/** Is told of entries that get a key. */
export interface EntryCounter {
  /** An entry got its first key (`isFirst`), or a key whose state was whole had to go. */
  inserted(isFirst: boolean): void
}

/**
 * A hash table of fixed size that threads change at the same time, without locks. A thread may end at any step: what it
 * leaves half done, the next thread that meets it finishes.
 *
 * An entry is a tag (48 bits of a fingerprint and a generation of 16 bits, 0 if never used) and the word of a state. A
 * look-up begins at the key's home entry and ends at an entry that was never used. Entries do not become unused again: an
 * entry whose state is whole is given to another key.
 *
 * A group has one insertion at a time. Its cell holds the number of the next insertion and, while one is under way, the
 * entry. To insert a key:
 *
 *   1. Read the number n of the next insertion, then look through the group: the key is not there, and an entry is free.
 *   2. Change the free entry's word to a claim: the key's fingerprint, and n. Its old key cannot take from it any more.
 *   3. Change the group's cell from "n is next" to "n is under way in this entry". If that fails, another insertion has
 *      come before: the claim means nothing, and the thread begins again.
 *   4. Change the tag to the key's, with the next generation.
 *   5. Change the group's cell to "n + 1 is next".
 *
 * A claim whose number is the group's is live, and a thread that meets one carries out steps 3 to 5 for it. Any other claim
 * is over: its entry has a whole state, which was not written yet. If it is that of the entry's own key, the thread that
 * inserted the key is about to take from it, so the entry is free only after some more insertions.
 */
export class SharedTable {
  readonly #cells: Cells
  readonly #groups: number
  readonly #groupSize: number
  readonly #groupCells: number
  readonly #insertions: number
  readonly #entries: number
  readonly #counter: EntryCounter
  /** The lower half of the tag that `find` found last: with the generation, it tells this use of the entry from others. */
  tagLo = 0
  // What `#look` found: whether the key is there, and the first free entry with its word.
  #isThere = false
  #free = -1
  #freeHi = 0
  #freeLo = 0

  constructor(cells: Cells, { groups, groupSize, insertions, entries }: TableCells, counter: EntryCounter) {
    this.#cells = cells
    this.#groups = groups
    this.#groupSize = groupSize
    this.#groupCells = groupSize * 2
    this.#insertions = insertions
    this.#entries = entries
    this.#counter = counter
  }

  /** The cell of a key's word, or -1. The entry may change hands at once: see `Cells.glance`. */
  find({ high, low }: Fingerprint): number {
    const cells = this.#cells
    const first = this.#entries + this.#groupOf(low) * this.#groupCells
    const short = low & 0xffff
    const size = this.#groupSize
    let entry = high & (size - 1)
    for (let i = 0; i < size; i++) {
      const tag = first + entry * 2
      cells.glance(tag)
      if (cells.hi === high && cells.lo >>> 16 === short) {
        this.tagLo = cells.lo
        return tag + 1
      }
      if (cells.hi === 0) return -1
      entry = (entry + 1) & (size - 1)
    }
    return -1
  }

  /**
   * Reads the word of a key in one piece, into `hi` and `lo` of the cells. Returns false if the key has no entry, or if its
   * state was not written yet.
   */
  read(key: Fingerprint): boolean {
    const cells = this.#cells
    for (;;) {
      const cell = this.find(key)
      if (cell < 0) return false
      cells.load(cell)
      const { hi, lo } = cells
      if (hi >= 0 && cells.entryHolds(cell, key.high, this.tagLo, hi, lo)) return true
      if (hi < 0 && this.isOver(cell, hi, lo)) return false
    }
  }

  /**
   * For a word that is a claim, read from `wordCell`: finishes the insertion if it is live. Returns true if the claim is
   * over, so that the entry has a whole state; false if the key must be looked up again.
   */
  isOver(wordCell: number, claimHi: number, claimLo: number): boolean {
    const group = Math.floor((wordCell - this.#entries) / this.#groupCells)
    this.#cells.load(this.#insertions + group)
    const { hi, lo } = this.#cells
    if (!isLive(claimLo, lo)) return true
    // The halves may be those of two words.
    if (this.#cells.holds(wordCell, claimHi, claimLo)) this.#finish(group, hi, lo, wordCell)
    return false
  }

  /** Is there a free entry for a key that was not found? */
  hasRoom(key: Fingerprint, nowUs: number): boolean {
    const group = this.#groupOf(key.low)
    for (;;) {
      this.#cells.load(this.#insertions + group)
      const { hi, lo } = this.#cells
      if (hi !== 0) this.#finish(group, hi, lo, -1)
      else if (this.#look(key, group, lo, nowUs)) return this.#isThere || this.#free >= 0
    }
  }

  /**
   * Tries to give the key an entry with a whole state. Returns false if no entry of its group is free; otherwise the key must
   * be looked up again, because another thread may have been faster.
   */
  insert(key: Fingerprint, nowUs: number): boolean {
    const cells = this.#cells
    const group = this.#groupOf(key.low)
    for (;;) {
      cells.load(this.#insertions + group)
      const { hi, lo } = cells
      if (hi !== 0) {
        this.#finish(group, hi, lo, -1)
        continue
      }
      if (!this.#look(key, group, lo, nowUs)) continue
      if (this.#isThere) return true
      if (this.#free < 0) return false
      const word = this.#free
      const claimHi = claimHiOf(key)
      const claimLo = claimLoOf(key, lo)
      if (!cells.compareExchange(word, this.#freeHi, this.#freeLo, claimHi, claimLo)) continue
      this.#finish(group, 0, lo, word)
      return true
    }
  }

  /**
   * Looks through a group for a key and for a free entry, while insertion `sequence` is next. Returns false if it met a
   * live claim: it has finished that one, and the group has changed.
   */
  #look({ high, low }: Fingerprint, group: number, sequence: number, nowUs: number): boolean {
    const cells = this.#cells
    const first = this.#entries + group * this.#groupCells
    this.#free = -1
    this.#isThere = false
    const size = this.#groupSize
    for (let i = 0; i < size; i++) {
      const tag = first + ((high + i) & (size - 1)) * 2
      cells.load(tag)
      const { hi: tagHi, lo: tagLo } = cells
      if (tagHi === high && tagLo >>> 16 === (low & 0xffff)) {
        this.#isThere = true
        return true
      }
      if (this.#free < 0) {
        cells.load(tag + 1)
        const { hi, lo } = cells
        if (hi < 0 && isLive(lo, sequence)) {
          if (cells.holds(tag + 1, hi, lo)) this.#finish(group, 0, sequence, tag + 1)
          return false
        }
        if (cells.hi < 0 ? !isKept(cells, sequence, tagHi, tagLo) : timeOf(cells.hi, cells.lo) < nowUs)
          this.#setFree(tag + 1)
      }
      if (tagHi === 0) return true
    }
    return true
  }

  #setFree(wordCell: number): void {
    this.#free = wordCell
    this.#freeHi = this.#cells.hi
    this.#freeLo = this.#cells.lo
  }

  /**
   * Carries out what is left of an insertion. `hi` and `sequence` are the group's cell as it was read. If it said that the
   * insertion is next, begins that of the live claim in `wordCell`.
   */
  #finish(group: number, hi: number, sequence: number, wordCell: number): void {
    const cells = this.#cells
    const insertion = this.#insertions + group
    const first = this.#entries + group * this.#groupCells
    const underWay = hi === 0 ? ((wordCell - first - 1) >> 1) + 1 : hi
    if (hi === 0 && !cells.compareExchange(insertion, 0, sequence, underWay, sequence)) return
    const tag = first + (underWay - 1) * 2
    cells.load(tag + 1)
    const { hi: claimHi, lo: claimLo } = cells
    cells.load(tag)
    const { hi: tagHi, lo: tagLo } = cells
    // Only now is it sure that both were read while the insertion was under way.
    if (!cells.holds(insertion, underWay, sequence)) return
    const [high, short] = [highOf(claimHi, claimLo), shortOf(claimLo)]
    if (tagHi !== high || tagLo >>> 16 !== short) {
      const newLo = (short << 16) | ((tagLo + 1) & GENERATION_MASK)
      if (cells.compareExchange(tag, tagHi, tagLo, high, newLo)) this.#counter.inserted(tagHi === 0)
    }
    cells.compareExchange(insertion, underWay, sequence, 0, (sequence + 1) | 0)
  }

  /** The group of a key: the low half of its fingerprint as a share of the number of groups. */
  #groupOf(low: number): number {
    return Math.floor((low >>> 0) * this.#groups * 2 ** -32)
  }
}

function isLive(claimLo: number, sequence: number): boolean {
  return ((claimLo ^ sequence) & SEQUENCE_MASK) === 0
}

/** Is the claim that of the entry's own key, inserted not long before insertion `sequence`? */
function isKept({ hi, lo }: Cells, sequence: number, tagHi: number, tagLo: number): boolean {
  const age = (sequence - lo) & SEQUENCE_MASK
  return age <= KEPT_INSERTIONS && tagHi === highOf(hi, lo) && tagLo >>> 16 === shortOf(lo)
}

/** A claim is the sign bit, 48 bits of the fingerprint, and 15 bits of the number of the insertion. */
function claimHiOf({ high }: Fingerprint): number {
  return (high >>> 1) | (1 << 31)
}

function claimLoOf({ high, low }: Fingerprint, sequence: number): number {
  return (high << 31) | ((low & 0xffff) << 15) | (sequence & SEQUENCE_MASK)
}

/** The fingerprint of a claim: the high half, and the 16 bits of the low half that a tag has. */
function highOf(claimHi: number, claimLo: number): number {
  return (claimHi << 1) | (claimLo >>> 31)
}

function shortOf(claimLo: number): number {
  return (claimLo >>> 15) & 0xffff
}
