import type { Decision, Limit } from '../limits/index.js'
import { type AsyncStore, checkKey, type Demand, type OnFailure } from '../stores/index.js'
import { checkBlock, checkCall } from './call.js'
import type { AsyncLimiter, AsyncReservation, BlockOptions, CostOptions } from './limiter.js'
import { settling } from './settling.js'

/** Every method is `async`, so that a wrong argument is a rejection like any other failure. */
export class StoreLimiter implements AsyncLimiter {
  readonly name: string
  readonly limit: Limit
  readonly #store: AsyncStore
  readonly #onFailure: OnFailure | undefined

  constructor(name: string, limit: Limit, store: AsyncStore, onFailure: OnFailure | undefined) {
    this.name = name
    this.limit = limit
    this.#store = store
    this.#onFailure = onFailure
  }

  async tryAcquire(key: string, options?: CostOptions): Promise<Decision> {
    const { decisions } = await this.#store.decide([this.#demand(key, checkCall(key, options))])
    return decisions[0]
  }

  async peek(key: string): Promise<Decision> {
    checkKey(key)
    const { decisions } = await this.#store.decide([this.#demand(key, 0)])
    return decisions[0]
  }

  async charge(key: string, options?: CostOptions): Promise<Decision> {
    return this.#store.charge(this.#demand(key, checkCall(key, options)))
  }

  async refund(key: string, options?: CostOptions): Promise<Decision> {
    return this.#store.giveBack(this.#demand(key, checkCall(key, options)), undefined)
  }

  async reset(key: string): Promise<void> {
    checkKey(key)
    await this.#store.reset(this.name, key)
  }

  async block(key: string, options: BlockOptions): Promise<void> {
    await this.#store.block(this.name, key, checkBlock(key, options))
  }

  async reserve(key: string, options?: CostOptions): Promise<AsyncReservation> {
    const demand = this.#demand(key, checkCall(key, options))
    const answer = await this.#store.decide([demand])
    const settle = settling(this.#store, demand, answer)
    return {
      decision: answer.decisions[0],
      settle: async (actual) => void (await settle(actual)),
      cancel: async () => void (await settle(0)),
    }
  }

  #demand(key: string, cost: number): Demand {
    return { name: this.name, limit: this.limit, key, cost, onFailure: this.#onFailure }
  }
}
