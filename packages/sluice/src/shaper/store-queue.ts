import { setExactAlarm, systemClock } from '../clock.js'
import type { Store } from '../stores/index.js'
import { StoreSlots, slotMs } from '../waiting/store-slots.js'
import { WaitingRoom } from '../waiting/waiting-room.js'
import type { Places } from './places.js'
import { queueFull, type TurnQueue, type TurnRequest, turnTooLate } from './queue-shaper.js'
import type { Turn } from './shaper.js'
import { StoreKey } from './store-key.js'
import type { StoreShaping } from './store-line.js'

/**
 * Gives turns in all processes that share a store. Each waiter has a slot reserved in a bucket that they share, so that
 * all processes together leave at the rate. The slots of a process that dies pass unused.
 *
 * The waiters of this process are put in order here: the first waiter takes the first slot. If a waiter gives up, the last
 * slot is spare and is given back, which helps unless another process has taken a slot behind it.
 */
export class StoreQueue implements TurnQueue, StoreShaping {
  readonly named: StoreShaping['named']
  readonly room: StoreShaping['room']
  readonly storeSlots: StoreSlots
  readonly msPerUnit: number
  readonly places: Places | undefined
  /** Only keys with waiters, or with questions under way. */
  readonly #keys = new Map<string, StoreKey>()

  constructor(store: Store, named: StoreShaping['named'], places: Places | undefined) {
    const clock = store.clock ?? systemClock
    this.named = named
    this.places = places
    this.msPerUnit = slotMs(named.limit)
    this.room = new WaitingRoom(clock, setExactAlarm)
    this.storeSlots = new StoreSlots(store, clock, (mostGapMs) => {
      for (const key of this.#keys.values()) key.moveSlotsForward(mostGapMs)
    })
  }

  get waitingKeys(): Iterable<string> {
    return this.#keys.keys()
  }

  enter(request: TurnRequest, pausedUntilMs: number): Promise<Turn> {
    const { key, cost, maxWaitMs } = request
    const { name, limit } = this.named
    const { capacity } = limit
    if (cost > capacity) throw queueFull(name, capacity, cost, Infinity)
    const nowMs = this.room.clock.now()
    // A pause without an end may end now.
    const pauseMs = pausedUntilMs < Infinity ? Math.max(0, pausedUntilMs - nowMs) : 0
    if (pauseMs > maxWaitMs) throw turnTooLate(maxWaitMs, pauseMs)
    let waiting = this.#keys.get(key)
    const asksLater = waiting?.asksLater ?? this.places?.free(key) === 0
    const isAskedLater = pausedUntilMs > nowMs || asksLater
    // Until the store is asked, only this process can say that the queue is full.
    const excess = isAskedLater && cost > 0 ? (waiting?.units ?? 0) + cost - capacity : 0
    if (excess > 0) {
      const retryAfterMs = Math.ceil(pauseMs + excess * this.msPerUnit)
      throw queueFull(name, capacity, cost, retryAfterMs, asksLater || pausedUntilMs === Infinity)
    }
    if (waiting === undefined) {
      waiting = new StoreKey(key, this, pausedUntilMs, () => this.#keys.delete(key))
      this.#keys.set(key, waiting)
    }
    return waiting.join(request, isAskedLater)
  }

  pauseUntil(key: string, untilMs: number): void {
    this.#keys.get(key)?.pauseUntil(untilMs)
  }

  giveBackPlace(key: string): void {
    this.places?.giveBack(key)
    this.#keys.get(key)?.askForLacking()
  }

  rejectAll(error: () => Error): void {
    for (const key of [...this.#keys.values()]) key.rejectAll(error)
  }
}
