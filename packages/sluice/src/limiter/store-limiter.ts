import { checkCost, checkKey } from '../checks/check-value.js'
import {
  type Asker,
  type DecisionMethod,
  decideNowObserved,
  decideObserved,
  decideOneObserved,
  decisionChannel,
} from '../diagnostics/decision-channel.js'
import type { BlockRule, Decision, Limit, Taken } from '../limits/index.js'
import type { Answer, AsyncStore, Awaitable, Demand, NamedLimit, PromptStore, SyncStore } from '../stores/index.js'
import { after } from '../stores/store.js'
import { UnitQueues } from '../waiting/unit-queues.js'
import { checkAcquire, checkBlock, checkCall, checkReserve, checkSet } from './check-call.js'
import { type AsyncLease, checkHasPlaces, type Lease, makeLease } from './lease.js'
import type {
  AcquireOptions,
  AsyncLimiter,
  BlockOptions,
  CostOptions,
  PromptLimiter,
  ReserveOptions,
  SetOptions,
  Timed,
} from './limiter.js'
import { isPrompt, isSynchronous } from './store-option.js'
import { type StoreReservation, TimedReservations } from './timed-reservations.js'

/**
 * A limiter on any store. If the store is synchronous, every method returns its value, and this is a `Limiter` as it
 * stands. Otherwise every method returns a promise, or throws if an argument is wrong; `asyncLimiter` turns that into a
 * rejection.
 */
export class StoreLimiter {
  readonly name: string
  readonly limit: Limit
  readonly #store: SyncStore | AsyncStore
  /** The store if `decideOne` and `peekOne` will do: it answers at once, and this limiter has neither `onFailure` nor `blockFor`. */
  readonly #quickStore: SyncStore | undefined
  /** The store if it may decide without asking elsewhere. */
  readonly #promptStore: PromptStore | undefined
  readonly #queues: UnitQueues
  readonly #blockFor: BlockRule | undefined
  readonly #timed: TimedReservations
  readonly #asker: Asker

  constructor(
    store: SyncStore | AsyncStore,
    named: NamedLimit,
    blockFor: BlockRule | undefined,
    maxWaiters: number | undefined,
  ) {
    this.name = named.name
    this.limit = named.limit
    this.#store = store
    this.#blockFor = blockFor
    const isPlain = named.onFailure === undefined && blockFor === undefined
    this.#quickStore = isSynchronous(store) && isPlain ? store : undefined
    this.#promptStore = isPrompt(store) ? store : undefined
    this.#queues = new UnitQueues(store, named, maxWaiters)
    this.#asker = { kind: 'limiter', name: named.name }
    this.#timed = new TimedReservations(store, this.#asker, (key) => this.#queues.wake(key))
  }

  tryAcquire(key: string, options?: CostOptions): Awaitable<Decision> {
    const cost = checkCall('tryAcquire', key, options)
    const decision = this.#promptStore === undefined ? undefined : this.#decideNow(this.#promptStore, key, cost)
    if (decision !== undefined) return decision
    return decisionChannel.hasSubscribers ? this.#decideObserved(key, cost) : this.#decide(key, cost)
  }

  tryAcquireNow(key: string, options?: CostOptions): Decision | undefined {
    const cost = checkCall('tryAcquireNow', key, options)
    return this.#promptStore === undefined ? undefined : this.#decideNow(this.#promptStore, key, cost)
  }

  async acquire(key: string, options?: AcquireOptions): Promise<Decision> {
    return this.#queues.acquire(key, checkAcquire(key, options))
  }

  peek(key: string, options?: CostOptions): Awaitable<Decision> {
    const cost = checkCall('peek', key, options)
    if (this.#quickStore !== undefined) return this.#quickStore.peekOne(this.name, this.limit, key, cost)
    return after(this.#store.peek([this.#queues.demand(key, cost)]), firstDecision)
  }

  charge(key: string, options?: CostOptions): Awaitable<Decision> {
    return this.#store.charge(this.#demand('charge', key, options))
  }

  refund(key: string, options?: CostOptions): Awaitable<Decision> {
    return this.#wakeAfter(key, this.#store.refund(this.#demand('refund', key, options), undefined))
  }

  set(key: string, options: SetOptions): Awaitable<Decision> {
    const remaining = checkSet(key, this.limit, options)
    return this.#wakeAfter(key, this.#store.set(this.#queues.demand(key, 0), remaining))
  }

  reset(key: string): Awaitable<void> {
    checkKey(key)
    return this.#wakeAfter(key, this.#store.reset(this.name, key))
  }

  block(key: string, options: BlockOptions): Awaitable<void> {
    // The new block may end before the block that it replaces.
    return this.#wakeAfter(key, this.#store.block(this.name, key, checkBlock(key, options)))
  }

  reserve(key: string, options?: ReserveOptions): Awaitable<StoreReservation> {
    checkKey(key)
    const { cost, ttlMs, id } = checkReserve(options)
    const demand = this.#blocking(this.#queues.demand(key, cost))
    if (ttlMs !== undefined) return this.#timed.reserve(id, demand, ttlMs)
    return after(this.#ask('reserve', demand), (answer) => {
      const taken = takenBy(demand, answer)
      let isOpen = answer.allowed
      const settle = (actual: number): Awaitable<boolean> => {
        checkCost(actual, 'actual')
        if (!isOpen) return false
        // Even if the store fails: units refunded twice would be units for free.
        isOpen = false
        return this.#settle(demand, taken, actual)
      }
      return { decision: answer.decisions[0], settle, cancel: () => settle(0) }
    })
  }

  settle(id: string, actual: number): Awaitable<boolean> {
    return this.#timed.settle(id, actual)
  }

  cancel(id: string): Awaitable<boolean> {
    return this.#timed.settle(id, 0)
  }

  lease(key: string, options?: CostOptions): Awaitable<Lease | AsyncLease> {
    const demand = this.#demand('lease', key, options)
    checkHasPlaces(demand)
    return after(this.#ask('lease', this.#blocking(demand)), (answer) => this.#lease(demand, answer))
  }

  async acquireLease(key: string, options?: AcquireOptions): Promise<Lease | AsyncLease> {
    const request = checkAcquire(key, options)
    const demand = this.#queues.demand(key, request.cost)
    checkHasPlaces(demand)
    return this.#lease(demand, await this.#queues.wait(key, request, 'acquireLease'))
  }

  #decideNow(store: PromptStore, key: string, cost: number): Decision | undefined {
    const demand = this.#blocking(this.#queues.demand(key, cost))
    return decisionChannel.hasSubscribers ? decideNowObserved(store, this.#asker, demand) : store.decideNow(demand)
  }

  #decide(key: string, cost: number): Awaitable<Decision> {
    if (this.#quickStore !== undefined) return this.#quickStore.decideOne(this.name, this.limit, key, cost)
    return after(this.#store.decide([this.#blocking(this.#queues.demand(key, cost))]), firstDecision)
  }

  #decideObserved(key: string, cost: number): Awaitable<Decision> {
    if (this.#quickStore !== undefined) return decideOneObserved(this.#quickStore, this.#asker, this.limit, key, cost)
    return after(this.#ask('tryAcquire', this.#blocking(this.#queues.demand(key, cost))), firstDecision)
  }

  #ask(method: DecisionMethod, demand: Demand): Awaitable<Answer> {
    if (!decisionChannel.hasSubscribers) return this.#store.decide([demand])
    return decideObserved(this.#store, this.#asker, method, [demand])
  }

  /** A caller that waits for units does not exceed: so `acquire`, and `extend` of a lease, ask without the rule. */
  #blocking(demand: Demand): Demand {
    return this.#blockFor === undefined ? demand : { ...demand, blockFor: this.#blockFor }
  }

  #demand(method: string, key: string, options: CostOptions | undefined): Demand {
    return this.#queues.demand(key, checkCall(method, key, options))
  }

  /** Refunds what was too much, or charges what was too little. */
  #settle(demand: Demand, taken: Taken, actual: number): Awaitable<true> {
    const { key, cost } = demand
    if (actual === cost) return true
    const settled =
      actual < cost
        ? this.#store.refund({ ...demand, cost: cost - actual }, taken)
        : this.#store.charge({ ...demand, cost: actual - cost })
    return after(this.#wakeAfter(key, settled), () => true as const)
  }

  #lease(demand: Demand, answer: Answer): Lease | AsyncLease {
    return makeLease(this.#store, demand, answer, () => this.#queues.wake(demand.key))
  }

  /** Wakes the queue of the key when the store has answered: units may have come back. */
  #wakeAfter<T>(key: string, answer: Awaitable<T>): Awaitable<T> {
    return after(answer, (value) => {
      this.#queues.wake(key)
      return value
    })
  }
}

/** The units that a demand took. Read at once, because the caller may change the decision later. */
function takenBy({ cost }: Demand, { decisions, takenUs }: Answer): Taken {
  const [{ delayMs, degraded }] = decisions
  return { atUs: takenUs[0], cost, delayMs, degraded }
}

function firstDecision({ decisions }: Answer): Decision {
  return decisions[0]
}

/** A `StoreLimiter` as an `AsyncLimiter`: a wrong argument is a rejection, like any other failure. */
export function asyncLimiter(limiter: StoreLimiter): AsyncLimiter {
  return {
    name: limiter.name,
    limit: limiter.limit,
    tryAcquire: (key, options) => promised(() => limiter.tryAcquire(key, options)),
    acquire: (key, options) => limiter.acquire(key, options),
    peek: (key, options) => promised(() => limiter.peek(key, options)),
    charge: (key, options) => promised(() => limiter.charge(key, options)),
    refund: (key, options) => promised(() => limiter.refund(key, options)),
    set: (key, options) => promised(() => limiter.set(key, options)),
    reset: (key) => promised(() => limiter.reset(key)),
    block: (key, options) => promised(() => limiter.block(key, options)),
    reserve: async (key: string, options?: ReserveOptions) => {
      const { settle, ...reservation } = (await limiter.reserve(key, options)) as StoreReservation & Timed
      return { ...reservation, settle: async (actual: number) => settle(actual), cancel: async () => settle(0) }
    },
    settle: (id, actual) => promised(() => limiter.settle(id, actual)),
    cancel: (id) => promised(() => limiter.cancel(id)),
    lease: (key, options) => promised(() => limiter.lease(key, options) as Promise<AsyncLease>),
    acquireLease: (key, options) => limiter.acquireLease(key, options) as Promise<AsyncLease>,
  }
}

/** An `AsyncLimiter` on a store that may decide at once. */
export function promptLimiter(limiter: StoreLimiter): PromptLimiter {
  return { ...asyncLimiter(limiter), tryAcquireNow: (key, options) => limiter.tryAcquireNow(key, options) }
}

function promised<T>(call: () => Awaitable<T>): Promise<T> {
  try {
    return Promise.resolve(call())
  } catch (error) {
    return Promise.reject(error)
  }
}
