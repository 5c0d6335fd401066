import { checkKey } from '../checks/check-value.js'
import type { Decision, Limit } from '../limits/index.js'
import type { Answer, AsyncStore, Demand, OnFailure } from '../stores/index.js'
import { checkBlock, checkCall } from './call.js'
import { type AsyncLease, StoreLease } from './lease.js'
import type { AcquireOptions, AsyncLimiter, AsyncReservation, BlockOptions, CostOptions } from './limiter.js'
import { checkHasPlaces } from './place.js'
import { settling } from './settling.js'
import { checkAcquire } from './waiting/acquire-options.js'
import type { Patience } from './waiting/line.js'
import { heldDecision, unitWaiters } from './waiting/unit-waiters.js'
import type { Waiters } from './waiting/waiters.js'

/** Every method is `async`, so that a wrong argument is a rejection like any other failure. */
export class StoreLimiter implements AsyncLimiter {
  readonly name: string
  readonly limit: Limit
  readonly #store: AsyncStore
  readonly #onFailure: OnFailure | undefined
  #waiters: Waiters<Answer> | undefined

  constructor(name: string, limit: Limit, store: AsyncStore, onFailure: OnFailure | undefined) {
    this.name = name
    this.limit = limit
    this.#store = store
    this.#onFailure = onFailure
  }

  async tryAcquire(key: string, options?: CostOptions): Promise<Decision> {
    const { decisions } = await this.#store.decide([this.#demand(key, checkCall('tryAcquire', key, options))])
    return decisions[0]
  }

  async acquire(key: string, options?: AcquireOptions): Promise<Decision> {
    return heldDecision(await this.#wait(key, checkAcquire(key, options)))
  }

  async peek(key: string): Promise<Decision> {
    checkKey(key)
    const { decisions } = await this.#store.decide([this.#demand(key, 0)])
    return decisions[0]
  }

  async charge(key: string, options?: CostOptions): Promise<Decision> {
    return this.#store.charge(this.#demand(key, checkCall('charge', key, options)))
  }

  async refund(key: string, options?: CostOptions): Promise<Decision> {
    const decision = await this.#store.refund(this.#demand(key, checkCall('refund', key, options)), undefined)
    this.#waiters?.wake(key)
    return decision
  }

  async reset(key: string): Promise<void> {
    checkKey(key)
    await this.#store.reset(this.name, key)
    this.#waiters?.wake(key)
  }

  async block(key: string, options: BlockOptions): Promise<void> {
    await this.#store.block(this.name, key, checkBlock(key, options))
    // It may be shorter than the one that it replaces.
    this.#waiters?.wake(key)
  }

  async reserve(key: string, options?: CostOptions): Promise<AsyncReservation> {
    const demand = this.#demand(key, checkCall('reserve', key, options))
    const answer = await this.#store.decide([demand])
    const settleOnce = settling(this.#store, demand, answer)
    const settle = async (actual: number) => {
      if ((await settleOnce(actual)) !== undefined) this.#waiters?.wake(key)
    }
    return { decision: answer.decisions[0], settle, cancel: () => settle(0) }
  }

  async lease(key: string, options?: CostOptions): Promise<AsyncLease> {
    const demand = this.#demand(key, checkCall('lease', key, options))
    checkHasPlaces(demand)
    return this.#lease(demand, await this.#store.decide([demand]))
  }

  async acquireLease(key: string, options?: AcquireOptions): Promise<AsyncLease> {
    const patience = checkAcquire(key, options)
    const demand = this.#demand(key, patience.cost)
    checkHasPlaces(demand)
    return this.#lease(demand, await this.#wait(key, patience))
  }

  #lease(demand: Demand, answer: Answer): AsyncLease {
    return new StoreLease(this.#store, demand, answer, () => this.#waiters?.wake(demand.key))
  }

  #wait(key: string, patience: Patience): Promise<Answer> {
    this.#waiters ??= unitWaiters(this.#store, this.limit, (...asked) => this.#demand(...asked))
    return this.#waiters.wait(key, patience)
  }

  #demand(key: string, cost: number): Demand {
    return { name: this.name, limit: this.limit, key, cost, onFailure: this.#onFailure }
  }
}
