import { checkKey } from '../checks/check-value.js'
import { type Asker, type DecisionMethod, decideObserved, decisionChannel } from '../diagnostics/decision-channel.js'
import type { Decision, Limit } from '../limits/index.js'
import type { Answer, AsyncStore, Demand, NamedLimit } from '../stores/index.js'
import { UnitQueues } from '../waiting/unit-queues.js'
import { checkAcquire, checkBlock, checkCall } from './check-call.js'
import { type AsyncLease, checkHasPlaces, StoreLease } from './lease.js'
import type { AcquireOptions, AsyncLimiter, AsyncReservation, BlockOptions, CostOptions } from './limiter.js'
import { settleOnce } from './settle-once.js'

/**
 * A limiter on a store that answers later. Every method is `async`, so that a wrong argument is a rejection like any other
 * failure.
 */
export class StoreLimiter implements AsyncLimiter {
  readonly name: string
  readonly limit: Limit
  readonly #store: AsyncStore
  readonly #queues: UnitQueues
  readonly #asker: Asker

  constructor(store: AsyncStore, named: NamedLimit) {
    this.name = named.name
    this.limit = named.limit
    this.#store = store
    this.#queues = new UnitQueues(store, named)
    this.#asker = { kind: 'limiter', name: named.name }
  }

  async tryAcquire(key: string, options?: CostOptions): Promise<Decision> {
    return (await this.#ask('tryAcquire', this.#demand('tryAcquire', key, options))).decisions[0]
  }

  async acquire(key: string, options?: AcquireOptions): Promise<Decision> {
    return this.#queues.acquire(key, checkAcquire(key, options))
  }

  async peek(key: string): Promise<Decision> {
    checkKey(key)
    return (await this.#store.decide([this.#queues.demand(key, 0)])).decisions[0]
  }

  async charge(key: string, options?: CostOptions): Promise<Decision> {
    return this.#store.charge(this.#demand('charge', key, options))
  }

  async refund(key: string, options?: CostOptions): Promise<Decision> {
    const decision = await this.#store.refund(this.#demand('refund', key, options), undefined)
    this.#queues.wake(key)
    return decision
  }

  async reset(key: string): Promise<void> {
    checkKey(key)
    await this.#store.reset(this.name, key)
    this.#queues.wake(key)
  }

  async block(key: string, options: BlockOptions): Promise<void> {
    await this.#store.block(this.name, key, checkBlock(key, options))
    // The new block may end before the block that it replaces.
    this.#queues.wake(key)
  }

  async reserve(key: string, options?: CostOptions): Promise<AsyncReservation> {
    const demand = this.#demand('reserve', key, options)
    const answer = await this.#ask('reserve', demand)
    const settleFirst = settleOnce(this.#store, demand, answer)
    const settle = async (actual: number) => {
      if ((await settleFirst(actual)) !== undefined) this.#queues.wake(key)
    }
    return { decision: answer.decisions[0], settle, cancel: () => settle(0) }
  }

  async lease(key: string, options?: CostOptions): Promise<AsyncLease> {
    const demand = this.#demand('lease', key, options)
    checkHasPlaces(demand)
    return this.#lease(demand, await this.#ask('lease', demand))
  }

  async acquireLease(key: string, options?: AcquireOptions): Promise<AsyncLease> {
    const request = checkAcquire(key, options)
    const demand = this.#queues.demand(key, request.cost)
    checkHasPlaces(demand)
    return this.#lease(demand, await this.#queues.wait(key, request, 'acquireLease'))
  }

  #ask(method: DecisionMethod, demand: Demand): Promise<Answer> {
    const store = this.#store
    return decisionChannel.hasSubscribers
      ? decideObserved(store, this.#asker, method, [demand])
      : store.decide([demand])
  }

  #demand(method: string, key: string, options: CostOptions | undefined): Demand {
    return this.#queues.demand(key, checkCall(method, key, options))
  }

  #lease(demand: Demand, answer: Answer): AsyncLease {
    return new StoreLease(this.#store, demand, answer, () => this.#queues.wake(demand.key))
  }
}
