import { setAlarm, systemClock } from '../clock.js'
import { type Asker, decisionChannel, type WaitingMethod, waitObserved } from '../diagnostics/decision-channel.js'
import { QueueFullError } from '../errors.js'
import { arithmeticOf, type Decision, type Limit } from '../limits/index.js'
import type { Answer, Demand, NamedLimit, Store } from '../stores/index.js'
import type { WaitRequest } from './line.js'
import { StoreSlots, slotMs } from './store-slots.js'
import { type LimiterQueues, UnitQueue } from './unit-queue.js'
import { neverError } from './unit-waiter.js'
import { WaitingRoom } from './waiting-room.js'

/** More callers than this that wait in one process are an outage. Each takes about 1 kB here, and more where it is called. */
const USUAL_MOST_WAITERS = 100_000

/**
 * The callers that wait for units of one limit in one store, with a queue for each key. A queue exists only while a caller
 * waits in it: no queue, listener or alarm outlives the waiters.
 */
export class UnitQueues implements LimiterQueues {
  readonly limit: Limit
  readonly room: LimiterQueues['room']
  readonly slots: StoreSlots
  readonly msPerUnit: number
  readonly isShared: boolean
  readonly maxWaiters: number
  readonly demand: (key: string, cost: number) => Demand
  readonly #asker: Asker
  readonly #quota: number
  readonly #queues = new Map<string, UnitQueue>()

  constructor(store: Store, { name, limit, onFailure }: NamedLimit, maxWaiters = USUAL_MOST_WAITERS) {
    const clock = store.clock ?? systemClock
    this.limit = limit
    this.maxWaiters = maxWaiters
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

  /**
   * Resolves with the answer that took the units. Rejects with a `WaitTooLongError`, a `QueueFullError` or the signal's
   * reason.
   */
  wait(key: string, request: WaitRequest, method: WaitingMethod = 'acquire'): Promise<Answer> {
    if (!decisionChannel.hasSubscribers) return this.#wait(key, request)
    const demand = this.demand(key, request.cost)
    return waitObserved(() => this.#wait(key, request), this.#asker, method, demand, request.signal)
  }

  #wait(key: string, request: WaitRequest): Promise<Answer> {
    const { cost, signal } = request
    if (signal?.aborted) return Promise.reject(signal.reason)
    if (cost > this.#quota) return Promise.reject(neverError(cost))
    let queue = this.#queues.get(key)
    // In memory, a caller that finds no queue may be served without waiting: the queue looks before it counts the caller.
    const mayBeServedAtOnce = !this.isShared && queue === undefined
    if (this.room.size >= this.maxWaiters && !mayBeServedAtOnce) return Promise.reject(this.fullError())
    if (queue === undefined) {
      queue = new UnitQueue(key, this)
      this.#queues.set(key, queue)
    }
    return queue.join(request)
  }

  readonly wake = (key: string): void => {
    this.#queues.get(key)?.ask()
  }

  fullError(): QueueFullError {
    const { agenda, clock } = this.room
    const retryAfterMs = Math.max(1, Math.ceil((agenda.nextMs ?? 0) - clock.now()))
    const full = `the limiter '${this.#asker.name}' has as many waiters as it may have (maxWaiters ${this.maxWaiters})`
    return new QueueFullError(`${full}; come back in ${retryAfterMs} ms at the earliest`, retryAfterMs)
  }

  forget(queue: UnitQueue): void {
    // A new queue of the same key may exist by now.
    if (this.#queues.get(queue.key) === queue) this.#queues.delete(queue.key)
  }
}
