import { setExactAlarm, systemClock } from '../clock.js'
import type { LeakyBucket } from '../limits/index.js'
import type { NamedLimit, Store } from '../stores/index.js'
import type { Slot, Slots } from '../waiting/slots.js'
import { StoreSlots, slotMs } from '../waiting/store-slots.js'
import { WaitingRoom } from '../waiting/waiting-room.js'
import { queueFull, type TurnQueue, type TurnRequest, turnTooLate } from './queue-shaper.js'
import type { Turn } from './shaper.js'
import { type LineKey, ROUND, StoreLine, type StoreWaiter } from './store-line.js'

/** Up to so many waiters that have left are not worth forgetting. */
const FEW = 64
/** The store is asked for at most so many slots of a key at a time. As many usually fit in one call of Redis. */
const LARGEST_ROUND = 128

/**
 * Gives turns in all processes that share a store. Each waiter has a slot reserved in a bucket that they share, so that
 * all processes together leave at the rate. The slots of a process that dies pass unused.
 *
 * The waiters of this process are put in order here: the first waiter takes the first slot. If a waiter gives up, the last
 * slot is spare and is given back, which helps unless another process has taken a slot behind it.
 */
export class StoreQueue implements TurnQueue {
  readonly room: WaitingRoom<StoreWaiter, Turn>
  readonly storeSlots: StoreSlots
  readonly named: NamedLimit
  readonly msPerUnit: number
  readonly #capacity: number
  /** Only keys with waiters, or with questions under way. */
  readonly #keys = new Map<string, StoreKey>()

  constructor(store: Store, named: NamedLimit & { readonly limit: LeakyBucket }) {
    const clock = store.clock ?? systemClock
    this.named = named
    this.msPerUnit = slotMs(named.limit)
    this.#capacity = named.limit.capacity
    this.room = new WaitingRoom(clock, setExactAlarm)
    this.storeSlots = new StoreSlots(store, clock, (mostGapMs) => {
      for (const key of this.#keys.values()) key.moveSlotsForward(mostGapMs)
    })
  }

  get size(): number {
    return this.room.size
  }

  enter(request: TurnRequest, pausedUntilMs: number): Promise<Turn> {
    const { key, cost, maxWaitMs } = request
    const { name } = this.named
    const capacity = this.#capacity
    if (cost > capacity) throw queueFull(name, capacity, cost, Infinity)
    const pauseMs = Math.max(0, pausedUntilMs - this.room.clock.now())
    if (pauseMs > maxWaitMs) throw turnTooLate(maxWaitMs, pauseMs)
    const waiting = this.#keys.get(key)
    const isAskedLater = pauseMs > 0 || waiting?.hasUnasked === true
    // Until the store is asked, only this process can say that the queue is full.
    const excess = isAskedLater && cost > 0 ? (waiting?.units ?? 0) + cost - capacity : 0
    if (excess > 0) throw queueFull(name, capacity, cost, Math.ceil(pauseMs + excess * this.msPerUnit))
    return (waiting ?? this.#openKey(key, pausedUntilMs)).join(request, isAskedLater)
  }

  pause(key: string, untilMs: number): void {
    const waiting = this.#keys.get(key)
    // Waiters lose the slots that come in the pause when they come. Until then there is nothing to do.
    if (waiting !== undefined) waiting.pausedUntilMs = untilMs
  }

  rejectAll(error: () => Error): void {
    for (const key of [...this.#keys.values()]) key.rejectAll(error)
  }

  forget(key: StoreKey): void {
    // A new object for the same key may exist by now.
    if (this.#keys.get(key.key) === key) this.#keys.delete(key.key)
  }

  #openKey(key: string, pausedUntilMs: number): StoreKey {
    const opened = new StoreKey(key, this, pausedUntilMs)
    this.#keys.set(key, opened)
    return opened
  }
}

/**
 * The waiters of one key: a line for each cost, because slots of one cost are interchangeable.
 *
 * A caller usually asks for its slot when it comes. The store is asked later for callers that come in a pause, and for
 * waiters that have lost their slots. That happens in rounds, each one larger than the one before while the store allows,
 * and of one question after a denial. Otherwise all of them would ask each time that there is room for one.
 */
class StoreKey implements LineKey {
  readonly key: string
  readonly room: WaitingRoom<StoreWaiter, Turn>
  readonly storeSlots: StoreSlots
  pausedUntilMs: number
  readonly #queue: StoreQueue
  readonly #lines = new Map<number, StoreLine>()
  #fullUntilMs = -Infinity
  /** Questions of the current round that are not answered yet. */
  #underway = 0
  #roundSize = 1
  /** Waiters of all lines, as they came, that the store has not been asked for. Some may have left. */
  #unasked: StoreWaiter[] = []

  constructor(key: string, queue: StoreQueue, pausedUntilMs: number) {
    this.key = key
    this.room = queue.room
    this.storeSlots = queue.storeSlots
    this.pausedUntilMs = pausedUntilMs
    this.#queue = queue
  }

  /** The costs of all waiters. */
  get units(): number {
    return this.#sum(({ line }) => line.units)
  }

  /** Must the store be asked for other waiters before it is asked for a new one? */
  get hasUnasked(): boolean {
    return this.#unasked.length > 0
  }

  get nextRoundMs(): number {
    return this.#underway > 0 ? Infinity : Math.max(this.pausedUntilMs, this.#fullUntilMs)
  }

  join(request: TurnRequest, isAskedLater: boolean): Promise<Turn> {
    const line = this.#line(request.cost)
    return line.add(request, (waiter) => {
      if (!isAskedLater) {
        line.ask({ waiter })
        return
      }
      this.#unasked.push(waiter)
      if (this.#unasked.length > FEW + 2 * this.#sum((each) => each.line.size)) this.#forgetGone()
      line.schedule()
    })
  }

  rejectAll(error: () => Error): void {
    for (const owner of [...this.#lines.values()])
      for (let { first } = owner.line; first !== undefined; { first } = owner.line) owner.giveUp(first, error())
  }

  askForLacking(): void {
    if (this.#underway > 0) return
    while (this.#mayAsk()) {
      const round = this.#nextRound()
      if (round.length === 0) break
      this.#underway = round.length
      for (const line of round) {
        // The store may answer at once: then the queue may be full by now, or the line may have enough slots.
        if (line.lacking > 0 && this.#fullUntilMs <= this.room.clock.now()) line.ask(ROUND)
        else this.#underway--
      }
    }
    for (const line of this.#lines.values()) line.schedule()
  }

  endQuestion(isAllowed: boolean): void {
    this.#underway--
    this.#roundSize = isAllowed ? Math.min(LARGEST_ROUND, this.#roundSize + 1) : 1
  }

  noteFull(untilMs: number): void {
    this.#fullUntilMs = untilMs
  }

  /** The store keeps slots apart itself, unless it has failed or has lost its data: then the slot goes behind all others. */
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
    if (this.#lines.size === 0) this.#queue.forget(this)
  }

  #line(cost: number): StoreLine {
    let line = this.#lines.get(cost)
    if (line === undefined) {
      line = new StoreLine(this, { ...this.#queue.named, key: this.key, cost }, this.#queue.msPerUnit)
      this.#lines.set(cost, line)
    }
    return line
  }

  #mayAsk(): boolean {
    return this.nextRoundMs <= this.room.clock.now()
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

  #sum(number: (line: StoreLine) => number): number {
    let sum = 0
    for (const line of this.#lines.values()) sum += number(line)
    return sum
  }
}
