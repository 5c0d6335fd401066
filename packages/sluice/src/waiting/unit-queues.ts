import { setAlarm, systemClock } from '../clock.js'
import { type Asker, decisionChannel, type WaitingMethod, waitObserved } from '../diagnostics/decision-channel.js'
import { arithmeticOf, type Decision, type Limit } from '../limits/index.js'
import type { Answer, Demand, NamedLimit, Store } from '../stores/index.js'
import type { WaitRequest } from './line.js'
import { StoreSlots, slotMs } from './store-slots.js'
import { UnitQueue, type UnitSource } from './unit-queue.js'
import { neverError, type UnitWaiter } from './unit-waiter.js'
import { WaitingRoom } from './waiting-room.js'

/**
 * The callers that wait for units of one limit in one store, with a queue for each key. A queue exists only while a caller
 * waits in it: no queue, listener or alarm outlives the waiters.
 */
export class UnitQueues implements UnitSource {
  readonly limit: Limit
  readonly room: WaitingRoom<UnitWaiter, Answer>
  readonly slots: StoreSlots
  readonly msPerUnit: number
  readonly isShared: boolean
  readonly demand: (key: string, cost: number) => Demand
  readonly #asker: Asker
  readonly #quota: number
  readonly #queues = new Map<string, UnitQueue>()

  constructor(store: Store, { name, limit, onFailure }: NamedLimit) {
    const clock = store.clock ?? systemClock
    this.limit = limit
    this.isShared = store.synchronous !== true
    this.slots = new StoreSlots(store, clock)
    this.demand = (key, cost) => ({ name, limit, key, cost, onFailure })
    this.msPerUnit = limit.algorithm === 'leaky-bucket' ? slotMs(limit) : 0
    this.#asker = { kind: 'limiter', name }
    this.#quota = arithmeticOf(limit).quota
    this.room = new WaitingRoom(clock, setAlarm)
  }

  /** What is kept: queues, and signals with a listener. */
  get size(): { readonly queues: number; readonly signals: number } {
    return { queues: this.#queues.size, signals: this.room.signals }
  }

  /** Resolves with the decision that took the units. The waiter's slot has come by then, so there is no delay left. */
  async acquire(key: string, request: WaitRequest): Promise<Decision> {
    const [decision] = (await this.wait(key, request)).decisions
    return decision.delayMs > 0 ? { ...decision, delayMs: 0 } : decision
  }

  /** Resolves with the answer that took the units. Rejects with a `WaitTooLongError` or the signal's reason. */
  wait(key: string, request: WaitRequest, method: WaitingMethod = 'acquire'): Promise<Answer> {
    if (!decisionChannel.hasSubscribers) return this.#wait(key, request)
    const demand = this.demand(key, request.cost)
    return waitObserved(() => this.#wait(key, request), this.#asker, method, demand, request.signal)
  }

  #wait(key: string, request: WaitRequest): Promise<Answer> {
    const { cost, signal } = request
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (cost > this.#quota) return Promise.reject(neverError(cost))
    return new Promise((resolve, reject) => this.#queue(key).join(request, resolve, reject))
  }

  /** Units of the key may have come back: asks for the first waiter at once. */
  readonly wake = (key: string): void => {
    this.#queues.get(key)?.ask()
  }

  forget(queue: UnitQueue): void {
    // A new queue of the same key may exist by now.
    if (this.#queues.get(queue.key) === queue) this.#queues.delete(queue.key)
  }

  #queue(key: string): UnitQueue {
    let queue = this.#queues.get(key)
    if (queue === undefined) {
      queue = new UnitQueue(key, this)
      this.#queues.set(key, queue)
    }
    return queue
  }
}
