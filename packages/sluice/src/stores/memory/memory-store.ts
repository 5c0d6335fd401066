import { type Clock, systemClock } from '../../clock.js'
import { StoreFullError } from '../../errors.js'
import { type Decision, type Limit, microseconds, nextBlock, type Taken } from '../../limits/index.js'
import type { Answer, Demand, LimitedKey, SyncStore } from '../store.js'
import { FirstUse } from './first-use.js'
import { KeyHash } from './key-hash.js'
import { KeyRoom } from './key-room.js'
import { LogStorage } from './log-storage.js'
import { MemoryOverrides } from './memory-overrides.js'
import { checkMemoryStoreOptions, type MemoryStoreOptions } from './memory-store-options.js'
import { MemoryShortage, type MemoryStoreStats } from './memory-store-stats.js'
import { NamedStates } from './named-states.js'
import { OpenState } from './open-state.js'
import { TableSet } from './table.js'

/**
 * Keeps all state in this process, in flat arrays: no object, timer or closure for each key, and never more than `maxKeys`.
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

/** A store in the memory of this process, made by `memoryStore`. It decides synchronously. */
export class MemoryStore implements SyncStore {
  readonly synchronous = true
  readonly blocksByRule = true
  readonly clock: Clock
  readonly #canShare: boolean
  readonly #hash: KeyHash
  readonly #logs: LogStorage
  readonly #tables = new TableSet()
  readonly #room: KeyRoom
  readonly #names = new Map<string, NamedStates>()
  readonly #overrides = new Map<string, MemoryOverrides>()
  readonly #shortage = new MemoryShortage()
  /** The record of calls with one demand, and those of requests with several: the n-th demand uses the n-th. */
  readonly #single = new OpenState(this.#shortage)
  readonly #records: OpenState[] = []
  /** How many requests with several demands came so far. */
  #requests = 0
  /** Present until it is known that the store is kept. With a clock of its own it is one of a test. */
  #firstUse: FirstUse | undefined
  /** Did any demand not fit when `#reserveAll` was called last? */
  #isUnmet = false

  constructor(options: MemoryStoreOptions) {
    const { maxKeys, onFull, clock, maxLogTimestamps, seed } = checkMemoryStoreOptions(options)
    this.#room = new KeyRoom(this.#tables, maxKeys)
    this.#canShare = onFull === 'share'
    this.clock = clock ?? systemClock
    this.#firstUse = clock === undefined ? FirstUse.ofNew() : undefined
    this.#logs = new LogStorage(maxLogTimestamps)
    this.#hash = new KeyHash(seed)
  }

  /** How many keys have a state or a block. */
  get size(): number {
    return this.#tables.counts.keys
  }

  stats(): MemoryStoreStats {
    const { keys, dropped } = this.#tables.counts
    const bytes = this.#tables.bytes + this.#logs.words * 8
    return { keys, maxKeys: this.#room.maxKeys, bytes, dropped, ...this.#shortage }
  }

  decideOne(name: string, limit: Limit, key: string, cost: number): Decision {
    if (this.#firstUse !== undefined) this.#firstUse = this.#firstUse.again()
    const nowUs = this.#begin()
    const state = this.#useSingle(name, limit, key)
    // The usual case in one go: the key has a state of its own, and nothing but its words decides.
    if (state.states.logs === undefined && !state.states.isMixed && !state.names.hasBlocks) {
      const segment = state.states.table.segment(state.high)
      const at = segment.find(state.high, state.low)
      if (at >= 0) return state.arithmetic.tryTake(segment.words, at, nowUs, cost)
    }
    this.#openSingle(nowUs)
    state.cost = cost
    state.reserve(nowUs)
    const decision = state.finish(nowUs, true)
    if (state.isAddDue) state.add(nowUs)
    return decision
  }

  /**
   * Opens the state of every demand, finds out whether all fit, and only then takes. Finding all states first lets the
   * processor fetch their memory at the same time.
   */
  decide(demands: readonly Demand[]): Answer {
    if (this.#firstUse !== undefined) this.#firstUse = this.#firstUse.again()
    const nowUs = this.#begin()
    const records = this.#openAll(demands, nowUs)
    const count = demands.length
    let allowed = this.#reserveAll(count, nowUs)
    // A block moves states, and denies other demands for the same key: so all are opened again.
    if (this.#isUnmet && this.#blockOffenders(demands, nowUs)) {
      this.#openAll(demands, nowUs)
      allowed = this.#reserveAll(count, nowUs)
    }
    const answer = this.#finishAll(count, nowUs, allowed, allowed)
    if (allowed) for (let i = 0; i < count; i++) if (records[i].isAddDue) records[i].add(nowUs)
    return answer
  }

  peekOne(name: string, limit: Limit, key: string, cost: number): Decision {
    const nowUs = this.#begin()
    this.#useSingle(name, limit, key)
    this.#openSingle(nowUs)
    return this.#peekSingle(nowUs, cost)
  }

  /** Ends as `decide` does for a request that is not allowed: such a request takes nothing. */
  peek(demands: readonly Demand[]): Answer {
    const nowUs = this.#begin()
    const { refused } = this.#shortage
    this.#openAll(demands, nowUs)
    const answer = this.#finishAll(demands.length, nowUs, this.#reserveAll(demands.length, nowUs), false)
    this.#shortage.refused = refused
    return answer
  }

  charge({ name, limit, key, cost }: Demand): Decision {
    const nowUs = this.#begin()
    const state = this.#useSingle(name, limit, key)
    this.#openSingle(nowUs)
    const taken = cost > 0 ? state.take(nowUs, cost) : 0
    if (taken > 0 && state.isNew) state.add(nowUs)
    if (taken < cost) this.#shortage.refused++
    return this.#peekSingle(nowUs, 1)
  }

  refund({ name, limit, key, cost }: Demand, taken: Taken | undefined): Decision {
    const nowUs = this.#begin()
    const state = this.#useSingle(name, limit, key)
    this.#openSingle(nowUs)
    if (cost > 0) state.refund(nowUs, cost, taken)
    return this.#peekSingle(nowUs, 1)
  }

  /** Throws if the store is full: to set a state that keys share would change them all. */
  set({ name, limit, key }: LimitedKey, remaining: number): Decision {
    const nowUs = this.#begin()
    const state = this.#useSingle(name, limit, key)
    this.#openSingle(nowUs)
    if (state.restart(nowUs, state.arithmetic.quota - remaining)) return this.#peekSingle(nowUs, 1)
    throw new StoreFullError('the store is full (maxKeys or, for a log, maxLogTimestamps): the key was not set')
  }

  reset(name: string, key: string): void {
    this.#hash.hash(key, this.#single)
    this.#names.get(name)?.forget(this.#single)
  }

  block(name: string, key: string, durationUs: number): void {
    const nowUs = this.#begin()
    this.#hash.hash(key, this.#single)
    const names = this.#namesOf(name)
    const { lastUs, rememberedUs } = names.blockOf(this.#single) ?? { lastUs: 0, rememberedUs: 0 }
    const block = { untilUs: nowUs + durationUs, lastUs, rememberedUs }
    if (names.block(this.#single, nowUs, block, () => this.#room.make(1, nowUs))) return
    throw new StoreFullError(`the store holds ${this.#room.maxKeys} keys (maxKeys) and cannot remember another block`)
  }

  overrides(policy: string): MemoryOverrides {
    const overrides = this.#overrides.get(policy) ?? new MemoryOverrides(this.clock)
    this.#overrides.set(policy, overrides)
    return overrides
  }

  /** Reads the clock, and sweeps a little at times. */
  #begin(): number {
    const nowUs = microseconds(this.clock.now())
    this.#tables.sweepAtTimes(nowUs)
    return nowUs
  }

  #use(state: OpenState, name: string, limit: Limit): OpenState {
    if (limit !== state.limit || name !== state.name) state.use(name, limit, this.#namesOf(name))
    return state
  }

  #useSingle(name: string, limit: Limit, key: string): OpenState {
    this.#hash.hash(key, this.#single)
    return this.#use(this.#single, name, limit)
  }

  #namesOf(name: string): NamedStates {
    let names = this.#names.get(name)
    if (names === undefined) {
      names = new NamedStates(this.#tables, this.#logs)
      this.#names.set(name, names)
    }
    return names
  }

  /** Opens the state of the key that was hashed last, for a call with one demand. */
  #openSingle(nowUs: number): void {
    const state = this.#single
    state.open(nowUs)
    if (!state.isFound) state.begin(this.#room.make(1, nowUs), this.#canShare, nowUs)
  }

  /** A peek at the state that is open. It denies no request, so a lack of memory is not counted. */
  #peekSingle(nowUs: number, cost: number): Decision {
    const { refused } = this.#shortage
    const decision = this.#single.peek(nowUs, cost)
    this.#shortage.refused = refused
    return decision
  }

  #openAll(demands: readonly Demand[], nowUs: number): readonly OpenState[] {
    while (this.#records.length < demands.length) this.#records.push(new OpenState(this.#shortage))
    const newKeys = this.#open(demands, nowUs)
    if (!this.#room.has(newKeys)) {
      // Sweeping moves states, so all are opened again.
      this.#room.make(newKeys, nowUs)
      this.#open(demands, nowUs)
    }
    return this.#records
  }

  /** Opens every demand's state, and returns how many keys need a new one. */
  #open(demands: readonly Demand[], nowUs: number): number {
    const records = this.#records
    const request = ++this.#requests
    let areFound = true
    for (let i = 0; i < demands.length; i++) {
      const { name, limit, key, cost, shadow } = demands[i]
      const state = this.#use(records[i], name, limit)
      if (i > 0 && key === demands[i - 1].key) {
        state.high = records[i - 1].high
        state.low = records[i - 1].low
      } else this.#hash.hash(key, state)
      state.first = state
      state.cost = cost
      state.isShadow = shadow === true
      state.open(nowUs)
      if (!state.isFound) areFound = false
      if (state.states.lastRequest === request) {
        const same = records.findIndex((earlier, j) => j === i || state.isSame(earlier))
        if (same < i) state.join(records[same].first)
      }
      state.states.lastRequest = request
    }
    return areFound ? 0 : this.#beginMissing(demands.length, nowUs)
  }

  /** Finds out which of the open demands fit. Returns whether the request is allowed. */
  #reserveAll(count: number, nowUs: number): boolean {
    let allowed = true
    this.#isUnmet = false
    for (let i = 0; i < count; i++) {
      const state = this.#records[i]
      state.reserve(nowUs)
      if (state.fits) continue
      this.#isUnmet = true
      if (!state.first.isShadow) allowed = false
    }
    return allowed
  }

  /** Ends a request for which `#reserveAll` was called. Without `takes`, nothing is taken. */
  #finishAll(count: number, nowUs: number, allowed: boolean, takes: boolean): Answer {
    const decisions = new Array<Decision>(count)
    const takenUs = new Array<number>(count)
    for (let i = 0; i < count; i++) {
      decisions[i] = this.#records[i].finish(nowUs, takes)
      takenUs[i] = this.#records[i].takenUs(nowUs)
    }
    return { allowed, decisions, takenUs }
  }

  /** Blocks the keys of open demands that exceed, as far as there is room. Returns whether it blocked any. */
  #blockOffenders(demands: readonly Demand[], nowUs: number): boolean {
    let offenders: Demand[] | undefined
    for (let i = 0; i < demands.length; i++) {
      const state = this.#records[i]
      if (state.fits || demands[i].blockFor === undefined || !state.exceeds(nowUs)) continue
      offenders ??= []
      offenders.push(demands[i])
    }
    if (offenders === undefined) return false
    for (const demand of offenders) this.#blockOffender(demand, nowUs)
    return true
  }

  #blockOffender({ name, key, blockFor }: Demand, nowUs: number): void {
    const names = this.#namesOf(name)
    this.#hash.hash(key, this.#single)
    const earlier = names.blockOf(this.#single)
    // Two demands of one request may be for the same key.
    if (blockFor === undefined || (earlier !== undefined && earlier.untilUs > nowUs)) return
    const block = nextBlock(blockFor, earlier, nowUs)
    if (!names.block(this.#single, nowUs, block, () => this.#room.make(1, nowUs))) this.#shortage.refused++
  }

  #beginMissing(count: number, nowUs: number): number {
    const records = this.#records
    let newKeys = 0
    for (let i = 0; i < count; i++) {
      const state = records[i]
      if (state.isFound) continue
      const isFirst = state.first === state
      state.begin(isFirst ? this.#room.has(newKeys + 1) : !state.first.isShared, this.#canShare, nowUs)
      if (isFirst && state.cost > 0) newKeys++
      if (state.isShared) for (let j = 0; j < i; j++) state.giveWayTo(records[j])
    }
    return newKeys
  }
}
