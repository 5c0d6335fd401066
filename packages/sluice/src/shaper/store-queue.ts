import { setExactAlarm, systemClock } from '../clock.js'
import { type LeakyBucket, parseRate } from '../limits/index.js'
import type { NamedLimit, Store } from '../stores/index.js'
import { StoreSlots } from '../waiting/store-slots.js'
import { WaitingRoom } from '../waiting/waiting-room.js'
import { queueFull, type TurnQueue, type TurnRequest, turnTooLate } from './queue-shaper.js'
import type { Turn } from './shaper.js'
import { type SharedByKeys, StoreKey, type StoreWaiter } from './store-key.js'

/**
 * Gives turns in all processes that share a store. Each waiter has a slot reserved in a bucket that they share, so that
 * all processes together leave at the rate. The slots of a process that dies pass unused.
 *
 * The waiters of this process are put in order here: the first waiter takes the first slot. If a waiter gives up, the last
 * slot is spare and is given back, which helps unless another process has taken a slot behind it.
 */
export class StoreQueue implements TurnQueue, SharedByKeys {
  readonly room: WaitingRoom<StoreWaiter, Turn>
  readonly slots: StoreSlots
  readonly named: NamedLimit
  readonly capacity: number
  readonly msPerUnit: number
  /** Only keys with waiters, or with questions under way. */
  readonly #keys = new Map<string, StoreKey>()

  constructor(store: Store, named: NamedLimit & { readonly limit: LeakyBucket }) {
    const { capacity, drain } = named.limit
    const { units, perUs } = parseRate('drain', drain)
    const clock = store.clock ?? systemClock
    this.named = named
    this.capacity = capacity
    this.msPerUnit = Number(perUs) / Number(units) / 1000
    this.slots = new StoreSlots(store, clock, (mostGapMs) => {
      for (const key of this.#keys.values()) key.moveSlotsForward(mostGapMs)
    })
    this.room = new WaitingRoom<StoreWaiter, Turn>(clock, setExactAlarm, {
      aborted: (waiter, reason) => waiter.owner.reject(waiter, reason),
      expired: (waiter, maxWaitMs) => waiter.owner.expire(waiter, maxWaitMs),
    })
  }

  get size(): number {
    return this.room.size
  }

  enter(request: TurnRequest, pausedUntilMs: number): Promise<Turn> {
    const { key, cost, maxWaitMs } = request
    const { capacity } = this
    const { name } = this.named
    if (cost > capacity) throw queueFull(name, capacity, cost, Infinity)
    const pauseMs = Math.max(0, pausedUntilMs - this.room.clock.now())
    if (pauseMs > maxWaitMs) throw turnTooLate(maxWaitMs, pauseMs)
    const waiting = this.#keys.get(key)
    // The store is asked later. Until then only this process can say that the queue is full.
    const isAskedLater = pauseMs > 0 || waiting?.hasUnasked === true
    const excess = isAskedLater && cost > 0 ? (waiting?.units ?? 0) + cost - capacity : 0
    if (excess > 0) throw queueFull(name, capacity, cost, Math.ceil(pauseMs + excess * this.msPerUnit))
    return (waiting ?? this.#openKey(key, pausedUntilMs)).join(request, isAskedLater)
  }

  pause(key: string, untilMs: number): void {
    this.#keys.get(key)?.pause(untilMs)
  }

  rejectAll(error: () => Error): void {
    for (const key of [...this.#keys.values()]) key.rejectAll(error)
  }

  forget(key: StoreKey): void {
    // A new object for the same key may exist by now.
    if (this.#keys.get(key.key) === key) this.#keys.delete(key.key)
  }

  #openKey(key: string, pausedUntilMs: number): StoreKey {
    const opened = new StoreKey(key, this, pausedUntilMs)
    this.#keys.set(key, opened)
    return opened
  }
}
