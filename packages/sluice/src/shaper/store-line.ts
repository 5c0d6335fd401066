import { CATCH_UP_MS } from '../clock.js'
import { StoreUnavailableError } from '../errors.js'
import type { Decision, LeakyBucket } from '../limits/index.js'
import type { Demand } from '../stores/index.js'
import { Appointment } from '../waiting/agenda.js'
import { Line, Waiter } from '../waiting/line.js'
import { type Slot, Slots } from '../waiting/slots.js'
import type { SlotAnswer, StoreSlots } from '../waiting/store-slots.js'
import type { LineOwner, WaitingRoom } from '../waiting/waiting-room.js'
import { queueFull, type TurnRequest, turnTooLate } from './queue-shaper.js'
import type { Turn } from './shaper.js'

/** If every slot has been missed for so long, a waiter may leave by a slot that has passed. */
const STUCK_MS = 1000

export type StoreWaiter = Waiter<StoreLine, Turn>

/** What a line needs of its key, which asks the store for waiters that have no slot. */
export interface LineKey {
  readonly room: WaitingRoom<StoreWaiter, Turn>
  readonly storeSlots: StoreSlots
  readonly pausedUntilMs: number
  /** When the store may be asked for waiters without a slot. `Infinity`: not before questions under way are answered. */
  readonly nextRoundMs: number
  /** Asks the store for waiters of all lines that have no slot, if it may be asked now. */
  askForLacking(): void
  /** A question that `askForLacking` made is answered. */
  endQuestion(isAllowed: boolean): void
  /** The store has no slot before then. */
  noteFull(untilMs: number): void
  /** Moves a slot that is too close to others of the key. */
  keepApart(slot: Slot, slots: Slots): Slot
  /** The line is empty. */
  forget(line: StoreLine): void
}

/** A question to the store: for one waiter, or of a round, for whichever waiter has no slot. */
export interface Question {
  readonly waiter?: StoreWaiter
}

export const ROUND: Question = {}

/**
 * The waiters of one key and cost, and the slots that are reserved for them: the first waiter takes the first slot. Its
 * appointment is when a slot comes, or when the store may be asked for a waiter that has none.
 */
export class StoreLine extends Appointment implements LineOwner<StoreWaiter> {
  readonly demand: Demand
  readonly line: Line<StoreWaiter>
  readonly slots: Slots
  readonly #key: LineKey
  readonly #room: WaitingRoom<StoreWaiter, Turn>
  readonly #capacity: number
  /** Questions that are not answered yet. */
  #asked = 0
  /** Since when every slot has been missed. */
  #missingSinceMs = Infinity

  constructor(key: LineKey, demand: Demand, msPerUnit: number) {
    super()
    this.demand = demand
    this.#capacity = (demand.limit as LeakyBucket).capacity
    this.line = new Line(this.#capacity)
    this.slots = new Slots(demand.cost * msPerUnit)
    this.#key = key
    this.#room = key.room
  }

  /** How many waiters have no slot, and will not have one when all questions are answered. */
  get lacking(): number {
    return this.line.size - this.slots.length - this.#asked
  }

  /** `join` is told of the waiter once it is in line, and sees to it that the store is asked for it. */
  add(request: TurnRequest, join: (waiter: StoreWaiter) => void): Promise<Turn> {
    return new Promise((resolve, reject) => {
      const waiter: StoreWaiter = new Waiter(this, request, resolve, reject)
      this.#room.admit()
      this.line.add(waiter)
      this.#room.watch(waiter, this.#room.clock.now())
      join(waiter)
    })
  }

  ask(question: Question): void {
    this.#asked++
    const askedMs = this.#room.clock.now()
    const isAtOnce = this.#key.storeSlots.take(this.demand, {
      answered: (given) => this.#answered(question, given),
      failed: (error) => this.#failed(question, error),
      settled: () => this.due(this.#room.clock.now()),
    })
    if (!isAtOnce) return
    // A caller that is released now starts only when the synchronous code that runs has ended: no crowd may start then.
    if (this.line.size === 1 && this.#room.measureTick(askedMs) <= CATCH_UP_MS) this.#letGo(askedMs)
    this.schedule()
  }

  /** A slot has come, or the store may be asked for waiters without one. */
  due(nowMs: number): void {
    this.#letGo(nowMs)
    this.#key.askForLacking()
    this.schedule()
  }

  /** Makes the appointment for what comes next. If nothing comes, forgets the line. */
  schedule(): void {
    const slotMs = this.slots.first?.dueMs ?? Infinity
    const askMs = this.lacking > 0 ? Math.max(this.#room.clock.now(), this.#key.nextRoundMs) : Infinity
    if (slotMs < Infinity || askMs < Infinity) this.#room.agenda.set(this, Math.min(slotMs, askMs))
    else this.#forgetIfEmpty()
  }

  /** If the waiter's slot has come too and only the alarm is late, the waiter leaves. */
  expire(waiter: StoreWaiter): void {
    const nowMs = this.#room.clock.now()
    if (this.heapIndex >= 0 && this.atMs <= nowMs) {
      this.#room.agenda.drop(this)
      this.due(nowMs)
    }
    if (!waiter.isInLine) return
    const waitMs = Math.max(this.slots.last?.dueMs ?? 0, this.#key.pausedUntilMs) - nowMs
    this.giveUp(waiter, turnTooLate(waiter.request.maxWaitMs, waitMs))
  }

  giveUp(waiter: StoreWaiter, reason: unknown): void {
    this.line.remove(waiter)
    this.#room.reject(waiter, reason)
    this.#refundSpare()
  }

  #answered(question: Question, { answer, slot }: SlotAnswer): void {
    const [decision] = answer.decisions
    this.#endQuestion(question, slot !== undefined)
    if (slot === undefined) {
      this.#denied(question, decision)
      return
    }
    this.slots.add(decision.degraded === 'open' ? slot : this.#key.keepApart(slot, this.slots))
    const { waiter } = question
    const maxWaitMs = waiter?.request.maxWaitMs ?? Infinity
    const waitMs = waiter === undefined || decision.delayMs <= maxWaitMs ? 0 : this.#waitMs(waiter)
    if (waiter !== undefined && waitMs > maxWaitMs) this.giveUp(waiter, turnTooLate(maxWaitMs, waitMs))
    else this.#refundSpare()
  }

  #denied(question: Question, { retryAfterMs, degraded }: Decision): void {
    const { name, cost } = this.demand
    if (degraded === 'closed') {
      const message = `the store of the shaper '${name}' does not answer, and onFailure is 'closed'`
      this.#rejectLacking(question, new StoreUnavailableError(message))
    } else if (question.waiter?.isInLine) {
      this.#rejectLacking(question, queueFull(name, this.#capacity, cost, retryAfterMs))
    } else {
      // A waiter that has lost its slot stays in the queue.
      if (question === ROUND) this.#key.noteFull(this.#room.clock.now() + retryAfterMs)
      this.#refundSpare()
    }
  }

  #failed(question: Question, error: unknown): void {
    this.#endQuestion(question, false)
    this.#rejectLacking(question, error)
  }

  #endQuestion(question: Question, isAllowed: boolean): void {
    this.#asked--
    if (question === ROUND) this.#key.endQuestion(isAllowed)
  }

  /** Rejects the waiter that the store was asked for, unless there is a slot for each waiter, because others have left. */
  #rejectLacking(question: Question, error: unknown): void {
    const waiter = question === ROUND ? this.line.last : question.waiter
    if (this.lacking > 0 && waiter?.isInLine) this.giveUp(waiter, error)
    else this.#refundSpare()
  }

  /** How long a waiter has to wait, as far as is known. By its priority it may take an earlier slot than the last one. */
  #waitMs(waiter: StoreWaiter): number {
    if (!waiter.isInLine) return 0
    const before = this.line.countBefore(waiter)
    return before < this.slots.length ? this.slots.at(before).dueMs - this.#room.clock.now() : 0
  }

  #letGo(nowMs: number): void {
    const isPaused = this.#key.pausedUntilMs > nowMs
    for (let slot = this.slots.first; slot !== undefined && slot.dueMs <= nowMs; slot = this.slots.first) {
      this.slots.removeFirst()
      const { first } = this.line
      if (isPaused || first === undefined || this.#lose(slot, nowMs)) continue
      this.line.remove(first)
      this.#room.release(first, turnOf(slot))
    }
  }

  /**
   * Returns true if the slot is lost because it came too long ago: a waiter that left by it now would be too close to one
   * of another process. A slot is kept for CATCH_UP_MS, or for its own length if that is longer, so that a process whose
   * alarms are always late does not ask for ever. If all slots have been lost for STUCK_MS, one is kept: otherwise no waiter
   * would ever leave a process that is always held up.
   */
  #lose({ dueMs }: Slot, nowMs: number): boolean {
    if (nowMs - dueMs > Math.max(CATCH_UP_MS, this.slots.slotMs)) {
      this.#missingSinceMs = Math.min(this.#missingSinceMs, nowMs)
      if (nowMs - this.#missingSinceMs < STUCK_MS) return true
    }
    this.#missingSinceMs = Infinity
    return false
  }

  #refundSpare(): void {
    // Slots that are being asked for come behind these. Only the last slot can be given back, so wait for them.
    while (this.#asked === 0 && this.slots.length > this.line.size)
      this.#key.storeSlots.refund(this.demand, this.slots.removeLast().taken)
    this.#forgetIfEmpty()
  }

  #forgetIfEmpty(): void {
    if (this.line.size > 0) return
    this.#room.agenda.drop(this)
    if (this.#asked === 0) this.#key.forget(this)
  }
}

function turnOf({ atMs, taken: { degraded } }: Slot): Turn {
  return degraded === 'open' || degraded === 'local' ? { atMs, degraded } : { atMs }
}
