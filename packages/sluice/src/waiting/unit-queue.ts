import { CATCH_UP_MS } from '../clock.js'
import type { QueueFullError, WaitTooLongError } from '../errors.js'
import type { Decision, Limit } from '../limits/index.js'
import type { Answer, Demand } from '../stores/index.js'
import { Appointment } from './agenda.js'
import { Line, type WaitRequest } from './line.js'
import type { Slot } from './slots.js'
import type { SlotHandler, StoreSlots } from './store-slots.js'
import { neverError, UnitWaiter } from './unit-waiter.js'
import { waitAfterDenial } from './wait-after-denial.js'
import type { LineOwner, WaitingRoom } from './waiting-room.js'

/** The store is asked for at most so many waiters of a key at a time. As many usually fit in one call of Redis. */
const MOST_UNDERWAY = 128

/** What all queues of a limiter use. */
export interface LimiterQueues {
  readonly limit: Limit
  readonly room: WaitingRoom<UnitWaiter, Answer>
  readonly slots: StoreSlots
  /** The length of a slot of one unit; 0 for limits without slots. */
  readonly msPerUnit: number
  /** Other processes take and give back too, and this process is not told. */
  readonly isShared: boolean
  /** How many callers may wait, over all keys. */
  readonly maxWaiters: number
  readonly demand: (key: string, cost: number) => Demand
  /** Units of the key may have come back: asks for the first waiter at once. */
  readonly wake: (key: string) => void
  /** The error for a caller that would be one waiter too many. A waiter leaves when the next appointment is due, or before. */
  fullError(): QueueFullError
  /** The queue is empty. */
  forget(queue: UnitQueue): void
}

/**
 * The callers that wait for units of one key, in the order in which they came.
 *
 * The store is asked for the first waiter only and, if enough units are known to be left, for those behind it of the same
 * cost. All questions under way are for the same cost, and an answer goes to the first waiter if it has that cost. So no
 * waiter overtakes another, and an answer for a waiter that has left serves the next one or is given back.
 *
 * After a denial the queue sleeps until the units are there. It wakes before that when units come back (`ask`), or when
 * the first waiter leaves and the next one wants less.
 */
export class UnitQueue extends Appointment implements LineOwner<UnitWaiter>, SlotHandler {
  readonly key: string
  readonly line = new Line<UnitWaiter>(1)
  readonly #queues: LimiterQueues
  /** How many questions the store has not answered yet; all are for `#askedCost`. */
  #underway = 0
  #askedCost = 0
  /** Units may have come back since the store was asked. */
  #hasNews = false
  /** The denial among the last answers, if there was one. */
  #denial: Decision | undefined
  /** How many denials came in a row. */
  #denials = 0
  /** Units that are left, by the last answer. */
  #remaining = 0
  /** By the last denial, no waiter of `#askedCost` or more is served before. */
  #deniedUntilMs = 0
  /** By the last denial, the first waiter is served at the latest then, if no one else takes the units. */
  #readyMs = 0
  /** When the last slot that was put off is over. */
  #putOffUntilMs = -Infinity
  /** Waiters whose deadline came while the store was being asked: its answers still count for them. */
  #overdue: UnitWaiter[] = []

  constructor(key: string, queues: LimiterQueues) {
    super()
    this.key = key
    this.#queues = queues
  }

  /** Rejects at once if the wait is known to be too long. */
  join(request: WaitRequest): Promise<Answer> {
    const { room } = this.#queues
    const nowMs = room.clock.now()
    return new Promise((resolve, reject) => {
      const waiter = new UnitWaiter(this, request, resolve, reject)
      waiter.deadlineMs = nowMs + request.maxWaitMs
      // A caller that wants less than was denied may be served as soon as those in front give up.
      if (waiter.cost >= this.#askedCost && waiter.deadlineMs < this.#deniedUntilMs) {
        reject(waiter.tooLateError(this.#deniedUntilMs - nowMs))
        return
      }
      room.admit(waiter)
      if (this.line.size === 1 && this.#underway === 0) this.ask()
      // A caller that is served at once needs neither alarm nor listener, and does not count.
      if (!waiter.isInLine && waiter.reminder === undefined) return
      if (room.size > this.#queues.maxWaiters) this.giveUp(waiter, this.#queues.fullError())
      else room.watch(waiter, nowMs)
    })
  }

  due(): void {
    this.ask()
  }

  /** Asks until the line is empty, the store denies, or its answer takes a while. */
  ask(): void {
    if (this.#underway > 0) {
      this.#hasNews = true
      return
    }
    this.#queues.room.agenda.drop(this)
    do this.#askOnce()
    while (this.#underway === 0 && this.#endRound())
    if (this.#underway === 0) this.#rejectOverdue()
  }

  /** The waiter's deadline has come. Answers under way count. */
  expire(waiter: UnitWaiter): void {
    if (this.#underway > 0) this.#overdue.push(waiter)
    else this.giveUp(waiter, this.#expiredError(waiter))
  }

  giveUp(waiter: UnitWaiter, reason: unknown): void {
    const wasFirst = this.line.first === waiter
    this.#queues.room.reject(waiter, reason)
    if (waiter.slot !== undefined) this.#refund(waiter.slot)
    if (!wasFirst || this.#underway > 0) return
    const { first } = this.line
    if (first === undefined) {
      this.#queues.room.agenda.drop(this)
      this.#queues.forget(this)
    } else if (first.cost < this.#askedCost) this.ask()
  }

  answered(answer: Answer, slot: Slot | undefined): void {
    const [decision] = answer.decisions
    if (slot === undefined) this.#denial = decision
    else {
      this.#denials = 0
      this.#remaining = decision.remaining
      this.#give(answer, slot)
    }
    this.#underway--
  }

  failed(error: unknown): void {
    const { first } = this.line
    if (first?.cost === this.#askedCost) this.#queues.room.reject(first, error)
    this.#underway--
  }

  /** An answer came later. If it was the last one, goes on as `ask` does after answers that came at once. */
  settled(): void {
    if (this.#underway > 0) return
    if (this.#endRound()) this.ask()
    this.#rejectOverdue()
  }

  /** Asks for the first waiter and, as far as units are known to be left, for those behind it of the same cost. */
  #askOnce(): void {
    this.#hasNews = false
    this.#denial = undefined
    this.#deniedUntilMs = 0
    const { room, slots, demand } = this.#queues
    for (let { first } = this.line; first?.request.signal?.aborted; { first } = this.line)
      room.reject(first, first.request.signal.reason)
    const { first } = this.line
    if (first === undefined) return
    const { cost } = first
    const most = Math.min(MOST_UNDERWAY, Math.max(1, Math.floor(this.#remaining / Math.max(1, cost))))
    this.#askedCost = cost
    this.#remaining = 0
    // Counted before the first answer, so that no answer looks like the last one while more are to come.
    for (let next: UnitWaiter | undefined = first; next?.cost === cost && this.#underway < most; next = next.next) {
      next.isAsked = true
      this.#underway++
    }
    for (let left = this.#underway; left > 0; left--) slots.take(demand(this.key, cost), this)
  }

  /** Gives the slot to the first waiter, or back if those it was taken for have left. */
  #give(answer: Answer, slot: Slot): void {
    const { room } = this.#queues
    // Waiters whose slots have come leave before this one, even if the alarm is late.
    room.agenda.catchUp()
    const { first } = this.line
    const nowMs = room.clock.now()
    const dueMs = this.#putOff(slot, nowMs)
    if (first?.cost !== this.#askedCost) this.#refund(slot)
    else if (dueMs <= nowMs) room.release(first, answer)
    else if (dueMs > first.deadlineMs) {
      room.reject(first, first.tooLateError(dueMs - nowMs))
      this.#refund(slot)
    } else {
      first.slot = slot
      room.releaseAt(first, dueMs, answer)
    }
  }

  /**
   * Returns when a waiter may use the slot: when it comes. If the answer was read so late that the slot passed more than
   * CATCH_UP_MS ago, it is put off to that time, and the slots after it as far as they would be too close: no crowd leaves.
   */
  #putOff(slot: Slot, nowMs: number): number {
    const earliestMs = Math.max(nowMs - CATCH_UP_MS, this.#putOffUntilMs)
    if (slot.dueMs >= earliestMs) return slot.dueMs
    this.#putOffUntilMs = earliestMs + slot.taken.cost * this.#queues.msPerUnit
    return earliestMs
  }

  /** All questions are answered. Returns whether to ask again at once; otherwise the queue sleeps or is forgotten. */
  #endRound(): boolean {
    for (let next = this.line.first; next?.isAsked; next = next.next) next.isAsked = false
    if (this.#denial !== undefined && !this.#hasNews && this.#sleepAfter(this.#denial)) return false
    if (this.line.size > 0) return true
    this.#queues.forget(this)
    return false
  }

  /**
   * After a denial: rejects leading waiters that cannot make their deadline. Returns whether the queue now sleeps; it does
   * not if it is empty, or if the first waiter wants less than was denied.
   */
  #sleepAfter(denial: Decision): boolean {
    const { limit, isShared, room } = this.#queues
    const nowMs = room.clock.now()
    const { atLeastMs, askAgainMs } = waitAfterDenial(limit, denial, ++this.#denials, isShared)
    for (let { first } = this.line; first !== undefined; { first } = this.line) {
      if (first.cost < this.#askedCost) return false
      if (atLeastMs === Infinity) room.reject(first, neverError(first.cost))
      else if (nowMs + atLeastMs > first.deadlineMs) room.reject(first, first.tooLateError(atLeastMs))
      else {
        this.#deniedUntilMs = nowMs + atLeastMs
        this.#readyMs = nowMs + denial.retryAfterMs
        room.agenda.set(this, nowMs + askAgainMs)
        return true
      }
    }
    return false
  }

  /** Rejects overdue waiters, except those that the store is being asked for. */
  #rejectOverdue(): void {
    if (this.#overdue.length === 0) return
    const overdue = this.#overdue
    this.#overdue = []
    for (const waiter of overdue) {
      if (!waiter.isInLine) continue
      if (waiter.isAsked) this.#overdue.push(waiter)
      else this.giveUp(waiter, this.#expiredError(waiter))
    }
  }

  #refund({ taken }: Slot): void {
    const { slots, demand, wake } = this.#queues
    slots.refund(demand(this.key, taken.cost), taken, () => wake(this.key))
  }

  #expiredError(waiter: UnitWaiter): WaitTooLongError {
    return waiter.expiredError(this.#readyMs - this.#queues.room.clock.now())
  }
}
