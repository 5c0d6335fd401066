import type { Clock } from '../../clock.js'
import { StoreFullError } from '../../errors.js'
import { type Decision, type Limit, microseconds, type Taken } from '../../limits/index.js'
import { declareCannotFail } from '../cannot-fail.js'
import { type Fingerprint, KeyHash } from '../memory/key-hash.js'
import type { Answer, Demand, LimitedKey, NamedLimit, SyncStore } from '../store.js'
import { CELL_BYTES, SharedCells } from './cells.js'
import { threadMemory } from './cells-program.js'
import { SharedBlocks } from './shared-blocks.js'
import { sharedLayout } from './shared-layout.js'
import { SharedLimits } from './shared-limits.js'
import { SharedMemory } from './shared-memory.js'
import { SharedState } from './shared-state.js'
import { clockAnchor, threadClock } from './thread-clock.js'
import {
  type AttachOptions,
  checkAttachOptions,
  checkHandle,
  checkThreadStoreOptions,
  type SharedStoreHandle,
  type ThreadStoreOptions,
} from './thread-store-options.js'

/** What a store holds, and how often it ran short of memory, counted over all threads. Counters only grow. */
export interface SharedStoreStats {
  /** Entries that have had a key: a state or a block. An entry whose state is whole is given to the next key. */
  readonly keys: number
  readonly maxKeys: number
  /** Bytes of the shared memory. */
  readonly bytes: number
  /** Keys whose state was whole and that have been forgotten for others. */
  readonly dropped: number
  /** Decisions for new keys that had to share a state, because there was no room. */
  readonly shared: number
  /** Denials for lack of memory alone, and charges and blocks of `blockFor` that it prevented. */
  readonly refused: number
}

/** A store begins a day before it is made, so that a clock that steps back is not before its beginning. */
const DAY_US = 86_400_000_000

/**
 * Makes a store that the worker threads of a process share: one limit for all of them, decided synchronously in each. It
 * keeps token buckets, leaky buckets and fixed windows; a limit that it cannot keep is refused when its limiter is made.
 *
 * @example
 * ```ts
 * import { Worker } from 'node:worker_threads'
 * import { sharedStore } from 'sluice/shared'
 *
 * const store = sharedStore({ maxKeys: 1_000_000 })
 * const worker = new Worker('./worker.js', { workerData: store.handle })
 * ```
 */
export function sharedStore(options: ThreadStoreOptions = {}): SharedStore {
  const { clock, ...given } = checkThreadStoreOptions(options)
  const anchor = clockAnchor()
  const startUs = microseconds((clock ?? threadClock(anchor)).now()) - DAY_US
  const memory = threadMemory(sharedLayout(given.maxKeys).cells * CELL_BYTES)
  return new SharedStore({ memory, ...given, startUs, anchor }, clock)
}

/**
 * Joins a store that another thread has made.
 *
 * @example
 * ```ts
 * import { workerData } from 'node:worker_threads'
 * import { createLimiter, tokenBucket } from 'sluice'
 * import { sharedStore } from 'sluice/shared'
 *
 * const store = sharedStore.attach(workerData)
 * const limiter = createLimiter({ name: 'api', limit: tokenBucket({ capacity: 20, refill: '5/s' }), store })
 * ```
 */
sharedStore.attach = (handle: SharedStoreHandle, options: AttachOptions = {}): SharedStore => {
  checkHandle(handle)
  return new SharedStore(handle, checkAttachOptions(options).clock)
}

/** A store in memory that threads share, made by `sharedStore`. It decides synchronously. */
export class SharedStore implements SyncStore {
  readonly synchronous = true
  readonly blocksByRule = true
  readonly clock: Clock
  /** Send this to a worker, which joins the store by `sharedStore.attach(handle)`. */
  readonly handle: SharedStoreHandle
  readonly #cells: SharedCells
  readonly #memory: SharedMemory
  readonly #blocks: SharedBlocks
  readonly #limits: SharedLimits
  readonly #hash: KeyHash
  readonly #key: Fingerprint = { high: 0, low: 0 }
  /** The name and limit of the last call with one demand. Most calls ask for the same again. */
  #name: string | undefined
  #limit: Limit | undefined
  readonly #single: SharedState
  readonly #records: SharedState[] = []

  static {
    declareCannotFail(SharedStore)
  }

  constructor(handle: SharedStoreHandle, clock: Clock | undefined) {
    const { memory, maxKeys, onFull, seed, startUs, anchor } = handle
    this.handle = Object.freeze({ memory, maxKeys, onFull, seed, startUs, anchor })
    this.clock = clock ?? threadClock(anchor)
    this.#cells = new SharedCells(memory)
    this.#memory = new SharedMemory(this.#cells, sharedLayout(maxKeys))
    this.#blocks = new SharedBlocks(this.#memory)
    this.#limits = new SharedLimits(startUs, seed)
    this.#hash = new KeyHash(seed)
    this.#single = this.#newRecord()
  }

  /** How many entries have had a key: a state or a block. */
  get size(): number {
    return this.#cells.count(this.#memory.layout.keys)
  }

  stats(): SharedStoreStats {
    const { layout } = this.#memory
    const count = (cell: number) => this.#cells.count(cell)
    return {
      keys: count(layout.keys),
      maxKeys: this.handle.maxKeys,
      bytes: this.handle.memory.buffer.byteLength,
      dropped: count(layout.dropped),
      shared: count(layout.shared),
      refused: count(layout.refused),
    }
  }

  /** Refuses a limit whose states do not fit in 64 bits. */
  prepare({ name, limit }: NamedLimit): void {
    this.#limits.limitOf(name, limit)
  }

  decideOne(name: string, limit: Limit, key: string, cost: number): Decision {
    const state = this.#openSingle(name, limit, key)
    const allowed = state.tryTake(cost)
    state.countShortage()
    return state.describe(cost, allowed)
  }

  /**
   * Looks at the state of every demand, and takes only if all fit: from one state after the other. If another thread is
   * faster for one of them, puts back what was taken from the others.
   */
  decide(demands: readonly Demand[]): Answer {
    const nowUs = this.#nowUs()
    const records = this.#openAll(demands, nowUs)
    if (this.#blockOffenders(demands, records, nowUs)) this.#openAll(demands, nowUs)
    let allowed = isAllowed(records)
    if (allowed && !this.#takeAll(records)) {
      allowed = false
      this.#blockOffenders(demands, records, nowUs)
    }
    for (const state of records) state.countShortage()
    return this.#answer(records, allowed, allowed)
  }

  peekOne(name: string, limit: Limit, key: string, cost: number): Decision {
    const state = this.#openSingle(name, limit, key)
    state.confirm()
    return state.peek(cost)
  }

  peek(demands: readonly Demand[]): Answer {
    const records = this.#openAll(demands, this.#nowUs())
    return this.#answer(records, isAllowed(records), false)
  }

  charge({ name, limit, key, cost }: Demand): Decision {
    const state = this.#openSingle(name, limit, key)
    state.take(cost)
    if (cost > 0) state.countShortage()
    return state.peek(1)
  }

  refund({ name, limit, key, cost }: Demand, taken: Taken | undefined): Decision {
    const state = this.#openSingle(name, limit, key)
    if (cost > 0) state.refund(cost, taken)
    else state.confirm()
    return state.peek(1)
  }

  /** Throws if the store is full: to set a state that keys share would change them all. */
  set({ name, limit, key }: LimitedKey, remaining: number): Decision {
    const state = this.#openSingle(name, limit, key)
    if (state.restart(state.limit.words.arithmetic.quota - remaining)) return state.peek(1)
    const { maxKeys } = this.handle
    throw new StoreFullError(`the store was made for ${maxKeys} keys (maxKeys) and is full: the key was not set`)
  }

  /** Forgets the states of all limits that this thread has used under the name. */
  reset(name: string, key: string): void {
    const nowUs = this.#nowUs()
    const named = this.#limits.nameOf(name)
    this.#hash.hash(key, this.#key)
    this.#blocks.reset(named, this.#key)
    this.#name = undefined
    for (const limit of named.limits) {
      this.#single.use(limit, this.#key, nowUs)
      this.#single.reset()
    }
  }

  block(name: string, key: string, durationUs: number): void {
    const nowUs = this.#nowUs()
    this.#hash.hash(key, this.#key)
    if (this.#blocks.block(this.#limits.nameOf(name), this.#key, nowUs, nowUs + durationUs)) return
    throw new StoreFullError(
      `the store has no room for another block: it was made for ${this.handle.maxKeys} keys (maxKeys)`,
    )
  }

  /** Microseconds since the store began. */
  #nowUs(): number {
    return Math.max(1, microseconds(this.clock.now()) - this.handle.startUs)
  }

  #newRecord(): SharedState {
    return new SharedState(this.#memory, this.handle.onFull === 'share', () => this.#nowUs())
  }

  #openSingle(name: string, limit: Limit, key: string): SharedState {
    const nowUs = this.#nowUs()
    const state = this.#single
    if (limit !== this.#limit || name !== this.#name) {
      state.limit = this.#limits.limitOf(name, limit)
      this.#limit = limit
      this.#name = name
    }
    this.#hash.hash(key, this.#key)
    state.use(state.limit, this.#key, nowUs)
    state.blockedUs = this.#blocks.blockedUs(state.limit.named, this.#key, nowUs)
    state.open()
    return state
  }

  #openAll(demands: readonly Demand[], nowUs: number): readonly SharedState[] {
    while (this.#records.length < demands.length) this.#records.push(this.#newRecord())
    const records = this.#records.slice(0, demands.length)
    for (const [i, { name, limit, key, cost, shadow }] of demands.entries()) {
      const state = records[i]
      this.#hash.hash(key, this.#key)
      state.use(this.#limits.limitOf(name, limit), this.#key, nowUs)
      state.blockedUs = this.#blocks.blockedUs(state.limit.named, this.#key, nowUs)
      state.demand(cost, shadow === true, records.find((other, j) => j === i || state.isSame(other)) ?? state)
      state.open()
      state.confirm()
    }
    for (const state of records) state.fits = state.allows(state.first.cost)
    return records
  }

  /** Blocks the keys of demands that exceed, as far as there is room. Returns whether any demand did. */
  #blockOffenders(demands: readonly Demand[], records: readonly SharedState[], nowUs: number): boolean {
    let isAny = false
    for (const [i, { key, blockFor }] of demands.entries()) {
      const state = records[i]
      if (state.fits || blockFor === undefined || !state.exceeds()) continue
      isAny = true
      this.#hash.hash(key, this.#key)
      const { named } = state.limit
      if (!this.#blocks.blockOffender(named, this.#key, blockFor, nowUs)) this.#memory.countRefused()
      state.blockedUs = this.#blocks.blockedUs(named, this.#key, nowUs)
    }
    return isAny
  }

  /** Takes for every demand that fits. If a demand that is not a shadow finds its units gone, puts back those of others. */
  #takeAll(records: readonly SharedState[]): boolean {
    for (const [i, state] of records.entries()) {
      if (!state.fits || state.first !== state) continue
      state.fits = state.takeForRequest()
      if (state.fits || state.isShadow) continue
      for (const earlier of records.slice(0, i)) earlier.putBack()
      return false
    }
    return true
  }

  /** As in the memory store: if nothing was taken, a demand that fits is described as for a cost of 0. */
  #answer(records: readonly SharedState[], allowed: boolean, isTaken: boolean): Answer {
    return {
      allowed,
      decisions: records.map(({ first }) => first.describe(isTaken || !first.fits ? first.cost : 0, first.fits)),
      takenUs: records.map((state) => state.takenUs()),
    }
  }
}

/** Does every demand fit that is not a shadow? */
function isAllowed(records: readonly SharedState[]): boolean {
  return records.every(({ first, fits }) => fits || first.isShadow)
}
