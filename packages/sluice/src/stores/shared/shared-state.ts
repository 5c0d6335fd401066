import { blockedDecision, type Decision, type Taken, uncountedDenial } from '../../limits/index.js'
import type { Fingerprint } from '../memory/key-hash.js'
import type { SharedLimit } from './shared-limits.js'
import type { SharedMemory } from './shared-memory.js'
import type { SharedTable } from './shared-table.js'
import type { StateWord } from './state-word.js'

/** The wait that a client is told after a refusal for lack of memory: the store cannot know when there is room. */
const REFUSED_MS = 1000

/** Keys without an entry share a state by the 9 leading bits of the low half of their fingerprint. */
const OVERFLOW_SHIFT = 23

/**
 * One demand's state while its request is decided. A store uses the same few records for every request.
 *
 * A change is a round of `open` (find the word and read it) and `swap` (write the next word, if no other thread was
 * faster), which is repeated until `swap` says that it worked. Times are microseconds since the store began.
 */
export class SharedState implements Fingerprint {
  /** The fingerprint of the name, the limit and the key. */
  high = 0
  low = 0
  /** Is there a state, or room for one? Set by `open`. */
  hasRoom = true
  /** Does the key share a state, for lack of an entry? Set by `open`. */
  isShared = false
  /** What is used of the limit, in its own measure. Set by `open`, `take` and the like. */
  used = 0
  /** The time of the decision. */
  nowUs = 0
  /** How long the key is still blocked. */
  blockedUs = 0

  // The demand. Several demands for the same state are added up in the first of them.
  first: SharedState = this
  cost = 0
  isShadow = false
  fits = false
  /** How many units `take` has taken for the request. */
  takenCost = 0

  limit!: SharedLimit
  readonly #memory: SharedMemory
  readonly #canShare: boolean
  readonly #now: () => number
  /** The word as its limit reads it: that of the cell or, for a state that was not written yet, 0. */
  readonly #word: StateWord = { hi: 0, lo: 0 }
  // Where the state is: its table, its key there, and the cell of its word, or -1 if it has no entry.
  #table: SharedTable
  #key: Fingerprint = this
  #cell = -1
  // What the cell held, and the lower half of the tag.
  #hi = 0
  #lo = 0
  #tagLo = 0
  readonly #overflowKey: Fingerprint = { high: 0, low: 0 }

  /** `now` tells the time, which the record reads again if the key has no state. */
  constructor(memory: SharedMemory, canShare: boolean, now: () => number) {
    this.#memory = memory
    this.#canShare = canShare
    this.#now = now
    this.#table = memory.table
  }

  /** Sets the limit, the key and the time. */
  use(limit: SharedLimit, key: Fingerprint, nowUs: number): void {
    this.nowUs = nowUs
    this.limit = limit
    this.high = limit.high ^ key.high || 1
    this.low = limit.low ^ key.low
  }

  /** Sets the demand. If an earlier one is for the same state, that one takes for both. */
  demand(cost: number, isShadow: boolean, first: SharedState): void {
    this.takenCost = 0
    this.first = first
    this.cost = cost
    this.isShadow = isShadow
    if (first === this) return
    first.cost += cost
    first.isShadow &&= isShadow
  }

  /** Is it for the same name, key and limit as an earlier record of the request? */
  isSame(earlier: SharedState): boolean {
    return this.low === earlier.low && this.high === earlier.high && this.limit === earlier.limit
  }

  /** Finds the key's state and reads it. */
  open(): void {
    this.hasRoom = true
    this.isShared = false
    this.#table = this.#memory.table
    if (this.limit.isUnlimited) this.#setWhole(-1)
    else if (!this.#read(this)) this.#openNew()
  }

  /** Opens the state again until it was read in one piece: a decision that changes nothing may then be made on it. */
  confirm(): void {
    while (!this.#isCurrent()) this.open()
  }

  /** Would the cost of the demand, with those of others for the same state, be allowed now? */
  allows(cost: number): boolean {
    return this.hasRoom && this.blockedUs <= 0 && this.limit.words.fits(this.used, cost)
  }

  /** Does the demand lack units, of a key that is not blocked? Lack of memory does not count, as in the memory store. */
  exceeds(): boolean {
    const { cost } = this.first
    if (cost === 0 || !this.hasRoom || this.isShared || this.blockedUs > 0) return false
    return !this.limit.words.fits(this.used, cost)
  }

  /** Takes the cost if it fits, and returns whether it did. Call after `open`. */
  tryTake(cost: number): boolean {
    for (;;) {
      const fits = this.allows(cost)
      const used = fits ? this.limit.words.plus(this.used, cost) : this.used
      if (this.#change(used)) return fits
      this.open()
    }
  }

  /** Takes the costs of the request's demands for this state, if they fit. */
  takeForRequest(): boolean {
    const isTaken = this.tryTake(this.cost)
    if (isTaken) this.takenCost = this.cost
    return isTaken
  }

  /** Gives back what `takeForRequest` has taken. */
  putBack(): void {
    const { takenCost } = this
    if (takenCost === 0) return
    const { delayMs } = this.limit.words.decision(this.used, this.#word, this.nowUs, takenCost, true)
    const taken = { atUs: this.takenUs(), cost: takenCost, delayMs }
    this.takenCost = 0
    this.open()
    this.refund(takenCost, taken)
  }

  /** Takes the cost whether it fits or not. Call after `open`. */
  take(cost: number): void {
    while (this.hasRoom && !this.#change(this.limit.words.plus(this.used, cost))) this.open()
  }

  /**
   * Takes `units` from a fresh state that replaces the key's own. If there is no room for one, changes nothing and returns
   * false. Call after `open`.
   */
  restart(units: number): boolean {
    const used = this.limit.words.plus(0, units)
    for (;;) {
      if (!this.hasRoom || this.isShared) return false
      if (this.#cell < 0 && used === this.used) return true
      this.#word.hi = 0
      this.#word.lo = 0
      if (this.#swap(used)) return true
      this.open()
    }
  }

  /** Gives units back to a state that the table has. Call after `open`. */
  refund(units: number, taken: Taken | undefined): void {
    for (;;) {
      if (!this.hasRoom || this.#cell < 0) return
      // As in the memory store: units of a key that shares a state may have come from a state of its own.
      if (this.isShared && (taken === undefined || this.limit.isTokenBucket)) return
      const used = this.limit.words.minus(this.used, this.#word, this.nowUs, units, taken)
      if (this.#change(used)) return
      this.open()
    }
  }

  /** Forgets what was taken: the state is whole again. */
  reset(): void {
    this.#table = this.#memory.table
    while (this.#read(this) && !this.#change(0));
  }

  /** The decision for `cost`, which is not taken. */
  peek(cost: number): Decision {
    return this.allows(cost) ? this.describe(0, true) : this.describe(cost, false)
  }

  /** Counts a decision that had to share a state, or was refused, for lack of memory. */
  countShortage(): void {
    if (!this.hasRoom) this.#memory.countRefused()
    else if (this.isShared) this.#memory.countShared()
  }

  /** Describes the state after `cost` was taken from it or, if not `allowed`, was refused. */
  describe(cost: number, allowed: boolean): Decision {
    if (!this.hasRoom) return uncountedDenial(this.limit.words.arithmetic.quota, REFUSED_MS)
    const { words } = this.limit
    if (this.blockedUs <= 0) return words.decision(this.used, this.#word, this.nowUs, cost, allowed)
    const fits = words.fits(this.used, cost)
    return blockedDecision(words.decision(this.used, this.#word, this.nowUs, cost, fits), this.blockedUs)
  }

  /** When units taken now count as taken, in epoch microseconds. */
  takenUs(): number {
    return this.limit.words.takenUs(this.used, this.#word, this.nowUs)
  }

  /**
   * Reads the word of a key from `#table`, perhaps in two pieces or after the entry has changed hands: `#change` finds out.
   * Returns false if the key has no entry.
   */
  #read(key: Fingerprint): boolean {
    const { cells } = this.#memory
    const word = this.#word
    for (;;) {
      const cell = this.#table.find(key)
      this.#cell = cell
      this.#key = key
      if (cell < 0) return false
      this.#tagLo = this.#table.tagLo
      cells.glance(cell)
      const { hi, lo } = cells
      if (hi < 0 && !this.#table.isOver(cell, hi, lo)) continue
      this.#hi = hi
      this.#lo = lo
      if (hi < 0) this.#startFresh()
      else {
        word.hi = hi
        word.lo = lo
        this.used = this.limit.words.used(word, this.nowUs)
      }
      return true
    }
  }

  /** Opens the state of a key that has no entry: a new one, or one that it shares. */
  #openNew(): void {
    if (this.#table.hasRoom(this, this.nowUs)) {
      this.#startFresh()
      return
    }
    this.#table = this.#memory.overflow
    this.isShared = true
    this.hasRoom = this.#canShare
    if (!this.hasRoom || this.#read(this.#sharedKey())) return
    this.hasRoom = this.#table.hasRoom(this.#overflowKey, this.nowUs)
    this.#setWhole(this.#cell)
  }

  #setWhole(cell: number): void {
    this.#cell = cell
    this.#word.hi = 0
    this.#word.lo = 0
    this.used = 0
  }

  /**
   * A state that was not written yet. If the key has taken from a shared state, it continues from a copy of that.
   *
   * The key may have lost an earlier state that was whole by the time of another thread, later than the time that this
   * thread read before it was held up. So the state begins at the time of now.
   */
  #startFresh(): void {
    this.nowUs = Math.max(this.nowUs, this.#now())
    const { overflow, cells, hasOverflow } = this.#memory
    this.#setWhole(this.#cell)
    if (!hasOverflow || this.#table === overflow) return
    if (!overflow.read(this.#sharedKey())) return
    const word = this.#word
    word.hi = cells.hi
    word.lo = cells.lo
    this.used = this.limit.words.used(word, this.nowUs)
  }

  #sharedKey(): Fingerprint {
    const leading = this.low >>> OVERFLOW_SHIFT
    const { high, low } = this.limit
    this.#overflowKey.high = high ^ leading || 1
    this.#overflowKey.low = low ^ (leading << OVERFLOW_SHIFT)
    return this.#overflowKey
  }

  /** Writes what is used now or, if that is as before, confirms it. Returns false if another thread was faster. */
  #change(used: number): boolean {
    return used === this.used ? this.#isCurrent() : this.#swap(used)
  }

  /** Writes what is used now, unless another thread was faster. A new state gets an entry, and must be opened again. */
  #swap(used: number): boolean {
    const word = this.#word
    if (this.#cell < 0) {
      this.#table.insert(this.#key, this.nowUs)
      return false
    }
    this.limit.words.write(word, this.nowUs, used)
    const { cells } = this.#memory
    if (!cells.exchangeEntry(this.#cell, this.#key.high, this.#tagLo, this.#hi, this.#lo, word.hi, word.lo))
      return false
    this.#hi = word.hi
    this.#lo = word.lo
    this.used = used
    return true
  }

  /** Is the state still as `open` has read it? Then a decision may be made on it without a change. */
  #isCurrent(): boolean {
    if (this.#cell < 0) return true
    return this.#memory.cells.entryHolds(this.#cell, this.#key.high, this.#tagLo, this.#hi, this.#lo)
  }
}
