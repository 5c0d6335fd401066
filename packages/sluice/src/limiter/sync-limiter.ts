import { checkKey } from '../checks/check-value.js'
import type { Decision, Limit } from '../limits/index.js'
import type { Answer, Demand, OnFailure, SyncStore } from '../stores/index.js'
import { checkBlock, checkCall } from './call.js'
import { type Lease, SyncLease } from './lease.js'
import type { AcquireOptions, BlockOptions, CostOptions, Limiter, Reservation } from './limiter.js'
import { checkHasPlaces } from './place.js'
import { settling } from './settling.js'
import { checkAcquire } from './waiting/acquire-options.js'
import type { Patience } from './waiting/line.js'
import { heldDecision, unitWaiters } from './waiting/unit-waiters.js'
import type { Waiters } from './waiting/waiters.js'

export class SyncLimiter implements Limiter {
  readonly name: string
  readonly limit: Limit
  readonly #store: SyncStore
  readonly #onFailure: OnFailure | undefined
  #waiters: Waiters<Answer> | undefined

  constructor(name: string, limit: Limit, store: SyncStore, onFailure: OnFailure | undefined) {
    this.name = name
    this.limit = limit
    this.#store = store
    this.#onFailure = onFailure
  }

  tryAcquire(key: string, options?: CostOptions): Decision {
    return this.#decide(key, checkCall('tryAcquire', key, options))
  }

  async acquire(key: string, options?: AcquireOptions): Promise<Decision> {
    return heldDecision(await this.#wait(key, checkAcquire(key, options)))
  }

  peek(key: string): Decision {
    checkKey(key)
    return this.#decide(key, 0)
  }

  charge(key: string, options?: CostOptions): Decision {
    return this.#store.charge(this.#demand(key, checkCall('charge', key, options)))
  }

  refund(key: string, options?: CostOptions): Decision {
    const decision = this.#store.refund(this.#demand(key, checkCall('refund', key, options)), undefined)
    this.#waiters?.wake(key)
    return decision
  }

  reset(key: string): void {
    checkKey(key)
    this.#store.reset(this.name, key)
    this.#waiters?.wake(key)
  }

  block(key: string, options: BlockOptions): void {
    this.#store.block(this.name, key, checkBlock(key, options))
    // It may be shorter than the one that it replaces.
    this.#waiters?.wake(key)
  }

  reserve(key: string, options?: CostOptions): Reservation {
    const demand = this.#demand(key, checkCall('reserve', key, options))
    const answer = this.#store.decide([demand])
    const settleOnce = settling(this.#store, demand, answer)
    const settle = (actual: number) => {
      if (settleOnce(actual) !== undefined) this.#waiters?.wake(key)
    }
    return { decision: answer.decisions[0], settle, cancel: () => settle(0) }
  }

  lease(key: string, options?: CostOptions): Lease {
    const demand = this.#demand(key, checkCall('lease', key, options))
    checkHasPlaces(demand)
    return this.#lease(demand, this.#store.decide([demand]))
  }

  async acquireLease(key: string, options?: AcquireOptions): Promise<Lease> {
    const patience = checkAcquire(key, options)
    const demand = this.#demand(key, patience.cost)
    checkHasPlaces(demand)
    return this.#lease(demand, await this.#wait(key, patience))
  }

  #lease(demand: Demand, answer: Answer): Lease {
    return new SyncLease(this.#store, demand, answer, () => this.#waiters?.wake(demand.key))
  }

  #wait(key: string, patience: Patience): Promise<Answer> {
    this.#waiters ??= unitWaiters(this.#store, this.limit, (...asked) => this.#demand(...asked))
    return this.#waiters.wait(key, patience)
  }

  /** Only a demand can name a rule of its own. */
  #decide(key: string, cost: number): Decision {
    if (this.#onFailure !== undefined) return this.#store.decide([this.#demand(key, cost)]).decisions[0]
    return this.#store.decideOne(this.name, this.limit, key, cost)
  }

  #demand(key: string, cost: number): Demand {
    return { name: this.name, limit: this.limit, key, cost, onFailure: this.#onFailure }
  }
}
