import { CATCH_UP_MS } from '../clock.js'
import { StoreUnavailableError } from '../errors.js'
import type { Decision } from '../limits/index.js'
import { isPromiseLike } from '../stores/awaitable.js'
import type { Awaitable, Demand, NamedLimit } from '../stores/index.js'
import { Appointment } from '../waiting/agenda.js'
import { Line, Waiter } from '../waiting/line.js'
import { type Slot, Slots } from '../waiting/slots.js'
import type { SlotAnswer, StoreSlots } from '../waiting/store-slots.js'
import type { WaitingRoom } from '../waiting/waiting-room.js'
import { queueFull, type TurnRequest, turnTooLate } from './queue-shaper.js'
import type { Turn } from './shaper.js'

/** Up to so many waiters that have left are not worth forgetting. */
const FEW = 64
/** The store is asked for at most so many slots of a key at a time. As many usually fit in one call of Redis. */
const LARGEST_ROUND = 128
/** If every slot has been missed for so long, a waiter may leave by a slot that has passed. */
const STUCK_MS = 1000

export type StoreWaiter = Waiter<StoreLine, Turn>

/** What the keys of one shaper share. */
export interface SharedByKeys {
  readonly room: WaitingRoom<StoreWaiter, Turn>
  readonly slots: StoreSlots
  readonly named: NamedLimit
  readonly capacity: number
  readonly msPerUnit: number
  /** No caller waits for the key any more. */
  forget(key: StoreKey): void
}

/**
 * The waiters of one key: a line for each cost, because slots of one cost are interchangeable.
 *
 * A caller usually asks for its slot when it comes. The store is asked later for callers that come in a pause, and for
 * waiters that have lost their slots. That happens in rounds, each one larger than the one before while the store allows,
 * and of one question after a denial. Otherwise all of them would ask each time that there is room for one.
 */
export class StoreKey {
  readonly key: string
  readonly shared: SharedByKeys
  readonly #lines = new Map<number, StoreLine>()
  #pausedUntilMs: number
  /** By the last denial of a round, the store has no slot before then. */
  #fullUntilMs = -Infinity
  /** Questions of the current round that are not answered yet. */
  #underway = 0
  #roundSize = 1
  /** Waiters of all lines, as they came, that the store has not been asked for. Some may have left. */
  #unasked: StoreWaiter[] = []

  constructor(key: string, shared: SharedByKeys, pausedUntilMs: number) {
    this.key = key
    this.shared = shared
    this.#pausedUntilMs = pausedUntilMs
  }

  get pausedUntilMs(): number {
    return this.#pausedUntilMs
  }

  /** The costs of all waiters. */
  get units(): number {
    let units = 0
    for (const { line } of this.#lines.values()) units += line.units
    return units
  }

  /** Must the store be asked for other waiters before it is asked for a new one? */
  get hasUnasked(): boolean {
    return this.#unasked.length > 0
  }

  /** When the store may be asked for waiters without a slot; `Infinity` while a round is under way. */
  get nextRoundMs(): number {
    return this.#underway > 0 ? Infinity : Math.max(this.#pausedUntilMs, this.#fullUntilMs)
  }

  join(request: TurnRequest, isAskedLater: boolean): Promise<Turn> {
    return this.#line(request.cost).join(request, isAskedLater)
  }

  /** Slots that come in a pause are lost. Waiters lose them when they come, so there is nothing to do until then. */
  pause(untilMs: number): void {
    this.#pausedUntilMs = untilMs
  }

  rejectAll(error: () => Error): void {
    for (const store of [...this.#lines.values()])
      for (let { first } = store.line; first !== undefined; { first } = store.line) store.reject(first, error())
  }

  /** The store is asked for this waiter in a later round. */
  askLater(waiter: StoreWaiter): void {
    this.#unasked.push(waiter)
    if (this.#unasked.length <= FEW) return
    let size = 0
    for (const { line } of this.#lines.values()) size += line.size
    if (this.#unasked.length > FEW + 2 * size) this.#forgetGone()
  }

  /** Asks the store for waiters without a slot, unless a round is under way, the key is paused or the queue is full. */
  askForLacking(): void {
    if (this.#underway > 0) return
    while (this.nextRoundMs <= this.shared.room.clock.now()) {
      const round = this.#nextRound()
      if (round.length === 0) break
      this.#underway = round.length
      for (const line of round) {
        // An answer that came at once may have filled the queue or served the line.
        if (line.lacking > 0 && this.#fullUntilMs <= this.shared.room.clock.now()) line.ask(ROUND)
        else this.#underway--
      }
    }
    for (const line of this.#lines.values()) line.schedule()
  }

  /** A question of the round is answered. */
  endQuestion(isAllowed: boolean): void {
    this.#underway--
    this.#roundSize = isAllowed ? Math.min(LARGEST_ROUND, this.#roundSize + 1) : 1
  }

  noteFull(untilMs: number): void {
    this.#fullUntilMs = untilMs
  }

  /**
   * Keeps a slot apart from those that are held. The store does that itself, unless it has failed or has lost its data:
   * then the slot goes behind all others.
   */
  keepApart(slot: Slot, slots: Slots): Slot {
    let endMs = -Infinity
    let hasRoom = true
    for (const { slots: others } of this.#lines.values()) {
      // A cost of 0 takes no room.
      if (slots.slotMs === 0 || others.slotMs === 0) continue
      endMs = Math.max(endMs, others.endMs)
      hasRoom &&= others.hasRoomFor(slot, slots.slotMs)
    }
    if (!hasRoom) return { ...slot, dueMs: Math.max(slot.dueMs, endMs), isAsGiven: false }
    // The gap between the clocks becomes known better and better, which must not bring the last two slots closer.
    const { last } = slots
    const isLast = last !== undefined && last.dueMs <= slot.dueMs
    return isLast && slots.endMs > slot.dueMs ? { ...slot, dueMs: slots.endMs } : slot
  }

  /** The gap between the clocks is smaller than was thought, so held slots come earlier. */
  moveSlotsForward(mostGapMs: number): void {
    const lines = [...this.#lines.values()]
    if (!lines.every(({ slots }) => slots.areAsGiven)) return
    for (const line of lines) {
      line.slots.moveForward(mostGapMs)
      line.schedule()
    }
  }

  forget(line: StoreLine): void {
    const { cost } = line.demand
    // A new line of the same cost may exist by now.
    if (this.#lines.get(cost) !== line) return
    this.#lines.delete(cost)
    if (this.#lines.size === 0) this.shared.forget(this)
  }

  #line(cost: number): StoreLine {
    let line = this.#lines.get(cost)
    if (line === undefined) {
      line = new StoreLine(this, cost)
      this.#lines.set(cost, line)
    }
    return line
  }

  /** The lines to ask for next, once for each waiter: first those that have lost their slots, then the others as they came. */
  #nextRound(): readonly StoreLine[] {
    this.#forgetGone()
    const unasked = new Map<StoreLine, number>()
    for (const { owner } of this.#unasked) unasked.set(owner, (unasked.get(owner) ?? 0) + 1)
    const round: StoreLine[] = []
    for (const line of this.#lines.values())
      for (let lost = line.lacking - (unasked.get(line) ?? 0); lost > 0 && round.length < this.#roundSize; lost--)
        round.push(line)
    const next = this.#unasked.splice(0, this.#roundSize - round.length)
    return [...round, ...next.map(({ owner }) => owner)]
  }

  #forgetGone(): void {
    this.#unasked = this.#unasked.filter(({ isInLine }) => isInLine)
  }
}

/** A question to the store: for one waiter, or of a round, for the first waiter that has no slot. */
interface Question {
  readonly waiter?: StoreWaiter
  readonly maxWaitMs: number
}

const ROUND: Question = { maxWaitMs: Infinity }

/**
 * The waiters of one key and cost, and the slots that are reserved for them: the first waiter takes the first slot. Its
 * appointment is when a slot comes, or when the store may be asked for a waiter that has none.
 */
export class StoreLine extends Appointment {
  readonly demand: Demand
  readonly line: Line<StoreWaiter>
  readonly slots: Slots
  readonly #key: StoreKey
  readonly #shared: SharedByKeys
  /** Questions that are not answered yet. */
  #asked = 0
  /** Since when every slot has been missed. */
  #missingSinceMs = Infinity

  constructor(key: StoreKey, cost: number) {
    super()
    const { shared } = key
    this.demand = { ...shared.named, key: key.key, cost }
    this.line = new Line(shared.capacity)
    this.slots = new Slots(cost * shared.msPerUnit)
    this.#key = key
    this.#shared = shared
  }

  /** How many waiters have no slot, and will not have one when all questions are answered. */
  get lacking(): number {
    return this.line.size - this.slots.length - this.#asked
  }

  join(request: TurnRequest, isAskedLater: boolean): Promise<Turn> {
    const { room } = this.#shared
    const { cost, priority, maxWaitMs } = request
    return new Promise((resolve, reject) => {
      const waiter: StoreWaiter = new Waiter(this, cost, resolve, reject)
      room.admit()
      this.line.add(waiter, priority)
      room.watch(waiter, request, room.clock.now())
      if (isAskedLater) {
        this.#key.askLater(waiter)
        this.schedule()
      } else this.ask({ waiter, maxWaitMs })
    })
  }

  ask(question: Question): void {
    const { room, slots } = this.#shared
    this.#asked++
    const askedMs = room.clock.now()
    let taken: Awaitable<SlotAnswer>
    try {
      taken = slots.take(this.demand)
    } catch (error) {
      return this.#failed(question, error)
    }
    if (isPromiseLike(taken)) {
      const answered = taken.then(
        (given) => this.#answered(question, given),
        (error) => this.#failed(question, error),
      )
      answered.then(() => this.due(room.clock.now()))
      return
    }
    this.#answered(question, taken)
    // A caller that is released now starts only when the synchronous code that runs has ended: that must not be a crowd.
    if (this.line.size === 1 && room.measureTick(askedMs) <= CATCH_UP_MS) this.#letGo(askedMs)
    this.schedule()
  }

  /** A slot has come, or the store may be asked for waiters without one. */
  due(nowMs: number): void {
    this.#letGo(nowMs)
    this.#key.askForLacking()
    this.schedule()
  }

  /** Makes the appointment for what comes next. If there is nothing to come, forgets the line. */
  schedule(): void {
    const { room } = this.#shared
    const slotMs = this.slots.first?.dueMs ?? Infinity
    const askMs = this.lacking > 0 ? Math.max(room.clock.now(), this.#key.nextRoundMs) : Infinity
    const nextMs = Math.min(slotMs, askMs)
    if (nextMs < Infinity) room.agenda.set(this, nextMs)
    else this.#forgetIfEmpty()
  }

  /** The waiter's deadline has come. If its slot has come too and the alarm is late, the waiter leaves. */
  expire(waiter: StoreWaiter, maxWaitMs: number): void {
    const { room } = this.#shared
    const nowMs = room.clock.now()
    if (this.heapIndex >= 0 && this.atMs <= nowMs) {
      room.agenda.drop(this)
      this.due(nowMs)
    }
    if (!waiter.isInLine) return
    const waitMs = Math.max(this.slots.last?.dueMs ?? 0, this.#key.pausedUntilMs) - nowMs
    this.reject(waiter, turnTooLate(maxWaitMs, waitMs))
  }

  reject(waiter: StoreWaiter, error: unknown): void {
    this.line.remove(waiter)
    this.#shared.room.reject(waiter, error)
    this.#refundSpare()
  }

  #answered(question: Question, { answer, slot }: SlotAnswer): void {
    const { waiter, maxWaitMs } = question
    const [decision] = answer.decisions
    this.#endQuestion(question, slot !== undefined)
    if (slot === undefined) return this.#denied(question, decision)
    this.slots.add(decision.degraded === 'open' ? slot : this.#key.keepApart(slot, this.slots))
    const waitMs = waiter === undefined || decision.delayMs <= maxWaitMs ? 0 : this.#waitMs(waiter)
    if (waiter !== undefined && waitMs > maxWaitMs) this.reject(waiter, turnTooLate(maxWaitMs, waitMs))
    else this.#refundSpare()
  }

  #denied(question: Question, { retryAfterMs, degraded }: Decision): void {
    const { room, capacity, named } = this.#shared
    if (degraded === 'closed') {
      const message = `the store of the shaper '${named.name}' does not answer, and onFailure is 'closed'`
      return this.#rejectLacking(question, new StoreUnavailableError(message))
    }
    if (question.waiter?.isInLine)
      return this.#rejectLacking(question, queueFull(named.name, capacity, this.demand.cost, retryAfterMs))
    // A waiter that had lost its slot stays in the queue.
    if (question === ROUND) this.#key.noteFull(room.clock.now() + retryAfterMs)
    this.#refundSpare()
  }

  #failed(question: Question, error: unknown): void {
    this.#endQuestion(question, false)
    this.#rejectLacking(question, error)
  }

  #endQuestion(question: Question, isAllowed: boolean): void {
    this.#asked--
    if (question === ROUND) this.#key.endQuestion(isAllowed)
  }

  /**
   * Rejects the waiter that the store was asked for, unless another waiter has left a slot behind. If the waiter has left by
   * another slot, the store is asked again for the one that lacks a slot.
   */
  #rejectLacking(question: Question, error: unknown): void {
    const waiter = question === ROUND ? this.line.last : question.waiter
    if (this.lacking > 0 && waiter?.isInLine) this.reject(waiter, error)
    else this.#refundSpare()
  }

  /** How long a waiter has to wait, as far as is known. By its priority it may take an earlier slot than the last one. */
  #waitMs(waiter: StoreWaiter): number {
    if (!waiter.isInLine) return 0
    const before = this.line.countBefore(waiter)
    return before < this.slots.length ? this.slots.at(before).dueMs - this.#shared.room.clock.now() : 0
  }

  #letGo(nowMs: number): void {
    const isPaused = this.#key.pausedUntilMs > nowMs
    for (let slot = this.slots.first; slot !== undefined && slot.dueMs <= nowMs; slot = this.slots.first) {
      this.slots.removeFirst()
      const { first } = this.line
      if (isPaused || first === undefined || this.#lose(slot, nowMs)) continue
      this.line.remove(first)
      this.#shared.room.release(first, turnOf(slot))
    }
  }

  /**
   * Returns true if the slot is lost, because it came too long ago: a waiter that left by it now would be too close to one
   * of another process. It is kept for CATCH_UP_MS, or for its own length if that is longer, so that a process whose alarms
   * are always late does not ask for ever. If every slot has been lost for STUCK_MS, the next one is not: otherwise no
   * waiter would ever leave a process that is always held up.
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
    // Slots that are being asked for come behind these: wait until they are known, and then give back the last.
    while (this.#asked === 0 && this.slots.length > this.line.size)
      this.#shared.slots.refund(this.demand, this.slots.removeLast().taken)
    this.#forgetIfEmpty()
  }

  #forgetIfEmpty(): void {
    if (this.line.size > 0) return
    this.#shared.room.agenda.drop(this)
    if (this.#asked === 0) this.#key.forget(this)
  }
}

function turnOf({ atMs, taken: { degraded } }: Slot): Turn {
  return degraded === 'open' || degraded === 'local' ? { atMs, degraded } : { atMs }
}
