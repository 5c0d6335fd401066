import type { Decision, Limit } from '../limits/index.js'
import { checkKey, type Demand, type SyncStore } from '../stores/index.js'
import { checkBlock, checkCall } from './call.js'
import type { BlockOptions, CostOptions, Limiter, Reservation } from './limiter.js'
import { settling } from './settling.js'

export class SyncLimiter implements Limiter {
  readonly name: string
  readonly limit: Limit
  readonly #store: SyncStore

  constructor(name: string, limit: Limit, store: SyncStore) {
    this.name = name
    this.limit = limit
    this.#store = store
  }

  tryAcquire(key: string, options?: CostOptions): Decision {
    return this.#store.decideOne(this.name, this.limit, key, checkCall(key, options))
  }

  peek(key: string): Decision {
    checkKey(key)
    return this.#store.decideOne(this.name, this.limit, key, 0)
  }

  charge(key: string, options?: CostOptions): Decision {
    return this.#store.charge(this.#demand(key, checkCall(key, options)))
  }

  refund(key: string, options?: CostOptions): Decision {
    return this.#store.giveBack(this.#demand(key, checkCall(key, options)), undefined)
  }

  reset(key: string): void {
    checkKey(key)
    this.#store.reset(this.name, key)
  }

  block(key: string, options: BlockOptions): void {
    this.#store.block(this.name, key, checkBlock(key, options))
  }

  reserve(key: string, options?: CostOptions): Reservation {
    const demand = this.#demand(key, checkCall(key, options))
    const answer = this.#store.decide([demand])
    const settle = settling(this.#store, demand, answer)
    return {
      decision: answer.decisions[0],
      settle: (actual) => void settle(actual),
      cancel: () => void settle(0),
    }
  }

  #demand(key: string, cost: number): Demand {
    return { name: this.name, limit: this.limit, key, cost }
  }
}
