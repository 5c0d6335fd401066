import { CATCH_UP_MS } from '../clock.js'
import { StoreUnavailableError } from '../errors.js'
import type { Decision, LeakyBucket } from '../limits/index.js'
import type { Demand, NamedLimit } from '../stores/index.js'
import { Appointment } from '../waiting/agenda.js'
import { Line, type Waiter } from '../waiting/line.js'
import { keepApart, type Slot, Slots } from '../waiting/slots.js'
import type { StoreSlots } from '../waiting/store-slots.js'
import type { LineOwner, WaitingRoom } from '../waiting/waiting-room.js'
import type { Places } from './places.js'
import { queueFull, turnTooLate } from './queue-shaper.js'
import type { Turn } from './shaper.js'

export type StoreWaiter = Waiter<StoreLine, Turn>

/** What all keys of a shaper use. */
export interface StoreShaping {
  readonly named: NamedLimit & { readonly limit: LeakyBucket }
  readonly room: WaitingRoom<StoreWaiter, Turn>
  readonly storeSlots: StoreSlots
  readonly msPerUnit: number
  /** Where work runs in this process, if `concurrency` bounds that. */
  readonly places: Places | undefined
}

/** What all lines of a key use. */
export interface LineKey {
  readonly key: string
  readonly shaping: StoreShaping
  readonly pausedUntilMs: number
  /**
   * When the store may be asked for waiters without a slot. `Infinity`: not before questions under way are answered, or a
   * place is free.
   */
  readonly nextRoundMs: number
  /** The slots of all lines. */
  readonly slots: readonly Slots[]
  /** Asks the store for waiters of all lines that have no slot, if it may be asked now. */
  askForLacking(): void
  /** Makes the appointments of all lines. */
  schedule(): void
  /** A question of a round is answered. */
  endQuestion(isAllowed: boolean): void
  /** The store has no slot before then. */
  noteFull(untilMs: number): void
  /** The waiter has left its line. */
  left(waiter: StoreWaiter): void
  /** The line is empty. */
  forget(line: StoreLine): void
}

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
  /** Questions that are not answered yet. */
  #asked = 0

  constructor(key: LineKey, demand: Demand) {
    super()
    const { room, named, msPerUnit } = key.shaping
    this.demand = demand
    this.line = new Line(named.limit.capacity)
    this.slots = new Slots(demand.cost * msPerUnit)
    this.#key = key
    this.#room = room
  }

  /** How many waiters have no slot, and will not have one when all questions are answered. */
  get lacking(): number {
    return this.line.size - this.slots.length - this.#asked
  }

  /** How many free places must stay free for the slots of this line. */
  get placesKept(): number {
    return this.slots.length + this.#asked
  }

  /** Asks the store for one slot: for this waiter, or in a round for whichever waiter has no slot. */
  ask(waiter: StoreWaiter | undefined): void {
    this.#asked++
    const askedMs = this.#room.clock.now()
    const isAtOnce = this.#key.shaping.storeSlots.take(this.demand, {
      answered: ({ decisions: [decision] }, slot) => this.#answered(waiter, decision, slot),
      failed: (error) => {
        this.#endQuestion(waiter, false)
        this.#rejectLacking(waiter, error)
      },
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
    this.#room.agenda.catchUpWith(this, nowMs)
    if (!waiter.isInLine) return
    // A pause without an end may end now.
    const pausedUntilMs = this.#key.pausedUntilMs < Infinity ? this.#key.pausedUntilMs : nowMs
    const waitMs = Math.max(this.slots.last?.dueMs ?? 0, pausedUntilMs) - nowMs
    this.giveUp(waiter, turnTooLate(waiter.request.maxWaitMs, waitMs))
  }

  giveUp(waiter: StoreWaiter, reason: unknown): void {
    this.#room.reject(waiter, reason)
    this.#key.left(waiter)
    this.#refundSpare()
    // A place that was kept for a slot may be free for another line.
    if (this.#key.shaping.places !== undefined) this.#key.schedule()
  }

  #answered(waiter: StoreWaiter | undefined, decision: Decision, slot: Slot | undefined): void {
    this.#endQuestion(waiter, slot !== undefined)
    if (slot === undefined) {
      this.#denied(waiter, decision)
      return
    }
    this.slots.add(decision.degraded === 'open' ? slot : keepApart(slot, this.slots, this.#key.slots))
    if (waiter?.isInLine && decision.delayMs > waiter.request.maxWaitMs) this.#rejectIfLate(waiter)
    this.#refundSpare()
  }

  #denied(waiter: StoreWaiter | undefined, { retryAfterMs, degraded }: Decision): void {
    const { name, limit } = this.#key.shaping.named
    if (degraded === 'closed') {
      const message = `the store of the shaper '${name}' does not answer, and onFailure is 'closed'`
      this.#rejectLacking(waiter, new StoreUnavailableError(message))
    } else if (waiter?.isInLine) {
      this.#rejectLacking(waiter, queueFull(name, limit.capacity, this.demand.cost, retryAfterMs))
    } else {
      // A waiter that has lost its slot stays in the queue.
      if (waiter === undefined) this.#key.noteFull(this.#room.clock.now() + retryAfterMs)
      this.#refundSpare()
    }
  }

  #endQuestion(waiter: StoreWaiter | undefined, isAllowed: boolean): void {
    this.#asked--
    if (waiter === undefined) this.#key.endQuestion(isAllowed)
  }

  /** Rejects the waiter that the store was asked for, unless there is a slot for each waiter, because others have left. */
  #rejectLacking(waiter = this.line.last, error: unknown): void {
    if (this.lacking > 0 && waiter?.isInLine) this.giveUp(waiter, error)
    else this.#refundSpare()
  }

  /** Rejects the waiter if its slot comes too late. By its priority it may take an earlier slot than the last one. */
  #rejectIfLate(waiter: StoreWaiter): void {
    const { maxWaitMs } = waiter.request
    const before = this.line.countBefore(waiter)
    const waitMs = before < this.slots.length ? this.slots.at(before).dueMs - this.#room.clock.now() : 0
    if (waitMs > maxWaitMs) this.giveUp(waiter, turnTooLate(maxWaitMs, waitMs))
  }

  #letGo(nowMs: number): void {
    const isPaused = this.#key.pausedUntilMs > nowMs
    for (let slot = this.slots.first; slot !== undefined && slot.dueMs <= nowMs; slot = this.slots.first) {
      this.slots.removeFirst()
      const { first } = this.line
      if (isPaused || first === undefined || this.slots.lose(slot, nowMs)) continue
      this.#key.shaping.places?.take(this.#key.key)
      this.#room.release(first, turnOf(slot))
      this.#key.left(first)
    }
  }

  #refundSpare(): void {
    // Slots that are being asked for come behind these. Only the last slot can be given back, so wait for them.
    while (this.#asked === 0 && this.slots.length > this.line.size)
      this.#key.shaping.storeSlots.refund(this.demand, this.slots.removeLast().taken)
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
