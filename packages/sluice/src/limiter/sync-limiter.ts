import { checkKey } from '../checks/check-value.js'
import {
  type Asker,
  type DecisionMethod,
  decideObserved,
  decideOneObserved,
  decisionChannel,
} from '../diagnostics/decision-channel.js'
import type { Decision, Limit } from '../limits/index.js'
import type { Answer, Demand, NamedLimit, SyncStore } from '../stores/index.js'
import { UnitQueues } from '../waiting/unit-queues.js'
import { checkAcquire, checkBlock, checkCall } from './check-call.js'
import { checkHasPlaces, type Lease, SyncLease } from './lease.js'
import type { AcquireOptions, BlockOptions, CostOptions, Limiter, Reservation } from './limiter.js'
import { settleOnce } from './settle-once.js'

/** A limiter on a store that answers at once. `StoreLimiter` is the same on a store that answers later. */
export class SyncLimiter implements Limiter {
  readonly name: string
  readonly limit: Limit
  readonly #store: SyncStore
  readonly #hasOwnRule: boolean
  readonly #queues: UnitQueues
  readonly #asker: Asker

  constructor(store: SyncStore, named: NamedLimit) {
    this.name = named.name
    this.limit = named.limit
    this.#store = store
    this.#hasOwnRule = named.onFailure !== undefined
    this.#queues = new UnitQueues(store, named)
    this.#asker = { kind: 'limiter', name: named.name }
  }

  tryAcquire(key: string, options?: CostOptions): Decision {
    const cost = checkCall('tryAcquire', key, options)
    return decisionChannel.hasSubscribers ? this.#decideObserved(key, cost) : this.#decide(key, cost)
  }

  async acquire(key: string, options?: AcquireOptions): Promise<Decision> {
    return this.#queues.acquire(key, checkAcquire(key, options))
  }

  peek(key: string): Decision {
    checkKey(key)
    return this.#decide(key, 0)
  }

  charge(key: string, options?: CostOptions): Decision {
    return this.#store.charge(this.#demand('charge', key, options))
  }

  refund(key: string, options?: CostOptions): Decision {
    const decision = this.#store.refund(this.#demand('refund', key, options), undefined)
    this.#queues.wake(key)
    return decision
  }

  reset(key: string): void {
    checkKey(key)
    this.#store.reset(this.name, key)
    this.#queues.wake(key)
  }

  block(key: string, options: BlockOptions): void {
    this.#store.block(this.name, key, checkBlock(key, options))
    // The new block may end before the block that it replaces.
    this.#queues.wake(key)
  }

  reserve(key: string, options?: CostOptions): Reservation {
    const demand = this.#demand('reserve', key, options)
    const answer = this.#ask('reserve', demand)
    const settleFirst = settleOnce(this.#store, demand, answer)
    const settle = (actual: number) => {
      if (settleFirst(actual) !== undefined) this.#queues.wake(key)
    }
    return { decision: answer.decisions[0], settle, cancel: () => settle(0) }
  }

  lease(key: string, options?: CostOptions): Lease {
    const demand = this.#demand('lease', key, options)
    checkHasPlaces(demand)
    return this.#lease(demand, this.#ask('lease', demand))
  }

  async acquireLease(key: string, options?: AcquireOptions): Promise<Lease> {
    const request = checkAcquire(key, options)
    const demand = this.#queues.demand(key, request.cost)
    checkHasPlaces(demand)
    return this.#lease(demand, await this.#queues.wait(key, request, 'acquireLease'))
  }

  #decide(key: string, cost: number): Decision {
    // `decideOne` cannot carry an `onFailure` of this limiter's own.
    if (this.#hasOwnRule) return this.#store.decide([this.#queues.demand(key, cost)]).decisions[0]
    return this.#store.decideOne(this.name, this.limit, key, cost)
  }

  #decideObserved(key: string, cost: number): Decision {
    if (this.#hasOwnRule) return this.#ask('tryAcquire', this.#queues.demand(key, cost)).decisions[0]
    return decideOneObserved(this.#store, this.#asker, this.limit, key, cost)
  }

  #ask(method: DecisionMethod, demand: Demand): Answer {
    const store = this.#store
    return decisionChannel.hasSubscribers
      ? decideObserved(store, this.#asker, method, [demand])
      : store.decide([demand])
  }

  #demand(method: string, key: string, options: CostOptions | undefined): Demand {
    return this.#queues.demand(key, checkCall(method, key, options))
  }

  #lease(demand: Demand, answer: Answer): Lease {
    return new SyncLease(this.#store, demand, answer, () => this.#queues.wake(demand.key))
  }
}
