import { CATCH_UP_MS } from '../clock.js'
import type { WaitTooLongError } from '../errors.js'
import type { Decision, Limit } from '../limits/index.js'
import type { Answer, Demand } from '../stores/index.js'
import { Appointment, Reminder } from './agenda.js'
import { Line, type WaitRequest } from './line.js'
import type { Slot } from './slots.js'
import type { SlotAnswer, SlotHandler, StoreSlots } from './store-slots.js'
import { neverError, UnitWaiter } from './unit-waiter.js'
import { waitAfterDenial } from './wait-after-denial.js'
import type { LineOwner, WaitingRoom } from './waiting-room.js'

/** The store is asked for at most so many waiters of a key at a time. As many usually fit in one call of Redis. */
const MOST_UNDERWAY = 128

/** What the queues of one limiter share. */
export interface UnitSource {
  readonly limit: Limit
  readonly room: WaitingRoom<UnitWaiter, Answer>
  readonly slots: StoreSlots
  /** The length of a slot of one unit; 0 for limits without slots. */
  readonly msPerUnit: number
  /** Other processes take and give back too, and this process is not told. */
  readonly isShared: boolean
  demand(key: string, cost: number): Demand
  /** Units of the key may have come back. */
  wake(key: string): void
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
export class UnitQueue extends Appointment implements LineOwner<UnitWaiter> {
  readonly key: string
  readonly #source: UnitSource
  readonly #line = new Line<UnitWaiter>(1)

  readonly #handler: SlotHandler = {
    answered: (given) => this.#answered(given),
    failed: (error) => this.#failed(error),
    settled: () => this.#goOn(),
  }

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

  constructor(key: string, source: UnitSource) {
    super()
    this.key = key
    this.#source = source
  }

  /** Adds a caller, or rejects it at once if the wait is known to be too long. */
  join(request: WaitRequest, resolve: (answer: Answer) => void, reject: (error: unknown) => void): void {
    const { room } = this.#source
    const nowMs = room.clock.now()
    const waiter = new UnitWaiter(this, request, resolve, reject)
    waiter.deadlineMs = nowMs + request.maxWaitMs
    // A caller that wants less than was denied may be served as soon as those in front give up.
    if (waiter.cost >= this.#askedCost && waiter.deadlineMs < this.#deniedUntilMs) {
      reject(waiter.tooLateError(this.#deniedUntilMs - nowMs))
      return
    }
    room.admit()
    this.#line.add(waiter)
    if (this.#line.size === 1 && this.#underway === 0) this.ask()
    // A caller that is served at once needs neither alarm nor listener.
    if (waiter.isWaiting) room.watch(waiter, nowMs)
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
    this.#source.room.agenda.drop(this)
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
    if (!waiter.isWaiting) return
    const { slot } = waiter
    const wasFirst = this.#line.first === waiter
    this.#reject(waiter, reason)
    if (slot !== undefined) this.#refund(slot)
    else if (wasFirst && this.#underway === 0) this.#firstHasLeft()
  }

  #askOnce(): void {
    this.#hasNews = false
    this.#denial = undefined
    this.#deniedUntilMs = 0
    const questions = this.#chooseAsked()
    // Counted before the first answer, so that no answer looks like the last one while more are to come.
    this.#underway = questions
    const { slots, demand } = this.#source
    for (let i = 0; i < questions; i++) slots.take(demand(this.key, this.#askedCost), this.#handler)
  }

  /** Chooses the waiters to ask for, all of `#askedCost`, and returns how many they are. */
  #chooseAsked(): number {
    for (let { first } = this.#line; first?.request.signal?.aborted; { first } = this.#line)
      this.#reject(first, first.request.signal.reason)
    const { first } = this.#line
    if (first === undefined) return 0
    this.#askedCost = first.cost
    const most = Math.min(MOST_UNDERWAY, Math.max(1, Math.floor(this.#remaining / Math.max(1, first.cost))))
    this.#remaining = 0
    let count = 0
    for (let next: UnitWaiter | undefined = first; next?.cost === first.cost && count < most; next = next.next) {
      next.isAsked = true
      count++
    }
    return count
  }

  /** An answer came later. If it was the last one, goes on as `ask` does after answers that came at once. */
  #goOn(): void {
    if (this.#underway > 0) return
    if (this.#endRound()) this.ask()
    this.#rejectOverdue()
  }

  #answered({ answer, slot }: SlotAnswer): void {
    const [decision] = answer.decisions
    if (slot === undefined) this.#denial = decision
    else {
      this.#denials = 0
      this.#remaining = decision.remaining
      this.#give(answer, slot)
    }
    this.#underway--
  }

  #failed(error: unknown): void {
    const { first } = this.#line
    if (first?.cost === this.#askedCost) this.#reject(first, error)
    this.#underway--
  }

  /** Gives the slot to the first waiter, or back if those it was taken for have left. */
  #give(answer: Answer, slot: Slot): void {
    const { room } = this.#source
    // Waiters whose slots have come leave before this one, even if the alarm is late.
    room.agenda.catchUp()
    const { first } = this.#line
    const nowMs = room.clock.now()
    const dueMs = this.#putOff(slot, nowMs)
    if (first?.cost !== this.#askedCost) this.#refund(slot)
    else if (dueMs <= nowMs) this.#release(first, answer)
    else if (dueMs > first.deadlineMs) {
      this.#reject(first, first.tooLateError(dueMs - nowMs))
      this.#refund(slot)
    } else {
      this.#line.remove(first)
      first.slot = slot
      first.slotReminder = new Reminder(() => this.#release(first, answer))
      room.agenda.set(first.slotReminder, dueMs)
    }
  }

  /**
   * Returns when a waiter may use the slot: when it comes. If the answer was read so late that the slot passed more than
   * CATCH_UP_MS ago, it is put off to that time, and the slots after it as far as they would be too close: no crowd leaves.
   */
  #putOff(slot: Slot, nowMs: number): number {
    const earliestMs = Math.max(nowMs - CATCH_UP_MS, this.#putOffUntilMs)
    if (slot.dueMs >= earliestMs) return slot.dueMs
    this.#putOffUntilMs = earliestMs + slot.taken.cost * this.#source.msPerUnit
    return earliestMs
  }

  /** All questions are answered. Returns whether to ask again at once; otherwise the queue sleeps or is forgotten. */
  #endRound(): boolean {
    for (let next = this.#line.first; next?.isAsked; next = next.next) next.isAsked = false
    if (this.#denial !== undefined && !this.#hasNews && this.#sleepAfter(this.#denial)) return false
    if (this.#line.size > 0) return true
    this.#source.forget(this)
    return false
  }

  /**
   * After a denial: rejects leading waiters that cannot make their deadline. Returns whether the queue now sleeps; it does
   * not if it is empty, or if the first waiter wants less than was denied.
   */
  #sleepAfter(denial: Decision): boolean {
    const { limit, isShared, room } = this.#source
    const nowMs = room.clock.now()
    const { atLeastMs, askAgainMs } = waitAfterDenial(limit, denial, ++this.#denials, isShared)
    for (let { first } = this.#line; first !== undefined; { first } = this.#line) {
      if (first.cost < this.#askedCost) return false
      if (atLeastMs === Infinity) this.#reject(first, neverError(first.cost))
      else if (nowMs + atLeastMs > first.deadlineMs) this.#reject(first, first.tooLateError(atLeastMs))
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
      if (waiter.isAsked && waiter.isWaiting) this.#overdue.push(waiter)
      else this.giveUp(waiter, this.#expiredError(waiter))
    }
  }

  #firstHasLeft(): void {
    const { first } = this.#line
    if (first === undefined) {
      this.#source.room.agenda.drop(this)
      this.#source.forget(this)
    } else if (first.cost < this.#askedCost) this.ask()
  }

  #release(waiter: UnitWaiter, answer: Answer): void {
    this.#leave(waiter)
    this.#source.room.release(waiter, answer)
  }

  #reject(waiter: UnitWaiter, error: unknown): void {
    this.#leave(waiter)
    this.#source.room.reject(waiter, error)
  }

  #leave(waiter: UnitWaiter): void {
    if (waiter.isInLine) this.#line.remove(waiter)
    if (waiter.slotReminder !== undefined) this.#source.room.agenda.drop(waiter.slotReminder)
    waiter.slot = undefined
  }

  #refund({ taken }: Slot): void {
    const { slots, demand, wake } = this.#source
    slots.refund(demand(this.key, taken.cost), taken, () => wake(this.key))
  }

  #expiredError(waiter: UnitWaiter): WaitTooLongError {
    return waiter.expiredError(this.#readyMs - this.#source.room.clock.now())
  }
}
