import { type Clock, systemClock } from '../../clock.js'
import { StoreFullError } from '../../errors.js'
import {
  type Arithmetic,
  blockedDecision,
  type Decision,
  type Limit,
  microseconds,
  type Taken,
} from '../../limits/index.js'
import type { Answer, Demand, SyncStore } from '../store.js'
import { type AddedDemand, addedDemands } from './added-demands.js'
import { Family, NO_ROOM } from './family.js'
import { KeyHash } from './key-hash.js'
import { MemoryOverrides } from './memory-overrides.js'
import { haveOwnNames, Opened, putBack } from './opened.js'
import { checkMemoryStoreOptions, type MemoryStoreOptions } from './options.js'
import { RingStorage } from './ring-storage.js'
import type { Space } from './space.js'
import { Sweeper } from './sweeper.js'
import type { Census } from './table.js'

/** What a memory store holds and what it has had to do. Counters only grow. */
export interface MemoryStoreStats {
  /** Keys with a state or a block. */
  readonly keys: number
  readonly maxKeys: number
  /** Bytes of all tables. */
  readonly bytes: number
  /** States that were whole again and have been forgotten. */
  readonly dropped: number
  /** Decisions for new keys that had to share a state, because the store was full. */
  readonly shared: number
  /** Decisions that were a denial for lack of room alone, and charges that were cut short by it. */
  readonly refused: number
}

/** Every so many calls a sweep looks at so many slots, side by side, so that few cache lines are fetched for it. */
const CALLS_A_SWEEP = 32
const SLOTS_A_SWEEP = 16
/** A new key may look at so many slots in search of one that can be dropped, and further on as long as others have found some. */
const SLOTS_FOR_ROOM = 64
const LOOKS_FOR_ROOM = 4
/** A client that was refused for lack of room is told to come back after this long. */
const REFUSED_MS = 1000

/**
 * Keeps all state in this process, in flat arrays: no object, timer or closure a key, and never more than `maxKeys`.
 *
 * @example
 * ```ts
 * import { createLimiter, memoryStore, tokenBucket } from 'sluice'
 *
 * const store = memoryStore({ maxKeys: 1_000_000 })
 * const search = createLimiter({ name: 'search', limit: tokenBucket({ capacity: 100, refill: '10/s' }), store })
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  return new MemoryStore(options)
}

/** Where a key's state was opened. */
const OWN = 0
const FRESH = 1
const SHARED = 2
const NOWHERE = 3

/** How many of so many units a log would remember. */
function remembered(arithmetic: Arithmetic, words: Float64Array, at: number, nowUs: number, cost: number): number {
  return arithmetic.wordsFor(words, at, nowUs, cost) - arithmetic.wordsFor(words, at, nowUs, 0)
}

/**
 * Were units taken from the state that a key shares with others, if they were taken at all? A window, a log or a queue that
 * still counts them is a key's own until it does not. A token bucket's may be from a state of its own that was full again
 * and forgotten, and then no state holds them.
 */
function isInShared({ algorithm }: Limit, taken: Taken | undefined): boolean {
  return taken !== undefined && algorithm !== 'token-bucket'
}

export class MemoryStore implements SyncStore {
  readonly synchronous = true
  readonly clock: Clock
  readonly #maxKeys: number
  readonly #sharesWhenFull: boolean
  readonly #hash: KeyHash
  readonly #rings: RingStorage
  readonly #census: Census = { keys: 0, dropped: 0, shared: { keys: 0, dropped: 0 } }
  readonly #sweeper = new Sweeper()
  readonly #families = new Map<string, Family>()
  readonly #opened: Opened[] = []
  readonly #overrides = new Map<string, MemoryOverrides>()
  #callsUntilSweep = CALLS_A_SWEEP
  #foundRoom = true
  #sharedCount = 0
  #refusedCount = 0

  // What the last demand came to, which is what the next one mostly asks for again.
  #name: string | undefined
  #limit: Limit | undefined
  #family!: Family
  #ownSpace!: Space
  /** Where the state that is open is: there, or where a limit with other numbers has left it. */
  #space!: Space
  #arithmetic!: Arithmetic

  constructor(options: MemoryStoreOptions) {
    const { maxKeys, onFull, clock, maxLogTimestamps, seed } = checkMemoryStoreOptions(options)
    this.#maxKeys = maxKeys
    this.#sharesWhenFull = onFull === 'share'
    this.clock = clock ?? systemClock
    this.#rings = new RingStorage(maxLogTimestamps)
    this.#hash = new KeyHash(seed)
  }

  /** How many keys have a state or a block. */
  get size(): number {
    return this.#census.keys
  }

  stats(): MemoryStoreStats {
    return {
      keys: this.#census.keys,
      maxKeys: this.#maxKeys,
      bytes: this.#sweeper.tables.reduce((bytes, table) => bytes + table.bytes, this.#rings.words * 8),
      dropped: this.#census.dropped,
      shared: this.#sharedCount,
      refused: this.#refusedCount,
    }
  }

  decideOne(name: string, limit: Limit, key: string, cost: number): Decision {
    const nowUs = this.#begin()
    this.#resolve(name, limit)
    const high = this.#hash.of(key)
    const low = this.#hash.low
    const space = this.#ownSpace
    // The usual cases first and in one go: nobody is blocked, nothing has to grow, and the key has a state or may begin one.
    if (space.isFlat && this.#family.isSimple) {
      const segment = space.table.segment(high)
      const at = segment.find(high, low)
      if (at >= 0) return this.#arithmetic.tryTake(segment.words, at, nowUs, cost)
      if (this.#isRoom(0) && space.begin(this.#arithmetic, high, low, nowUs, cost))
        return this.#arithmetic.tryTake(space.words, space.at, nowUs, cost)
    }
    const place = this.#openOne(high, low, nowUs)
    const allowed = this.#allows(place, high, low, nowUs, cost)
    if (allowed && cost > 0) this.#take(place, high, low, nowUs, cost)
    return this.#describe(place, high, low, nowUs, cost, allowed)
  }

  decide(demands: readonly Demand[]): Answer {
    const nowUs = this.#begin()
    if (!haveOwnNames(demands)) return this.#decideAdded(demands, nowUs)
    return this.#decideAtOnce(demands, nowUs) ?? this.#decideApart(demands, nowUs)
  }

  /**
   * The usual case in one go: every key has a state, nobody is blocked, nothing has to grow, and all is there. As soon as
   * something is otherwise, what was taken is put back word for word, and there is no answer.
   */
  #decideAtOnce(demands: readonly Demand[], nowUs: number): Answer | undefined {
    const count = demands.length
    const opened = this.#opened
    while (opened.length < count) opened.push(new Opened())
    let high = 0
    // All are found before the first is taken from, so that the memory they lie in is fetched at the same time.
    for (let i = 0; i < count; i++) {
      const { name, limit, key } = demands[i]
      if (i === 0 || key !== demands[i - 1].key) high = this.#hash.of(key)
      const each = opened[i]
      if (each.name !== name) each.use(name, this.#familyOf(name))
      const { family } = each
      if (limit !== family.limit) family.use(limit)
      const segment = family.space.table.segment(high)
      each.at = segment.find(high, this.#hash.low)
      each.words = segment.words
      if (each.at < 0 || !family.space.isFlat || !family.isSimple) return undefined
    }
    const decisions: Decision[] = []
    const takenUs: number[] = []
    for (let i = 0; i < count; i++) {
      const each = opened[i]
      const { words, at } = each
      const { arithmetic } = each.family
      const { cost, shadow } = demands[i]
      each.save(arithmetic.words)
      const decision = arithmetic.tryTake(words, at, nowUs, cost)
      if (!decision.allowed && shadow !== true) {
        putBack(opened, i)
        return undefined
      }
      decisions.push(decision)
      takenUs.push(arithmetic.takenUs(words, at, nowUs))
    }
    return { allowed: true, decisions, takenUs }
  }

  /** Demands under different names, which nearly all are: no two are for the same state, or touch the same table. */
  #decideApart(demands: readonly Demand[], nowUs: number): Answer {
    const count = demands.length
    const opened = this.#opened
    // Room is made before the first state is looked at, as below.
    this.#makeRoom(nowUs, count - 1)
    this.#rings.forgetPromises()
    let allowed = true
    let newKeys = 0
    let high = 0
    for (let i = 0; i < count; i++) {
      const { name, limit, key, cost, shadow } = demands[i]
      if (i === 0 || key !== demands[i - 1].key) high = this.#hash.of(key)
      const low = this.#hash.low
      this.#resolve(name, limit)
      const place = this.#open(high, low, nowUs, newKeys)
      const allows = this.#allows(place, high, low, nowUs, cost)
      if (!allows && shadow !== true) allowed = false
      const takes = allows && cost > 0
      if (takes && place === FRESH) newKeys++
      const each = opened[i]
      each.use(name, this.#family)
      each.space = this.#space
      each.high = high
      each.low = low
      each.place = place
      each.allows = allows
      each.promised = takes ? this.#promise(high, low, nowUs, cost) : 0
    }
    if (!allowed) this.#rings.forgetPromises()
    const takenUs = new Array<number>(count)
    const decisions = new Array<Decision>(count)
    for (let i = 0; i < count; i++) {
      const { name, limit, cost } = demands[i]
      const { space, high, low, place, allows, promised } = opened[i]
      this.#resolve(name, limit)
      this.#space = space
      if (allowed && allows && cost > 0) {
        this.#rings.redeem(promised)
        this.#take(place, high, low, nowUs, cost)
      }
      takenUs[i] = this.#takenUs(place, nowUs)
      // Where another demand was refused, this one took nothing.
      decisions[i] = this.#describe(place, high, low, nowUs, allows && !allowed ? 0 : cost, allows)
    }
    return { allowed, decisions, takenUs }
  }

  #decideAdded(demands: readonly Demand[], nowUs: number): Answer {
    const group = addedDemands(demands, this.#hash)
    // Room is made before the first state is looked at: what is found to be whole and dropped in between would need a
    // place again afterwards.
    this.#makeRoom(nowUs, group.length - 1)
    this.#lookAt(group, nowUs)
    const allowed = group.every(({ shadow, allows }) => shadow || allows)
    if (!allowed) this.#rings.forgetPromises()
    const takenUs: number[] = []
    const decisions = group.map((each) => {
      const { name, limit, high, low, cost, allows } = each
      this.#resolve(name, limit)
      const hasRoom = each.place === OWN || each.place === FRESH
      const place = this.#openIn(hasRoom, high, low, nowUs)
      if (allowed && each.takes) {
        this.#rings.redeem(each.promised)
        this.#take(place, high, low, nowUs, cost)
      }
      takenUs.push(this.#takenUs(place, nowUs))
      // Where another demand was refused, this one took nothing.
      return this.#describe(place, high, low, nowUs, allows && !allowed ? 0 : cost, allows)
    })
    return { allowed, decisions, takenUs }
  }

  /**
   * Finds out which demands can be met, each beside those before it. Keys without a state of their own may share one with
   * each other, so each of them must leave enough for those before it.
   */
  #lookAt(group: readonly AddedDemand[], nowUs: number): void {
    this.#rings.forgetPromises()
    let newKeys = 0
    const sharedUnits = new Map<Space, number>()
    for (const each of group) {
      const { name, limit, high, low, cost, first, isFirst } = each
      this.#resolve(name, limit)
      each.place = this.#open(high, low, nowUs, first.takes && first.place === FRESH ? newKeys - 1 : newKeys)
      each.space = this.#space
      if (each.place === SHARED) {
        each.sharedBefore = isFirst ? (sharedUnits.get(each.space) ?? 0) : first.sharedBefore
        // What the first takes would be in no state that this one's window is counted in.
        if (each.space !== first.space) each.place = NOWHERE
      }
      each.allows = this.#allows(each.place, high, low, nowUs, cost + each.sharedBefore)
      each.takes = isFirst && each.allows && cost > 0
      if (!each.takes) continue
      if (each.place === FRESH) newKeys++
      if (each.place === SHARED) sharedUnits.set(each.space, each.sharedBefore + cost)
      each.promised = this.#promise(high, low, nowUs, cost)
    }
  }

  charge({ name, limit, key, cost }: Demand): Decision {
    const nowUs = this.#begin()
    this.#resolve(name, limit)
    const high = this.#hash.of(key)
    const low = this.#hash.low
    const place = this.#openOne(high, low, nowUs)
    if (place !== NOWHERE && cost > 0) this.#take(place, high, low, nowUs, cost)
    return this.#describe(place, high, low, nowUs, 0, this.#allows(place, high, low, nowUs, 0))
  }

  refund({ name, limit, key, cost }: Demand, taken: Taken | undefined): Decision {
    const nowUs = this.#begin()
    this.#resolve(name, limit)
    const high = this.#hash.of(key)
    const low = this.#hash.low
    const place = this.#openOne(high, low, nowUs)
    const { words, at } = this.#space
    if (place === OWN || (place === SHARED && isInShared(limit, taken)))
      this.#arithmetic.refund(words, at, nowUs, cost, taken)
    if (this.#family.hasViews) this.#family.refundElsewhere(this.#ownSpace, high, low, nowUs, cost, taken)
    return this.#describe(place, high, low, nowUs, 0, this.#allows(place, high, low, nowUs, 0))
  }

  reset(name: string, key: string): void {
    const high = this.#hash.of(key)
    this.#families.get(name)?.forget(high, this.#hash.low)
  }

  block(name: string, key: string, durationUs: number): void {
    const nowUs = this.#begin()
    const high = this.#hash.of(key)
    const isRoom = () => this.#makeRoom(nowUs, 0)
    if (this.#familyOf(name).block(high, this.#hash.low, nowUs, nowUs + durationUs, isRoom)) return
    throw new StoreFullError(`the store holds ${this.#maxKeys} keys (maxKeys) and cannot remember another block`)
  }

  overrides(policy: string): MemoryOverrides {
    let overrides = this.#overrides.get(policy)
    if (overrides === undefined) {
      overrides = new MemoryOverrides(this.clock)
      this.#overrides.set(policy, overrides)
    }
    return overrides
  }

  /** Every call reads the clock once and pays for a little of the sweeping. */
  #begin(): number {
    const nowUs = microseconds(this.clock.now())
    if (--this.#callsUntilSweep === 0) {
      this.#callsUntilSweep = CALLS_A_SWEEP
      this.#sweeper.sweep(SLOTS_A_SWEEP, nowUs)
    }
    return nowUs
  }

  #resolve(name: string, limit: Limit): void {
    if (limit !== this.#limit || name !== this.#name) this.#resolveAnew(name, limit)
  }

  #resolveAnew(name: string, limit: Limit): void {
    const family = this.#familyOf(name)
    if (limit !== family.limit) family.use(limit)
    this.#family = family
    this.#ownSpace = family.space
    this.#arithmetic = family.arithmetic
    this.#name = name
    this.#limit = limit
  }

  #familyOf(name: string): Family {
    let family = this.#families.get(name)
    if (family === undefined) {
      family = new Family(this.#rings, this.#census, this.#sweeper)
      this.#families.set(name, family)
    }
    return family
  }

  /** `open` for a key that is asked for alone: if it is new, there may be others to drop for it. */
  #openOne(high: number, low: number, nowUs: number): number {
    if (!this.#isRoom(0)) {
      const found = this.#family.find(this.#ownSpace, this.#arithmetic, high, low, nowUs, false)
      if (found === undefined || found === NO_ROOM) this.#makeRoom(nowUs, 0)
    }
    return this.#open(high, low, nowUs, 0)
  }

  /** Opens a key's state, or what a key without one gets, when `newKeys` others are about to be kept. */
  #open(high: number, low: number, nowUs: number, newKeys: number): number {
    return this.#openIn(this.#isRoom(newKeys), high, low, nowUs)
  }

  /** Opens a key's state, or what a key without one gets if there is room for it or is not. */
  #openIn(hasRoom: boolean, high: number, low: number, nowUs: number): number {
    const space = this.#ownSpace
    const found = this.#family.find(space, this.#arithmetic, high, low, nowUs, hasRoom)
    this.#space = found === undefined || found === NO_ROOM ? space : found
    if (found === NO_ROOM) return NOWHERE
    if (found !== undefined) return OWN
    if (hasRoom) {
      space.openFresh(this.#arithmetic, low, nowUs)
      return FRESH
    }
    if (!this.#sharesWhenFull) return NOWHERE
    space.openShared(this.#arithmetic, low, nowUs)
    return SHARED
  }

  #isRoom(newKeys: number): boolean {
    return this.#census.keys + newKeys < this.#maxKeys
  }

  #makeRoom(nowUs: number, newKeys: number): boolean {
    if (this.#isRoom(newKeys)) return true
    const looks = this.#foundRoom ? LOOKS_FOR_ROOM : 1
    for (let i = 0; i < looks && !this.#isRoom(newKeys); i++) this.#sweeper.sweep(SLOTS_FOR_ROOM, nowUs)
    this.#foundRoom = this.#isRoom(newKeys)
    return this.#foundRoom
  }

  #allows(place: number, high: number, low: number, nowUs: number, cost: number): boolean {
    const space = this.#space
    if (place === NOWHERE || !this.#arithmetic.fits(space.words, space.at, nowUs, cost)) return false
    if (this.#family.blockedUs(high, low, nowUs) > 0) return false
    return space.isFlat || this.#extraWords(high, low, nowUs, cost) <= this.#rings.room
  }

  /** How many words more the opened log and the other views of its key need to hold `cost` more. */
  #extraWords(high: number, low: number, nowUs: number, cost: number): number {
    const [space, arithmetic, family] = [this.#space, this.#arithmetic, this.#family]
    const words = space.extraWords(arithmetic, nowUs, cost)
    return family.hasViews ? words + family.extraWordsElsewhere(space, high, low, nowUs, cost, arithmetic.quota) : words
  }

  /** Sets memory aside for the opened state to take `cost`, and says how much. */
  #promise(high: number, low: number, nowUs: number, cost: number): number {
    if (this.#space.isFlat) return 0
    const words = this.#extraWords(high, low, nowUs, cost)
    this.#rings.promise(words)
    return words
  }

  #takenUs(place: number, nowUs: number): number {
    return place === NOWHERE ? nowUs : this.#arithmetic.takenUs(this.#space.words, this.#space.at, nowUs)
  }

  /**
   * Takes from the opened state, and keeps that if it is new. Only a charge to a log can find too little memory: whatever
   * else takes has asked before, and what it needs is set aside.
   */
  #take(place: number, high: number, low: number, nowUs: number, cost: number): void {
    const space = this.#space
    // Then its answer says so, and counts it.
    if (!space.canKeep) return
    if (place === FRESH) space.keep(high, low, nowUs)
    else if (place === SHARED) space.keepShared(low, nowUs)
    const { words, at } = space
    const taking = this.#arithmetic.elastic ? remembered(this.#arithmetic, words, at, nowUs, cost) : cost
    if (space.take(this.#arithmetic, nowUs, cost) < cost) this.#refusedCount++
    if (this.#family.hasViews) this.#family.takeElsewhere(space, high, low, nowUs, taking, this.#arithmetic.quota)
  }

  #describe(place: number, high: number, low: number, nowUs: number, cost: number, allowed: boolean): Decision {
    const arithmetic = this.#arithmetic
    const { words, at } = this.#space
    if (place === NOWHERE) return this.#refusal(arithmetic.quota)
    if (place === SHARED) this.#sharedCount++
    const blockedUs = this.#family.blockedUs(high, low, nowUs)
    if (blockedUs > 0) {
      const fits = arithmetic.fits(words, at, nowUs, cost)
      return blockedDecision(arithmetic.decision(words, at, nowUs, cost, fits), blockedUs)
    }
    if (!allowed && arithmetic.fits(words, at, nowUs, cost)) return this.#refusal(arithmetic.quota)
    return arithmetic.decision(words, at, nowUs, cost, allowed)
  }

  /** Denied for lack of room alone: nobody can say when there will be some. */
  #refusal(quota: number): Decision {
    this.#refusedCount++
    return {
      allowed: false,
      quota,
      remaining: 0,
      retryAfterMs: REFUSED_MS,
      nextUnitAfterMs: REFUSED_MS,
      resetAfterMs: REFUSED_MS,
      delayMs: 0,
    }
  }
}
