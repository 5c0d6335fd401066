import { CATCH_UP_MS, type Clock, setExactAlarm } from '../clock.js'
import type { Rate } from '../limits/index.js'
import { WaitingRoom } from '../waiting/waiting-room.js'
import { LEAST_MS, LocalKey, type LocalShaping } from './local-key.js'
import type { Places } from './places.js'
import { queueFull, type TurnQueue, type TurnRequest, turnTooLate } from './queue-shaper.js'
import { Schedule, type SlotSchedule } from './schedule.js'
import type { Turn } from './shaper.js'
import { UnratedSchedule } from './unrated-schedule.js'

/** Sums of fractions of milliseconds may be wrong by this much. */
const ROUNDED_MS = 1e-6

/** The numbers of a queue. Without `drain` there is no rate: callers leave as soon as there is a place. */
interface LocalNumbers {
  readonly capacity: number
  readonly drain: Rate | undefined
  readonly places: Places | undefined
}

/**
 * Gives turns in one process. A waiter has taken nothing yet: it takes its slot from the schedule when it leaves, at the
 * time for which the slot was meant. So a waiter that gives up leaves no gap, and others may overtake it.
 */
export class LocalQueue implements TurnQueue, LocalShaping {
  readonly room: LocalShaping['room']
  readonly schedule: SlotSchedule
  readonly places: Places | undefined
  readonly capacity: number
  readonly #name: string
  /** Only keys with waiters. */
  readonly #keys = new Map<string, LocalKey>()

  constructor(name: string, { capacity, drain, places }: LocalNumbers, clock: Clock) {
    this.#name = name
    this.capacity = capacity
    this.places = places
    this.schedule = drain === undefined ? new UnratedSchedule(capacity) : new Schedule(name, capacity, drain)
    this.room = new WaitingRoom(clock, setExactAlarm)
  }

  get waitingKeys(): Iterable<string> {
    return this.#keys.keys()
  }

  enter(request: TurnRequest, pausedUntilMs: number): number | Promise<Turn> {
    const { key, cost, priority, maxWaitMs, runs } = request
    if (cost > this.capacity) throw queueFull(this.#name, this.capacity, cost, Infinity)
    const nowMs = this.room.clock.now()
    let waiting = this.#keys.size === 0 ? undefined : this.#keys.get(key)
    const mayLeave = waiting === undefined && pausedUntilMs <= nowMs && this.hasPlace(key)
    // `run` starts its work now. A caller of `wait` goes on only after the code that runs now: no crowd may go on then.
    const isNoCrowd = mayLeave && (runs || this.room.measureTick(nowMs) <= CATCH_UP_MS)
    if (isNoCrowd && this.schedule.takeAtOnce(key, nowMs, cost)) {
      this.places?.take(key)
      return nowMs
    }
    const { delayMs, remaining } = this.schedule.take(key, nowMs, 0)
    const isNew = waiting === undefined
    waiting ??= new LocalKey(key, this, nowMs + delayMs, pausedUntilMs)
    const freeAfterMs = waiting.freeAfterMs(nowMs, delayMs)
    const { units } = waiting.line
    if (cost > 0 && units + cost + this.schedule.slack > remaining) {
      if (waiting.leaveWhenLate(nowMs)) return this.enter(request, pausedUntilMs)
      const retryAfterMs = this.#roomAfterMs(delayMs, freeAfterMs, units + cost)
      throw queueFull(this.#name, this.capacity, cost, retryAfterMs, waiting.isHeld)
    }
    if (freeAfterMs + this.drainMs(units) > maxWaitMs) {
      const waitMs = freeAfterMs + this.drainMs(waiting.line.unitsBefore(priority))
      if (waitMs > maxWaitMs) throw turnTooLate(maxWaitMs, waitMs)
    }
    if (isNew) this.#keys.set(key, waiting)
    return waiting.join(request, nowMs)
  }

  pauseUntil(key: string, untilMs: number): void {
    this.#keys.get(key)?.pauseUntil(untilMs)
  }

  hasPlace(key: string): boolean {
    return this.places === undefined || this.places.free(key) > 0
  }

  giveBackPlace(key: string): void {
    this.places?.giveBack(key)
    this.#keys.get(key)?.hasPlaceAgain()
  }

  rejectAll(error: () => Error): void {
    for (const key of [...this.#keys.values()])
      for (let { first } = key.line; first !== undefined; { first } = key.line) key.giveUp(first, error())
  }

  drainMs(units: number): number {
    return (units * this.schedule.usPerUnit) / 1000
  }

  forget({ key }: LocalKey): void {
    this.#keys.delete(key)
  }

  /**
   * How long until the queue has room for `units`. If only slots that were just used are in the way: until
   * those are over, even in a pause. Otherwise: until enough waiters have left.
   */
  #roomAfterMs(overAfterMs: number, freeAfterMs: number, units: number): number {
    const excess = units - this.capacity
    // A difference of two epoch times is rounded; `overAfterMs` is exact.
    const isPaused = freeAfterMs - overAfterMs > LEAST_MS
    const afterMs = excess > 0 && isPaused ? Math.round(freeAfterMs * 1000) / 1000 : overAfterMs
    return Math.max(1, Math.ceil(afterMs + this.drainMs(excess) - ROUNDED_MS))
  }
}
