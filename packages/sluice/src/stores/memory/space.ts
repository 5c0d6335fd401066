import type { Arithmetic } from '../../limits/index.js'
import type { RingStorage } from './ring-storage.js'
import { type Census, Table, type TableOwner } from './table.js'

/** The states that keys share which came when the store was full: as many as there are values of the leading bits. */
const SHARED_BITS = 10

/**
 * The states of all keys of one name whose limits have the same shape.
 *
 * A state is opened before it is used: `words` and `at` then say where it is, until the next call that opens one. A key
 * without a state opens a fresh one, which is nobody's until it is kept.
 */
export class Space implements TableOwner {
  readonly shape: string
  readonly algorithm: string
  readonly table: Table
  /** States never need more room, so that taking cannot fail for lack of it. */
  readonly isFlat: boolean
  words: Float64Array
  at = 0
  readonly #rings: RingStorage | undefined
  readonly #fresh: Float64Array
  /** The number of the opened state's ring. */
  #ring = 0
  /** Judges whether a state is whole: exactly, while only one limit is in use here. */
  #judge: Arithmetic
  #mixed = false
  #shared: Table | undefined

  constructor(arithmetic: Arithmetic, rings: RingStorage, census: Census) {
    this.shape = arithmetic.shape
    this.algorithm = arithmetic.limit.algorithm
    this.isFlat = !arithmetic.elastic
    this.#judge = arithmetic
    this.#rings = arithmetic.elastic ? rings : undefined
    this.#fresh = new Float64Array(arithmetic.words)
    this.words = this.#fresh
    this.table = this.#newTable(census)
  }

  /** Another limit of the same shape is going to be used here. */
  admit(arithmetic: Arithmetic): void {
    this.#mixed ||= JSON.stringify(arithmetic.limit) !== JSON.stringify(this.#judge.limit)
  }

  /** Opens a key's own state, if it has one. */
  find(high: number, low: number): boolean {
    return this.#findIn(this.table, high, low)
  }

  /** Opens a fresh state; a key that shared one while the store was full goes on from there. */
  openFresh(arithmetic: Arithmetic, low: number, nowUs: number): void {
    this.words = this.#fresh
    this.at = 0
    if (this.#shared !== undefined && this.#findIn(this.#shared, 1, sharedLow(low))) {
      const shared = this.words.slice(this.at, this.#rings === undefined ? this.at + arithmetic.words : undefined)
      this.words = shared
      this.at = 0
    } else arithmetic.start(this.words, 0, nowUs)
  }

  /** Opens the state that this key shares with others. */
  openShared(arithmetic: Arithmetic, low: number, nowUs: number): void {
    this.#shared ??= this.#newTable({ keys: 0, dropped: 0 })
    if (this.#findIn(this.#shared, 1, sharedLow(low))) return
    this.words = this.#fresh
    this.at = 0
    arithmetic.start(this.words, 0, nowUs)
    this.#keepIn(this.#shared, 1, sharedLow(low), nowUs)
  }

  /** Gives the opened fresh state to a key as its own. */
  keep(high: number, low: number, nowUs: number): void {
    this.#keepIn(this.table, high, low, nowUs)
  }

  /** Moves a key's state here from a space of the same name and algorithm, and opens it. */
  adopt(from: Space, arithmetic: Arithmetic, high: number, low: number, nowUs: number): void {
    const adopted = new Float64Array(this.#rings === undefined ? arithmetic.words : from.words.length)
    arithmetic.adopt(adopted, 0, nowUs, from.#judge, from.words, from.at)
    from.table.remove(high, low)
    this.words = adopted
    this.at = 0
    this.keep(high, low, nowUs)
  }

  /** Could the opened state hold `cost` more, as far as memory goes? */
  hasRoom(arithmetic: Arithmetic, nowUs: number, cost: number): boolean {
    if (this.#rings === undefined) return true
    return arithmetic.wordsFor(this.words, this.at, nowUs, cost) <= this.#rings.roomFor(this.words.length)
  }

  /** Takes `cost` from the opened and kept state. */
  take(arithmetic: Arithmetic, nowUs: number, cost: number): void {
    if (this.#rings !== undefined) this.#grow(this.#rings, arithmetic, nowUs, cost)
    arithmetic.take(this.words, this.at, nowUs, cost)
  }

  isWhole(words: Float64Array, at: number, nowUs: number): boolean {
    const state = this.#rings === undefined ? words : this.#rings.get(words[at])
    const stateAt = this.#rings === undefined ? at : 0
    return this.#mixed ? this.#judge.isWholeForAll(state, stateAt, nowUs) : this.#judge.isWhole(state, stateAt, nowUs)
  }

  forget(words: Float64Array, at: number): void {
    this.#rings?.remove(words[at])
  }

  #newTable(census: Census): Table {
    return new Table(this.#rings === undefined ? this.#fresh.length : 1, this, census)
  }

  #findIn(table: Table, high: number, low: number): boolean {
    const segment = table.segment(high)
    const state = segment.find(high, low)
    if (state < 0) return false
    if (this.#rings === undefined) {
      this.words = segment.words
      this.at = state
    } else this.#openRing(this.#rings, segment.words[state])
    return true
  }

  #keepIn(table: Table, high: number, low: number, nowUs: number): void {
    const state = table.add(high, low, nowUs)
    const { words } = table.segment(high)
    if (this.#rings === undefined) {
      for (let i = 0; i < this.#fresh.length; i++) words[state + i] = this.words[this.at + i]
      this.words = words
      this.at = state
    } else {
      const ring = this.#rings.add(this.words === this.#fresh ? this.words.slice() : this.words)
      words[state] = ring
      this.#openRing(this.#rings, ring)
    }
  }

  #openRing(rings: RingStorage, ring: number): void {
    this.#ring = ring
    this.words = rings.get(ring)
    this.at = 0
  }

  /** Doubles, so that growing costs little in the long run, but no further than a whole quota needs. */
  #grow(rings: RingStorage, arithmetic: Arithmetic, nowUs: number, cost: number): void {
    const needed = arithmetic.wordsFor(this.words, 0, nowUs, cost)
    if (needed <= this.words.length) return
    const enough = arithmetic.words + arithmetic.quota
    const room = rings.roomFor(this.words.length)
    const larger = new Float64Array(Math.max(needed, Math.min(enough, 2 * this.words.length, room)))
    arithmetic.adopt(larger, 0, nowUs, arithmetic, this.words, 0)
    rings.replace(this.#ring, larger)
    this.words = larger
  }
}

/** The leading bits only, so that many keys come to share a state, well spread over the shared table. */
function sharedLow(low: number): number {
  return low & (-1 << (32 - SHARED_BITS))
}
