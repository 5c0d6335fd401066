import { type Arithmetic, type Taken, withQuota } from '../../limits/index.js'
import type { RingStorage } from './ring-storage.js'
import type { Sweeper } from './sweeper.js'
import { type Census, Table, type TableOwner } from './table.js'

/** Keys that come when the store is full share a state by so many bits; a store has at most so many such states. */
const SHARED_BITS = 10
const MOST_SHARED = 2 ** SHARED_BITS
/** And then one for each space, which is known by a place that no key's bits lead to. */
const COMMON_LOW = 1

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
  readonly #census: Census
  readonly #sweeper: Sweeper
  /** The number of the opened state's ring, and whether the state is in a table. */
  #ring = 0
  #isKept = false
  /** Judges whether a state is whole, and says what it means to others. */
  readonly judge: Arithmetic
  /** Takes for those who use another view: of the limits in use here, the one that remembers most. */
  #widest: Arithmetic
  /** All spaces of the same name and algorithm, this one included. */
  readonly #peers: readonly Space[]
  #shared: Table | undefined

  constructor(arithmetic: Arithmetic, rings: RingStorage, census: Census, sweeper: Sweeper, peers: readonly Space[]) {
    this.#widest = arithmetic
    this.#peers = peers
    this.#census = census
    this.#sweeper = sweeper
    this.shape = arithmetic.shape
    this.algorithm = arithmetic.limit.algorithm
    this.isFlat = !arithmetic.elastic
    this.judge = arithmetic
    this.#rings = arithmetic.elastic ? rings : undefined
    this.#fresh = new Float64Array(arithmetic.words)
    this.words = this.#fresh
    this.table = this.#newTable(census)
  }

  /** Another limit of the same shape is going to be used here. */
  admit(arithmetic: Arithmetic): void {
    if (arithmetic.quota > this.#widest.quota) this.#widest = arithmetic
  }

  /** Opens a key's own state, if it has one. */
  find(high: number, low: number): boolean {
    return this.#findIn(this.table, high, low)
  }

  /** Opens a fresh state; a key that shared one while the store was full goes on from there. */
  openFresh(arithmetic: Arithmetic, low: number, nowUs: number): void {
    if (this.#findShared(low)) this.#openLoose(this.#copyOfOpened(arithmetic, nowUs))
    else this.#openAnew(arithmetic, low, nowUs)
  }

  /**
   * Opens a fresh state and gives it to a key that has none here, if `cost` is going to be taken from it. Not for keys that
   * may have left a state elsewhere.
   */
  begin(arithmetic: Arithmetic, high: number, low: number, nowUs: number, cost: number): boolean {
    if (this.#peers.length > 1 || (this.#shared !== undefined && this.#shared.count > 0)) return false
    this.#openLoose(this.#fresh)
    arithmetic.start(this.words, 0, nowUs)
    if (cost === 0 || !arithmetic.fits(this.words, 0, nowUs, cost)) return false
    this.keep(high, low, nowUs)
    return true
  }

  /** Opens the state that this key shares with others, or a fresh one that `keepShared` gives to all of them. */
  openShared(arithmetic: Arithmetic, low: number, nowUs: number): void {
    if (!this.#findShared(low)) this.#openAnew(arithmetic, low, nowUs)
  }

  /** Is there memory to keep the opened state, or is it kept already? */
  get canKeep(): boolean {
    return this.#rings === undefined || this.#isKept || this.words.length <= this.#rings.room
  }

  /** Gives the opened fresh state to a key as its own. */
  keep(high: number, low: number, nowUs: number): void {
    this.#keepIn(this.table, high, low, nowUs)
  }

  /** Keeps the opened state for this key and others: one of many, until all of those of the store are taken. */
  keepShared(low: number, nowUs: number): void {
    if (this.#isKept) return
    if (this.#shared === undefined) {
      this.#shared = this.#newTable(this.#census.shared)
      this.#sweeper.tables.push(this.#shared)
    }
    this.#keepIn(this.#shared, 1, this.#census.shared.keys < MOST_SHARED ? sharedLow(low) : COMMON_LOW, nowUs)
  }

  /** Moves a key's state here from a peer that has it open, and opens it. */
  adopt(from: Space, arithmetic: Arithmetic, high: number, low: number, nowUs: number): void {
    this.#openCopy(from, arithmetic, nowUs)
    from.table.remove(high, low)
    this.keep(high, low, nowUs)
  }

  /** Gives a key a view of its own, a copy of one that a peer has open, unless there is too little memory for it. */
  copy(from: Space, arithmetic: Arithmetic, high: number, low: number, nowUs: number): boolean {
    if (this.#rings !== undefined && from.words.length > this.#rings.room) return false
    this.#openCopy(from, arithmetic, nowUs)
    this.keep(high, low, nowUs)
    return true
  }

  #openCopy(from: Space, arithmetic: Arithmetic, nowUs: number): void {
    const copy = new Float64Array(this.#rings === undefined ? arithmetic.words : from.words.length)
    arithmetic.adopt(copy, 0, nowUs, from.judge, from.words, from.at)
    this.#openLoose(copy)
  }

  /** Takes from the key's state what was taken from another view of it, by a limit of such a quota. */
  takeToo(high: number, low: number, nowUs: number, cost: number, quota: number): void {
    if (!this.find(high, low)) return
    if (this.#rings !== undefined) {
      this.#widen(quota)
      this.#grow(this.#rings, this.#widest, nowUs, cost)
    }
    this.#widest.takeToo(this.words, this.at, nowUs, cost)
  }

  /** How many words more the key's state needs, if it has one, to take `cost` too, for a limit of such a quota. */
  extraWordsToo(high: number, low: number, nowUs: number, cost: number, quota: number): number {
    if (this.#rings === undefined || !this.find(high, low)) return 0
    this.#widen(quota)
    return Math.max(0, this.#widest.wordsFor(this.words, this.at, nowUs, cost) - this.words.length)
  }

  /** A log remembers as much as any of the limits may ask about. */
  #widen(quota: number): void {
    if (quota > this.#widest.quota) this.#widest = withQuota(this.#widest, quota)
  }

  refundToo(high: number, low: number, nowUs: number, units: number, taken: Taken | undefined): void {
    if (this.find(high, low)) this.#widest.refund(this.words, this.at, nowUs, units, taken)
  }

  /** How many words more than it has the opened state needs to hold `cost` more. */
  extraWords(arithmetic: Arithmetic, nowUs: number, cost: number): number {
    if (this.#rings === undefined) return 0
    return Math.max(0, arithmetic.wordsFor(this.words, this.at, nowUs, cost) - (this.#isKept ? this.words.length : 0))
  }

  /** Takes `cost` from the opened and kept state, or as much of it as there is memory for, and says how much. */
  take(arithmetic: Arithmetic, nowUs: number, cost: number): number {
    const takes = this.#rings === undefined ? cost : this.#grow(this.#rings, arithmetic, nowUs, cost)
    arithmetic.take(this.words, this.at, nowUs, takes)
    return takes
  }

  /** Is the opened state whole? */
  isOpenedWhole(nowUs: number): boolean {
    return this.judge.isWhole(this.words, this.at, nowUs)
  }

  /** The views of a key live as long as one of them matters: a copy that is made anew would not know what came when. */
  isWhole(words: Float64Array, at: number, nowUs: number): boolean {
    if (!this.#isWholeHere(words, at, nowUs)) return false
    if (this.#peers.length === 1 || this.judge.portable) return true
    const [high, low] = new Int32Array(words.buffer, (at - 1) * 8, 2)
    return this.#peers.every((peer) => peer === this || peer.isKeyWhole(high, low, nowUs))
  }

  /** Is the key's own state whole here, or is there none? */
  isKeyWhole(high: number, low: number, nowUs: number): boolean {
    const segment = this.table.segment(high)
    const state = segment.find(high, low)
    return state < 0 || this.#isWholeHere(segment.words, state, nowUs)
  }

  #isWholeHere(words: Float64Array, at: number, nowUs: number): boolean {
    return this.#rings === undefined
      ? this.judge.isWhole(words, at, nowUs)
      : this.judge.isWhole(this.#rings.get(words[at]), 0, nowUs)
  }

  forget(words: Float64Array, at: number): void {
    this.#rings?.remove(words[at])
  }

  /** A state that is in no table yet. */
  #openLoose(words: Float64Array): void {
    this.words = words
    this.at = 0
    this.#isKept = false
  }

  /** As small as it can be. */
  #copyOfOpened(arithmetic: Arithmetic, nowUs: number): Float64Array {
    if (this.#rings === undefined) return this.words.slice(this.at, this.at + arithmetic.words)
    const copy = new Float64Array(arithmetic.wordsFor(this.words, 0, nowUs, 0))
    arithmetic.adopt(copy, 0, nowUs, arithmetic, this.words, 0)
    return copy
  }

  /** What was shared where only one limit used the states is gone on from, and else begun anew. */
  #openAnew(arithmetic: Arithmetic, low: number, nowUs: number): void {
    const [first] = this.#peers
    if (arithmetic.portable && first !== this && first.#findShared(low)) this.#openCopy(first, arithmetic, nowUs)
    else {
      this.#openLoose(this.#fresh)
      arithmetic.start(this.words, 0, nowUs)
    }
  }

  #findShared(low: number): boolean {
    const table = this.#shared
    if (table === undefined || table.count === 0) return false
    return this.#findIn(table, 1, sharedLow(low)) || this.#findIn(table, 1, COMMON_LOW)
  }

  #newTable(census: Omit<Census, 'shared'>): Table {
    return new Table(this.#rings === undefined ? this.#fresh.length : 1, this, census)
  }

  #findIn(table: Table, high: number, low: number): boolean {
    const segment = table.segment(high)
    const state = segment.find(high, low)
    if (state < 0) return false
    if (this.#rings === undefined) {
      this.words = segment.words
      this.at = state
      this.#isKept = true
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
      this.#isKept = true
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
    this.#isKept = true
  }

  /**
   * Makes room for `cost` more, as far as there is any, and says how much may be taken. Doubles, so that growing costs
   * little in the long run, but no further than a whole quota needs.
   */
  #grow(rings: RingStorage, arithmetic: Arithmetic, nowUs: number, cost: number): number {
    const length = this.words.length
    const most = length + rings.room
    const takes = Math.min(cost, Math.max(0, most - arithmetic.wordsFor(this.words, 0, nowUs, 0)))
    const needed = arithmetic.wordsFor(this.words, 0, nowUs, takes)
    if (needed > length) {
      const enough = arithmetic.words + arithmetic.quota
      // Where room is scarce, no more than needed.
      const doubled = length <= rings.room / 8 ? Math.min(enough, 2 * length, most) : needed
      const larger = new Float64Array(Math.max(needed, doubled))
      arithmetic.adopt(larger, 0, nowUs, arithmetic, this.words, 0)
      rings.replace(this.#ring, larger)
      this.words = larger
    }
    return takes
  }
}

/** The leading bits only, so that many keys come to share a state, well spread over the shared table. */
function sharedLow(low: number): number {
  return low & (-1 << (32 - SHARED_BITS))
}
