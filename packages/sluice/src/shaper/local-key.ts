import { CATCH_UP_MS } from '../clock.js'
import { Appointment } from '../waiting/agenda.js'
import { Line, Waiter } from '../waiting/line.js'
import type { LineOwner, WaitingRoom } from '../waiting/waiting-room.js'
import type { Places } from './places.js'
import { type TurnRequest, turnTooLate } from './queue-shaper.js'
import { EARLY_US, type SlotSchedule } from './schedule.js'
import type { Turn } from './shaper.js'

/** Times that differ by less than this are equal. */
export const LEAST_MS = 0.001

export type LocalWaiter = Waiter<LocalKey, Turn>

/** What all keys of a shaper in one process use. */
export interface LocalShaping {
  readonly room: WaitingRoom<LocalWaiter, Turn>
  readonly schedule: SlotSchedule
  readonly places: Places | undefined
  readonly capacity: number
  hasPlace(key: string): boolean
  /** How long it takes until so many units have left. */
  drainMs(units: number): number
  /** The key has no waiters any more. */
  forget(key: LocalKey): void
}

/**
 * The waiters of one key in one process. Its appointment is when the first of them may leave. It has none while it is held:
 * while no place is free, or in a pause without an end.
 */
export class LocalKey extends Appointment implements LineOwner<LocalWaiter> {
  readonly key: string
  readonly line: Line<LocalWaiter>
  readonly #queue: LocalShaping
  /** When the first waiter may leave, if there is a place: at its slot, or at the end of a pause. */
  #freeMs: number
  /** No waiter may leave before, even if its slot comes earlier. */
  #notBeforeMs: number
  #hasLeftInTick = false

  constructor(key: string, queue: LocalShaping, slotMs: number, notBeforeMs: number) {
    super()
    this.key = key
    this.line = new Line(queue.capacity)
    this.#queue = queue
    this.#freeMs = Math.max(slotMs, notBeforeMs)
    this.#notBeforeMs = notBeforeMs
  }

  /** True while something without a known end keeps waiters here. */
  get isHeld(): boolean {
    return this.#freeMs === Infinity || !this.#queue.hasPlace(this.key)
  }

  /**
   * How long until the first waiter may leave, if the key is held no longer. `slotAfterMs` is how long until its slot comes.
   * If the key is not held and its alarm is late, this is negative.
   */
  freeAfterMs(nowMs: number, slotAfterMs: number): number {
    if (this.#freeMs === Infinity) return slotAfterMs
    return this.isHeld ? Math.max(slotAfterMs, this.#freeMs - nowMs) : this.#freeMs - nowMs
  }

  join(request: TurnRequest, nowMs: number): Promise<Turn> {
    const { room } = this.#queue
    return new Promise((resolve, reject) => {
      const waiter: LocalWaiter = new Waiter(this, request, resolve, reject)
      room.admit(waiter)
      room.watch(waiter, nowMs)
      if (this.line.size === 1) this.#arrange()
    })
  }

  /** No waiter may leave before then. If that is earlier than before, waiters leave again, at the rate. */
  pauseUntil(untilMs: number): void {
    const { agenda, clock } = this.#queue.room
    const nowMs = clock.now()
    if (this.#freeMs < untilMs) {
      this.#freeMs = untilMs
      this.#notBeforeMs = untilMs
    } else if (untilMs < this.#notBeforeMs && this.#notBeforeMs > nowMs) {
      const { delayMs } = this.#queue.schedule.take(this.key, nowMs, 0)
      this.#freeMs = Math.max(nowMs + delayMs, untilMs)
      this.#notBeforeMs = Math.max(nowMs, untilMs)
    } else return
    this.#arrange()
    agenda.catchUpWith(this, nowMs)
  }

  /** Work is over. If its slot has passed, the first waiter leaves now: the next slots are counted from its departure. */
  hasPlaceAgain(): void {
    const nowMs = this.#queue.room.clock.now()
    // The key has not waited for a place.
    if (this.heapIndex >= 0) return
    if (this.#freeMs > nowMs) {
      this.#arrange()
      return
    }
    this.#freeMs = nowMs
    this.#notBeforeMs = nowMs
    this.due(nowMs)
  }

  /**
   * If the alarm is late, lets waiters leave to make room, and returns true. At most once in a run of synchronous code:
   * the waiters start only when that has ended, and a caller that goes on calling would let a crowd start.
   */
  leaveWhenLate(nowMs: number): boolean {
    if (this.#hasLeftInTick || this.heapIndex < 0 || this.atMs > nowMs) return false
    this.#hasLeftInTick = true
    queueMicrotask(() => {
      this.#hasLeftInTick = false
    })
    this.#queue.room.agenda.catchUpWith(this, nowMs)
    return true
  }

  /** If the waiter's turn has come too and only the alarm is late, the waiter leaves. */
  expire(waiter: LocalWaiter): void {
    const { room, schedule } = this.#queue
    const nowMs = room.clock.now()
    room.agenda.catchUpWith(this, nowMs)
    if (!waiter.isInLine) return
    const { delayMs } = schedule.take(this.key, nowMs, 0)
    const waitMs = Math.max(0, this.freeAfterMs(nowMs, delayMs)) + this.#queue.drainMs(this.line.units - waiter.cost)
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
    const wasHeldUp = this.#freeMs < nowMs - CATCH_UP_MS
    const { room, places } = this.#queue
    for (let { first } = this.line; first !== undefined && this.#mayLeave(nowMs); { first } = this.line) {
      const atMs = this.#takeSlot(first.cost, nowMs)
      if (atMs === undefined) continue
      places?.take(this.key)
      room.release(first, { atMs })
    }
    if (this.line.size === 0) {
      this.#queue.forget(this)
      return
    }
    // No more waiters may leave together than leave now: slots that came meanwhile would make them more.
    if (wasHeldUp) this.#freeMs = Math.max(this.#freeMs, room.clock.now())
    this.#arrange()
  }

  #mayLeave(nowMs: number): boolean {
    return this.#freeMs <= nowMs && this.#queue.hasPlace(this.key)
  }

  #arrange(): void {
    const { agenda } = this.#queue.room
    if (this.isHeld) agenda.drop(this)
    else agenda.set(this, this.#freeMs)
  }

  /** Takes the next slot from the schedule and returns its time; `undefined` if the slot turns out to come later. */
  #takeSlot(cost: number, nowMs: number): number | undefined {
    const { schedule } = this.#queue
    const slotMs = Math.max(this.#freeMs, nowMs - CATCH_UP_MS)
    const isScheduled = slotMs === this.#freeMs && slotMs > this.#notBeforeMs
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
      this.#freeMs = atMs
      return undefined
    }
    this.#freeMs = atMs + this.#queue.drainMs(cost)
    return atMs
  }
}
