import { CATCH_UP_MS } from '../clock.js'
import { StoreUnavailableError } from '../errors.js'
import type { Decision, LeakyBucket } from '../limits/index.js'
import type { Demand, NamedLimit } from '../stores/index.js'
import { Appointment } from '../waiting/agenda.js'
import { Line, Waiter } from '../waiting/line.js'
import { keepApart, type Slot, Slots } from '../waiting/slots.js'
import type { StoreSlots } from '../waiting/store-slots.js'
import type { LineOwner, WaitingRoom } from '../waiting/waiting-room.js'
import { queueFull, type TurnRequest, turnTooLate } from './queue-shaper.js'
import type { Turn } from './shaper.js'

/** The store is asked for at most so many slots of a key at a time. As many usually fit in one call of Redis. */
const LARGEST_ROUND = 128

export type StoreWaiter = Waiter<StoreLine, Turn>

/** What all keys of a shaper use. */
export interface StoreShaping {
  readonly named: NamedLimit & { readonly limit: LeakyBucket }
  readonly room: WaitingRoom<StoreWaiter, Turn>
  readonly storeSlots: StoreSlots
  readonly msPerUnit: number
}

/**
 * The waiters of one key: a line for each cost, because slots of one cost are interchangeable.
 *
 * A caller usually asks for its slot when it comes. The store is asked later for callers that come in a pause, and for
 * waiters that have lost their slots. That happens in rounds, each one larger than the one before while the store allows,
 * and of one question after a denial. Otherwise all of them would ask each time that there is room for one.
 */
export class StoreKey {
  readonly shaping: StoreShaping
  pausedUntilMs: number
  readonly #key: string
  readonly #forget: () => void
  readonly #lines = new Map<number, StoreLine>()
  #fullUntilMs = -Infinity
  /** Questions of the current round that are not answered yet. */
  #underway = 0
  #roundSize = 1
  /** Waiters of all lines, as they came, that the store has not been asked for. */
  readonly #unasked = new Set<StoreWaiter>()

  /** `forget` is called when no waiters and no questions are left. */
  constructor(key: string, shaping: StoreShaping, pausedUntilMs: number, forget: () => void) {
    this.shaping = shaping
    this.pausedUntilMs = pausedUntilMs
    this.#key = key
    this.#forget = forget
  }

  /** The costs of all waiters. */
  get units(): number {
    let units = 0
    for (const { line } of this.#lines.values()) units += line.units
    return units
  }

  /** The slots of all lines. */
  get slots(): readonly Slots[] {
    return [...this.#lines.values()].map(({ slots }) => slots)
  }

  /** Must the store be asked for other waiters before it is asked for a new one? */
  get hasUnasked(): boolean {
    return this.#unasked.size > 0
  }

  /** When the store may be asked for waiters without a slot. `Infinity`: not before questions under way are answered. */
  get nextRoundMs(): number {
    return this.#underway > 0 ? Infinity : Math.max(this.pausedUntilMs, this.#fullUntilMs)
  }

  join(request: TurnRequest, isAskedLater: boolean): Promise<Turn> {
    const { room } = this.shaping
    const line = this.#line(request.cost)
    return new Promise((resolve, reject) => {
      const waiter: StoreWaiter = new Waiter(line, request, resolve, reject)
      room.admit(waiter)
      room.watch(waiter, room.clock.now())
      if (isAskedLater) {
        this.#unasked.add(waiter)
        line.schedule()
      } else line.ask(waiter)
    })
  }

  rejectAll(error: () => Error): void {
    for (const owner of [...this.#lines.values()])
      for (let { first } = owner.line; first !== undefined; { first } = owner.line) owner.giveUp(first, error())
  }

  /** Asks the store for waiters of all lines that have no slot, if it may be asked now. */
  askForLacking(): void {
    if (this.#underway > 0) return
    const { clock } = this.shaping.room
    while (this.nextRoundMs <= clock.now()) {
      const round = this.#nextRound()
      if (round.length === 0) break
      this.#underway = round.length
      for (const line of round) {
        // The store may answer at once: then the queue may be full by now, or the line may have enough slots.
        if (line.lacking > 0 && this.#fullUntilMs <= clock.now()) line.ask(undefined)
        else this.#underway--
      }
    }
    for (const line of this.#lines.values()) line.schedule()
  }

  /** A question of a round is answered. */
  endQuestion(isAllowed: boolean): void {
    this.#underway--
    this.#roundSize = isAllowed ? Math.min(LARGEST_ROUND, this.#roundSize + 1) : 1
  }

  /** The store has no slot before then. */
  noteFull(untilMs: number): void {
    this.#fullUntilMs = untilMs
  }

  /** The gap between the clocks is smaller than was thought, so held slots come earlier. */
  moveSlotsForward(mostGapMs: number): void {
    if (!this.slots.every((slots) => slots.areAsGiven)) return
    for (const line of this.#lines.values()) {
      line.slots.moveForward(mostGapMs)
      line.schedule()
    }
  }

  /** The waiter has left its line. */
  left(waiter: StoreWaiter): void {
    this.#unasked.delete(waiter)
  }

  /** The line is empty. */
  forget(line: StoreLine): void {
    const { cost } = line.demand
    // A new line of the same cost may exist by now.
    if (this.#lines.get(cost) !== line) return
    this.#lines.delete(cost)
    if (this.#lines.size === 0) this.#forget()
  }

  #line(cost: number): StoreLine {
    let line = this.#lines.get(cost)
    if (line === undefined) {
      line = new StoreLine(this, { ...this.shaping.named, key: this.#key, cost })
      this.#lines.set(cost, line)
    }
    return line
  }

  /** The lines to ask for next, once for each waiter: first those that have lost their slots, then the others as they came. */
  #nextRound(): readonly StoreLine[] {
    const unasked = new Map<StoreLine, number>()
    for (const { owner } of this.#unasked) unasked.set(owner, (unasked.get(owner) ?? 0) + 1)
    const round: StoreLine[] = []
    for (const line of this.#lines.values())
      for (let lost = line.lacking - (unasked.get(line) ?? 0); lost > 0 && round.length < this.#roundSize; lost--)
        round.push(line)
    for (const waiter of this.#unasked) {
      if (round.length === this.#roundSize) break
      this.#unasked.delete(waiter)
      round.push(waiter.owner)
    }
    return round
  }
}

/**
 * The waiters of one key and cost, and the slots that are reserved for them: the first waiter takes the first slot. Its
 * appointment is when a slot comes, or when the store may be asked for a waiter that has none.
 */
class StoreLine extends Appointment implements LineOwner<StoreWaiter> {
  readonly demand: Demand
  readonly line: Line<StoreWaiter>
  readonly slots: Slots
  readonly #key: StoreKey
  readonly #room: WaitingRoom<StoreWaiter, Turn>
  /** Questions that are not answered yet. */
  #asked = 0

  constructor(key: StoreKey, demand: Demand) {
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
    const waitMs = Math.max(this.slots.last?.dueMs ?? 0, this.#key.pausedUntilMs) - nowMs
    this.giveUp(waiter, turnTooLate(waiter.request.maxWaitMs, waitMs))
  }

  giveUp(waiter: StoreWaiter, reason: unknown): void {
    this.#room.reject(waiter, reason)
    this.#key.left(waiter)
    this.#refundSpare()
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
