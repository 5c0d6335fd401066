import { type Arithmetic, blockedDecision, type Decision, type Limit, type Taken } from '../../limits/index.js'
import { type Fingerprint, OVERFLOW } from './key-hash.js'
import type { LogStorage } from './log-storage.js'
import type { MemoryShortage } from './memory-store-stats.js'
import type { NamedStates, StateTable } from './named-states.js'
import type { Segment } from './segment.js'

/**
 * One demand's state while its request is decided. A store uses the same few records for every request.
 *
 * The order of calls is `use` (name and limit), `open` (key), `begin` if the key has no state, and then the rest. A record
 * points into a table, and adding to that table or sweeping it makes the pointer stale. So a request opens all of its
 * records first, and adds states only after every record has taken.
 */
export class OpenState implements Fingerprint {
  // What `use` found. Most requests ask for the same name and limit again.
  name: string | undefined
  limit: Limit | undefined
  names!: NamedStates
  states!: StateTable
  arithmetic!: Arithmetic
  #writer = 0

  /** The fingerprint: that of the key, set before `open`, or that of the overflow state that the key shares. */
  high = 0
  low = 0
  /** Is there a state, or room for one? */
  #hasRoom = true
  #segment!: Segment
  #entry = 0
  // The state: in the segment, in the log storage, or in `#fresh`.
  #words!: Float64Array
  #at = 0
  /** Was the key's own state found? */
  isFound = false
  /** The state is not in the table yet. */
  isNew = false
  #blockedUs = 0
  /** May `tryTake` decide it? Not if the key is blocked, has no room, or its state may grow or is shared. */
  isPlain = false

  // The demand. Several demands for the same state are added up in the first of them.
  first: OpenState = this
  cost = 0
  isShadow = false
  /** Does the demand fit? Set by `reserve`. */
  fits = false
  #reservedWords = 0

  readonly #shortage: MemoryShortage
  #fresh = new Float64Array(2)

  constructor(shortage: MemoryShortage) {
    this.#shortage = shortage
  }

  use(name: string, limit: Limit, names: NamedStates): void {
    const { states, arithmetic, writer } = names.statesOf(limit)
    if (this.#fresh.length !== arithmetic.words) this.#fresh = new Float64Array(arithmetic.words)
    this.name = name
    this.limit = limit
    this.names = names
    this.states = states
    this.arithmetic = arithmetic
    this.#writer = writer
  }

  /** Finds the key's own state. If the key has none, call `begin`. */
  open(nowUs: number): void {
    const { states, names, high, low } = this
    this.#blockedUs = names.hasBlocks ? names.blockedUs(this, nowUs) : 0
    this.#hasRoom = true
    this.isPlain = this.#blockedUs <= 0 && states.logs === undefined
    if (this.arithmetic.words === 0) {
      // A state without words is as good as found: no key needs room for it.
      this.#startFresh(nowUs)
      this.isNew = false
      this.isFound = true
      return
    }
    const segment = states.table.segment(high)
    const at = segment.find(high, low)
    this.isFound = at >= 0
    if (at < 0) return
    this.#point(segment, at)
    // A whole state equals no state. Only another limit's state needs the check: this limit reads its own as whole.
    if (states.isMixed && segment.writerOf(at) !== this.#writer && states.isWhole(segment, at, nowUs))
      this.#startFresh(nowUs)
  }

  /**
   * Begins a state for a key that has none. With `hasRoom` it is the key's own. Otherwise the key shares an overflow state
   * with other keys or, unless `canShare`, gets no state and is denied.
   */
  begin(hasRoom: boolean, canShare: boolean, nowUs: number): void {
    const shared = this.states.findOverflow(this.low)
    if (shared >= 0) this.#point(this.states.table.segment(OVERFLOW), shared)
    else this.#startFresh(nowUs)
    if (hasRoom) {
      // The key may have taken units while the store was full: continue from a copy of the state that it shared then.
      if (shared >= 0) this.#startFromCopy(nowUs)
      return
    }
    this.isPlain = false
    this.#hasRoom = canShare
    this.high = OVERFLOW
    this.low = this.states.overflowLow(this.low)
  }

  /** Is it for the same name, key and state id as the other record? */
  isSame(other: OpenState): boolean {
    return this.low === other.low && this.high === other.high && this.states === other.states
  }

  /** Adds this demand to an earlier one for the same state: the earlier one takes for both. */
  join(earlier: OpenState): void {
    this.first = earlier
    earlier.cost += this.cost
    earlier.isShadow &&= this.isShadow
    this.isPlain = false
    earlier.isPlain = false
  }

  get isShared(): boolean {
    return this.high === OVERFLOW
  }

  /** A key that shares a state loses its room if an earlier one does in the same table: a request may do so for one key only. */
  giveWayTo(earlier: OpenState): void {
    if (earlier.isShared && this.states === earlier.states && this.first !== earlier.first) this.#hasRoom = false
  }

  /** Adds a new state to its table. This makes pointers of other records into the table stale. */
  add(nowUs: number): void {
    const { states, high, low } = this
    this.#setReserved(0)
    // A fresh state may replace one that is whole for the limit that wrote it.
    const found = states.isMixed ? states.table.segment(high).find(high, low) : -1
    const at = found >= 0 ? found : states.table.add(high, low, nowUs)
    const segment = states.table.segment(high)
    if (found >= 0) states.forget(segment, at)
    if (states.logs !== undefined) segment.words[at] = states.logs.add(this.#words)
    else for (let i = 0; i < this.arithmetic.words; i++) segment.words[at + i] = this.#words[i]
    segment.setWriter(at, this.#writer)
    this.#point(segment, at)
  }

  /** Finds out whether the demand fits, and sets aside the memory that it needs. Takes nothing. */
  reserve(nowUs: number): void {
    const { cost } = this.first
    this.fits = this.allows(nowUs, cost)
    if (this.states.logs === undefined) return
    this.#setReserved(this.fits && this.first === this && cost > 0 ? this.#extraWords(nowUs, cost) : 0)
  }

  /**
   * Call after `reserve`. If it `takes`, takes the units of a demand that fits, and describes the state after that. Otherwise
   * takes nothing, and describes a demand that fits as for a cost of 0: the state that the next request meets.
   */
  finish(nowUs: number, takes: boolean): Decision {
    const { first } = this
    const cost = takes || !this.fits ? first.cost : 0
    if (this.isPlain) {
      const decision = this.arithmetic.tryTake(this.#words, this.#at, nowUs, cost)
      if (decision.allowed && cost > 0) this.#sign()
      return decision
    }
    if (!takes) this.#setReserved(0)
    else if (first === this) {
      if (this.fits && cost > 0) this.take(nowUs, cost)
    } else if (first.fits && cost > 0) {
      this.#words = first.#words
      this.#at = first.#at
      // The first demand's limit may have cut the state to its own capacity, and then this shadow fits.
      this.fits ||= this.allows(nowUs, cost)
    }
    return this.describe(nowUs, cost, this.fits)
  }

  /** Did the demand take units for a state that is in no table yet? Then `add` is due. */
  get isAddDue(): boolean {
    return this.isNew && this.fits && this.cost > 0 && this.first === this
  }

  /** Would `cost` be allowed now? */
  allows(nowUs: number, cost: number): boolean {
    if (!this.#hasRoom || this.#blockedUs > 0) return false
    if (!this.arithmetic.fits(this.#words, this.#at, nowUs, cost)) return false
    const { logs } = this.states
    return logs === undefined || this.#extraWords(nowUs, cost) <= logs.room
  }

  /**
   * Call after `reserve`. Does the demand lack units, of a key that is not blocked? Lack of memory does not count, and
   * neither do units that other keys took from a shared state.
   */
  exceeds(nowUs: number): boolean {
    const { cost } = this.first
    if (cost === 0 || !this.#hasRoom || this.isShared || this.#blockedUs > 0) return false
    return !this.arithmetic.fits(this.#words, this.#at, nowUs, cost)
  }

  /** Takes `cost` whether it fits or not, or as much as there is memory for. Returns how many units it took. */
  take(nowUs: number, cost: number): number {
    if (!this.#hasRoom) return 0
    const { logs } = this.states
    const units = logs === undefined ? cost : this.#grow(logs, nowUs, cost)
    if (units === 0) return 0
    this.arithmetic.take(this.#words, this.#at, nowUs, units)
    this.#sign()
    return units
  }

  /** Takes `units` from a fresh state that replaces the key's own. Without memory for it, changes nothing and returns false. */
  restart(nowUs: number, units: number): boolean {
    if (!this.#hasRoom || this.isShared) return false
    const { logs, table } = this.states
    const held = this.isNew ? 0 : this.#words.length
    if (logs !== undefined && this.arithmetic.words + units > held + logs.room) return false
    table.remove(this.high, this.low)
    this.#startFresh(nowUs)
    if (units > 0 && this.take(nowUs, units) > 0) this.add(nowUs)
    return true
  }

  /** Gives units back to a state that a table has. */
  refund(nowUs: number, units: number, taken: Taken | undefined): void {
    if (!this.#hasRoom || this.isNew) return
    // Units of a key that shares a state may have been taken from a state of its own, since forgotten. A window, a log or
    // a queue is forgotten only when it holds no units, so for those `taken` proves that the shared state has the units.
    if (this.isShared && (taken === undefined || this.arithmetic.limit.algorithm === 'token-bucket')) return
    if (this.arithmetic.refund(this.#words, this.#at, nowUs, units, taken)) this.#sign()
  }

  /** The decision for `cost`, which is not taken. */
  peek(nowUs: number, cost: number): Decision {
    return this.allows(nowUs, cost) ? this.describe(nowUs, 0, true) : this.describe(nowUs, cost, false)
  }

  /** Describes the state after `cost` was taken from it or, if not `allowed`, was refused. */
  describe(nowUs: number, cost: number, allowed: boolean): Decision {
    if (!this.#hasRoom) return this.#shortage.refusal(this.arithmetic.quota)
    if (this.isShared) this.#shortage.shared++
    const fits = allowed || this.arithmetic.fits(this.#words, this.#at, nowUs, cost)
    if (fits && !allowed && this.#blockedUs <= 0) return this.#shortage.refusal(this.arithmetic.quota)
    const decision = this.arithmetic.decision(this.#words, this.#at, nowUs, cost, fits)
    return this.#blockedUs > 0 ? blockedDecision(decision, this.#blockedUs) : decision
  }

  /** When units taken now count as taken, in epoch microseconds. */
  takenUs(nowUs: number): number {
    return !this.#hasRoom ? nowUs : this.arithmetic.takenUs(this.#words, this.#at, nowUs)
  }

  #point(segment: Segment, at: number): void {
    this.#segment = segment
    this.#entry = at
    this.isNew = false
    const { logs } = this.states
    this.#words = logs === undefined ? segment.words : logs.get(segment.words[at])
    this.#at = logs === undefined ? at : 0
  }

  #startFresh(nowUs: number): void {
    this.#words = this.#fresh
    this.#at = 0
    this.isNew = true
    this.arithmetic.start(this.#words, 0, nowUs)
  }

  #startFromCopy(nowUs: number): void {
    const { elastic, words } = this.arithmetic
    const state = this.#words
    if (elastic === undefined) this.#words = state.slice(this.#at, this.#at + words)
    else this.#words = elastic.resized(state, elastic.wordsFor(state, nowUs, 0))
    this.#at = 0
    this.isNew = true
  }

  /** Records that this limit wrote the state last. */
  #sign(): void {
    if (!this.isNew && this.states.isMixed) this.#segment.setWriter(this.#entry, this.#writer)
  }

  #setReserved(words: number): void {
    if (words !== this.#reservedWords) this.states.logs?.reserve(words - this.#reservedWords)
    this.#reservedWords = words
  }

  /** How many more words the state needs to hold `cost` more units. */
  #extraWords(nowUs: number, cost: number): number {
    const needed = this.arithmetic.elastic?.wordsFor(this.#words, nowUs, cost) ?? 0
    return Math.max(0, needed - (this.isNew ? 0 : this.#words.length))
  }

  /** Makes room for `cost` more units, as far as there is memory, and returns how many units fit. */
  #grow(logs: LogStorage, nowUs: number, cost: number): number {
    // Its own reservation is part of the room it has.
    this.#setReserved(0)
    const held = this.isNew ? 0 : this.#words.length
    const units = logs.unitsFor(this.arithmetic, this.#words, held, nowUs, cost)
    if (units === 0 && this.isNew) return 0
    this.#words = logs.grown(this.arithmetic, this.#words, held, nowUs, units)
    // The storage counts the array of a new state when `add` hands it over.
    if (this.isNew) this.#setReserved(this.#words.length)
    else logs.replace(this.#segment.words[this.#entry], this.#words)
    return units
  }
}
