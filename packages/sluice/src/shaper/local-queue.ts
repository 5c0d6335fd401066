import { CATCH_UP_MS, type Clock, setExactAlarm } from '../clock.js'
import { exactRate, type LeakyBucket } from '../limits/index.js'
import { Appointment } from '../waiting/agenda.js'
import { Line, Waiter } from '../waiting/line.js'
import { type LineOwner, WaitingRoom } from '../waiting/waiting-room.js'
import { queueFull, type TurnQueue, type TurnRequest, turnTooLate } from './queue-shaper.js'
import { Schedule } from './schedule.js'
import type { Turn } from './shaper.js'

/** The schedule is asked for a slot this much before its time: a rounded time would lose a fraction of a microsecond. */
const EARLY_US = 1

/** Times that differ by less than this are equal. */
const LEAST_MS = 0.001

/** Sums of fractions of milliseconds may be wrong by this much. */
const ROUNDED_MS = 1e-6

type LocalWaiter = Waiter<LocalKey, Turn>

/**
 * Gives turns in one process. A waiter has taken nothing yet: it takes its slot from the schedule when it leaves, at the
 * time for which the slot was meant. So a waiter that gives up leaves no gap, and others may overtake it.
 */
export class LocalQueue implements TurnQueue {
  readonly room: WaitingRoom<LocalWaiter, Turn>
  readonly schedule: Schedule
  readonly capacity: number
  readonly #name: string
  readonly #usPerUnit: number
  /** Slots are taken early, so the schedule needs this much more capacity than the queue. */
  readonly #slack: number
  /** Only keys with waiters. */
  readonly #keys = new Map<string, LocalKey>()

  constructor(name: string, { capacity, drain }: LeakyBucket, clock: Clock) {
    const { units, perUs } = exactRate('drain', drain)
    this.#name = name
    this.capacity = capacity
    this.#usPerUnit = Number(perUs) / Number(units)
    this.#slack = Math.ceil((2 * EARLY_US) / this.#usPerUnit) + 1
    this.schedule = new Schedule(name, capacity + this.#slack, drain)
    this.room = new WaitingRoom(clock, setExactAlarm)
  }

  enter(request: TurnRequest, pausedUntilMs: number): number | Promise<Turn> {
    const { key, cost, priority, maxWaitMs, runs } = request
    if (cost > this.capacity) throw queueFull(this.#name, this.capacity, cost, Infinity)
    const nowMs = this.room.clock.now()
    let waiting = this.#keys.size === 0 ? undefined : this.#keys.get(key)
    const mayLeave = waiting === undefined && pausedUntilMs <= nowMs
    // `run` starts its work now. A caller of `wait` goes on only after the code that runs now: no crowd may go on then.
    const isNoCrowd = mayLeave && (runs || this.room.measureTick(nowMs) <= CATCH_UP_MS)
    if (isNoCrowd && this.schedule.takeAtOnce(key, nowMs, cost)) return nowMs
    const { delayMs, remaining } = this.schedule.take(key, nowMs, 0)
    const freeMs = waiting?.freeMs ?? Math.max(nowMs + delayMs, pausedUntilMs)
    const units = waiting?.line.units ?? 0
    if (cost > 0 && units + cost + this.#slack > remaining) {
      if (waiting?.leaveWhenLate(nowMs)) return this.enter(request, pausedUntilMs)
      const retryAfterMs = this.#roomAfterMs(delayMs, freeMs - nowMs, units + cost)
      throw queueFull(this.#name, this.capacity, cost, retryAfterMs)
    }
    if (freeMs - nowMs + this.drainMs(units) > maxWaitMs) {
      const waitMs = freeMs - nowMs + this.drainMs(waiting?.line.unitsBefore(priority) ?? 0)
      if (waitMs > maxWaitMs) throw turnTooLate(maxWaitMs, waitMs)
    }
    if (waiting === undefined) {
      waiting = new LocalKey(key, this, freeMs, pausedUntilMs)
      this.#keys.set(key, waiting)
      this.room.agenda.set(waiting, freeMs)
    }
    return waiting.join(request, nowMs)
  }

  pause(key: string, untilMs: number): void {
    this.#keys.get(key)?.pause(untilMs)
  }

  rejectAll(error: () => Error): void {
    for (const key of [...this.#keys.values()])
      for (let { first } = key.line; first !== undefined; { first } = key.line) key.giveUp(first, error())
  }

  /** How long it takes until so many units have left. */
  drainMs(units: number): number {
    return (units * this.#usPerUnit) / 1000
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

/** The waiters of one key. Its appointment is when the first of them may leave. */
class LocalKey extends Appointment implements LineOwner<LocalWaiter> {
  readonly key: string
  readonly line: Line<LocalWaiter>
  /** When the first waiter may leave. */
  freeMs: number
  readonly #queue: LocalQueue
  #pausedUntilMs: number
  #hasLeftInTick = false

  constructor(key: string, queue: LocalQueue, freeMs: number, pausedUntilMs: number) {
    super()
    this.key = key
    this.line = new Line(queue.capacity)
    this.#queue = queue
    this.freeMs = freeMs
    this.#pausedUntilMs = pausedUntilMs
  }

  join(request: TurnRequest, nowMs: number): Promise<Turn> {
    const { room } = this.#queue
    return new Promise((resolve, reject) => {
      const waiter: LocalWaiter = new Waiter(this, request, resolve, reject)
      room.admit(waiter)
      room.watch(waiter, nowMs)
    })
  }

  pause(untilMs: number): void {
    if (this.freeMs >= untilMs) return
    this.freeMs = untilMs
    this.#pausedUntilMs = untilMs
    this.#queue.room.agenda.set(this, untilMs)
  }

  /**
   * If the alarm is late, lets waiters leave to make room, and returns true. At most once in a run of synchronous code:
   * the waiters start only when that has ended, and a caller that goes on calling would let a crowd start.
   */
  leaveWhenLate(nowMs: number): boolean {
    if (this.#hasLeftInTick || this.atMs > nowMs) return false
    this.#hasLeftInTick = true
    queueMicrotask(() => {
      this.#hasLeftInTick = false
    })
    this.#queue.room.agenda.catchUpWith(this, nowMs)
    return true
  }

  /** If the waiter's turn has come too and only the alarm is late, the waiter leaves. */
  expire(waiter: LocalWaiter): void {
    const { agenda, clock } = this.#queue.room
    const nowMs = clock.now()
    agenda.catchUpWith(this, nowMs)
    if (!waiter.isInLine) return
    const waitMs = Math.max(0, this.freeMs - nowMs) + this.#queue.drainMs(this.line.units - waiter.cost)
    this.giveUp(waiter, turnTooLate(waiter.request.maxWaitMs, waitMs))
  }

  giveUp(waiter: LocalWaiter, reason: unknown): void {
    const { room } = this.#queue
    room.reject(waiter, reason)
    if (this.line.size > 0) return
    room.agenda.drop(this)
    this.#queue.forget(this)
  }

  due(nowMs: number): void {
    const wasHeldUp = this.freeMs < nowMs - CATCH_UP_MS
    const { room } = this.#queue
    for (let { first } = this.line; first !== undefined && this.freeMs <= nowMs; { first } = this.line) {
      const atMs = this.#takeSlot(first.cost, nowMs)
      if (atMs !== undefined) room.release(first, { atMs })
    }
    if (this.line.size === 0) {
      this.#queue.forget(this)
      return
    }
    // No more waiters may leave together than leave now: slots that came meanwhile would make them more.
    if (wasHeldUp) this.freeMs = Math.max(this.freeMs, room.clock.now())
    room.agenda.set(this, this.freeMs)
  }

  /** Takes the next slot from the schedule and returns its time; `undefined` if the slot turns out to come later. */
  #takeSlot(cost: number, nowMs: number): number | undefined {
    const { schedule } = this.#queue
    const slotMs = Math.max(this.freeMs, nowMs - CATCH_UP_MS)
    const isScheduled = slotMs === this.freeMs && slotMs > this.#pausedUntilMs
    let askedMs = isScheduled ? (Math.floor(slotMs * 1000) - EARLY_US) / 1000 : slotMs
    let answer = schedule.take(this.key, askedMs, cost)
    if (isScheduled && answer.allowed && answer.delayMs === 0) {
      // The store has forgotten the key, because by the time of other keys its slot was over. Then the slot is not early.
      schedule.forget(this.key)
      askedMs = slotMs
      answer = schedule.take(this.key, askedMs, cost)
    }
    const { allowed, delayMs, retryAfterMs } = answer
    const atMs = askedMs + (allowed ? delayMs : retryAfterMs)
    // Compared with the slot, not with the earlier time that was asked for: a rounded slot would be ahead for ever.
    if (atMs > slotMs + LEAST_MS) {
      // Another key shares the state because the store is full, or the rate is rounded down.
      if (allowed) schedule.takeBack(this.key, askedMs, cost, delayMs)
      this.freeMs = atMs
      return undefined
    }
    this.freeMs = atMs + this.#queue.drainMs(cost)
    return atMs
  }
}
