import { systemClock } from '../clock.js'
import { invalidType, StoreUnavailableError } from '../errors.js'
import type { LeakyBucket, Taken } from '../limits/index.js'
import { isPromiseLike } from '../stores/awaitable.js'
import type { Answer, Awaitable, Demand, OnFailure, Store } from '../stores/index.js'
import { Line, type Waiter } from './line.js'
import { PausedLines } from './paused-lines.js'
import { CATCH_UP_MS, QueueShaper } from './queue-shaper.js'
import { queueFull, tooLong } from './refusals.js'
import type { Turn } from './shaper.js'
import { type Slot, Slots } from './slots.js'
import { StoreTime } from './store-time.js'
import type { Call } from './turn-options.js'

/** Where all slots have been missed for so long, one may leave by a slot that has passed. */
const STUCK_MS = 1000

/** Those of a key and cost who wait, and the slots that are reserved for them: whoever is first takes the first. */
class ReservedLine extends Line {
  readonly demand: Demand
  /** How long a slot is. */
  readonly slotMs: number
  readonly slots = new Slots()
  /** How many more are being asked for. */
  asked = 0
  /** Since when every slot has been missed. */
  missingSinceMs = Infinity
  /** Before then the store has no slot for those who have lost theirs. */
  fullUntilMs = -Infinity

  constructor(id: string, demand: Demand, slotMs: number, due: (line: Line, nowMs: number) => void) {
    super(id, (demand.limit as LeakyBucket).capacity, due)
    this.demand = demand
    this.slotMs = slotMs
  }

  /** For how long a slot is kept: until the next one begins, or a process whose alarms are always late would ask for ever. */
  get keptMs(): number {
    return Math.max(CATCH_UP_MS, this.slotMs)
  }

  /**
   * A slot that is missed is lost: who would leave by it would be too close to somebody elsewhere. Not where all have been
   * missed for a long time: else a process that is always held up would never let anybody go.
   */
  hasMissed({ dueMs }: Slot, nowMs: number): boolean {
    if (nowMs - dueMs > this.keptMs) {
      this.missingSinceMs = Math.min(this.missingSinceMs, nowMs)
      if (nowMs - this.missingSinceMs < STUCK_MS) return true
    }
    this.missingSinceMs = Infinity
    return false
  }

  /** How many wait for whom there will be no slot. */
  get lacking(): number {
    return this.size - this.slots.length - this.asked
  }
}

/**
 * A shaper of many processes: slots are reserved in a bucket that they share, so that all of them together leave at the
 * rate. What is reserved by a process that dies passes unused, and nothing else does. Who waits here is put in order here:
 * the first takes the first slot, and where somebody gives up it is the last one that is given back, if nobody elsewhere
 * has one behind it.
 */
export class ReservedShaper extends QueueShaper {
  readonly #store: Store
  readonly #limit: LeakyBucket
  readonly #onFailure: OnFailure | undefined
  readonly #unitMs: number
  readonly #storeTime = new StoreTime()
  readonly #pausedLines = new PausedLines<ReservedLine>()

  constructor(name: string, limit: LeakyBucket, store: Store, onFailure: OnFailure | undefined) {
    super(name, limit, store.clock ?? systemClock)
    this.#store = store
    this.#limit = limit
    this.#unitMs = this.usPerUnit / 1000
    this.#onFailure = onFailure
  }

  protected enter(call: Call): Promise<Turn> {
    const { capacity } = this
    const { key, cost, maxWaitMs } = call
    if (cost > capacity) throw queueFull(this.name, capacity, cost, Infinity)
    const pauseMs = this.pauses.untilMs(key) - this.clock.now()
    if (pauseMs > maxWaitMs) throw tooLong(maxWaitMs, pauseMs)
    const line = this.#lineOf(key, cost)
    // The store is asked when the pause is over: until then nobody else would say that the queue is full.
    const excess = pauseMs > 0 ? this.#pausedLines.waiting(key, line) + cost - capacity : 0
    if (excess > 0) {
      this.#dropIfEmpty(line)
      throw queueFull(this.name, capacity, cost, Math.ceil(pauseMs + excess * this.#unitMs))
    }
    return this.join(line, call, (waiter) => {
      if (pauseMs > 0) {
        this.#pausedLines.joined(key, line, waiter)
        this.#enterNext(line)
      } else this.#ask(line, waiter, maxWaitMs)
    })
  }

  protected paused(): void {
    // Nothing is to be done about those who wait before a slot of theirs is due, or an earlier pause is over.
  }

  protected givenUp(line: Line): void {
    this.#giveBackSpare(line as ReservedLine)
  }

  protected longestWaitMs({ line }: Waiter): number {
    const { slots, demand } = line as ReservedLine
    return Math.max(slots.last?.dueMs ?? 0, this.pauses.untilMs(demand.key)) - this.clock.now()
  }

  #lineOf(key: string, cost: number): ReservedLine {
    const id = `${cost}:${key}`
    let line = this.lines.get(id) as ReservedLine | undefined
    if (line === undefined) {
      const demand = { name: this.name, limit: this.#limit, key, cost, onFailure: this.#onFailure }
      const slotMs = cost * this.#unitMs
      line = new ReservedLine(id, demand, slotMs, (due, nowMs) => this.#due(due as ReservedLine, nowMs))
      this.lines.set(id, line)
    }
    return line
  }

  /** Asks for a slot; if there is none, `waiter` is refused, or else the last one. */
  #ask(line: ReservedLine, waiter?: Waiter, maxWaitMs = Infinity): void {
    line.asked++
    const askedMs = this.clock.now()
    const answered = (answer: Answer, isLater: boolean) =>
      this.#answered(line, waiter, { askedMs, maxWaitMs, isLater }, checkAnswer(answer))
    const failed = (error: unknown) => {
      line.asked--
      this.#refuseOne(line, waiter, error)
    }
    let answer: Awaitable<Answer>
    try {
      answer = this.#store.decide([line.demand])
      if (!isPromiseLike(answer)) checkAnswer(answer)
    } catch (error) {
      failed(error)
      return
    }
    if (isPromiseLike(answer))
      Promise.resolve(answer)
        .then(checkAnswer)
        .then((given) => answered(given, true), failed)
    else answered(answer, false)
  }

  #answered(
    line: ReservedLine,
    waiter: Waiter | undefined,
    { askedMs, maxWaitMs, isLater }: Question,
    { allowed, decisions, takenUs }: Answer,
  ): void {
    line.asked--
    const [{ delayMs, retryAfterMs, degraded }] = decisions
    const { cost } = line.demand
    const nowMs = this.clock.now()
    if (!allowed && degraded === 'closed') {
      const message = `the store of the shaper '${this.name}' does not answer, and nobody leaves without it`
      this.#refuseOne(line, waiter, new StoreUnavailableError(message))
      return
    }
    if (!allowed && waiter !== undefined && waiter.place >= 0) {
      this.#refuseOne(line, waiter, queueFull(this.name, this.capacity, cost, retryAfterMs))
      return
    }
    if (!allowed) {
      // Whoever it was asked for was in the queue already, and has lost its slot: it stays there.
      line.fullUntilMs = nowMs + retryAfterMs
      this.#giveBackSpare(line)
      this.#enterNext(line)
      return
    }
    const taken: Taken = { atUs: takenUs[0], cost, delayMs, degraded }
    const takenMs = degraded === 'open' ? nowMs : takenUs[0] / 1000
    // What was taken locally was taken by the clock of this process.
    const madeMs = degraded === undefined ? this.#storeTime.madeMs(takenMs, askedMs, nowMs) : takenMs
    line.slots.add({ dueMs: this.#dueMs(line, madeMs + delayMs, degraded), atMs: takenMs + delayMs, taken })
    const waitMs = waiter === undefined || delayMs <= maxWaitMs ? 0 : this.#waitMs(line, waiter, nowMs)
    if (waiter !== undefined && waitMs > maxWaitMs) this.refuse(waiter, tooLong(maxWaitMs, waitMs))
    else this.#giveBackSpare(line)
    // What a caller is given while it goes on calling begins only when it ends: then it would be a crowd.
    if (isLater || line.size === 1) this.#letGo(line, nowMs)
    this.#enterNext(line)
  }

  /**
   * When a slot is due here: never closer to those that are held than it would be if they were of the same schedule. They are
   * not where the store has failed, or has forgotten what it had given.
   */
  #dueMs({ slots, slotMs }: ReservedLine, dueMs: number, degraded: Taken['degraded']): number {
    return degraded === 'open' || slots.last === undefined ? dueMs : Math.max(dueMs, slots.last.dueMs + slotMs)
  }

  /** How long somebody would have to wait, as far as is known: who has a priority takes the slot of somebody else. */
  #waitMs(line: ReservedLine, waiter: Waiter, nowMs: number): number {
    if (waiter.place < 0) return 0
    const before = line.countBefore(waiter)
    return before < line.slots.length ? line.slots.at(before).dueMs - nowMs : 0
  }

  /** There is one slot too few: who asked for it goes, or the last one if that has left by another. */
  #refuseOne(line: ReservedLine, waiter: Waiter | undefined, error: unknown): void {
    if (line.lacking <= 0) this.#giveBackSpare(line)
    else this.refuse(waiter !== undefined && waiter.place >= 0 ? waiter : (line.last as Waiter), error)
  }

  #due(line: ReservedLine, nowMs: number): void {
    this.#letGo(line, nowMs)
    if (!this.#isPaused(line, nowMs)) {
      this.#askForPaused(line.demand.key, nowMs)
      this.#askForLacking(line, nowMs, 0)
    }
    this.#enterNext(line)
  }

  /** After a pause: first for those who were there before it, and have lost their slots, then for the others as they came. */
  #askForPaused(key: string, nowMs: number): void {
    const order = this.#pausedLines.take(key)
    const arrivals = new Map<ReservedLine, number>()
    for (const line of order) arrivals.set(line, (arrivals.get(line) ?? 0) + 1)
    for (const [line, count] of arrivals) this.#askForLacking(line, nowMs, count)
    for (const line of order) if (line.lacking > 0 && line.fullUntilMs <= nowMs) this.#ask(line)
  }

  /** Asks until no more than so many lack a slot. */
  #askForLacking(line: ReservedLine, nowMs: number, most: number): void {
    while (line.lacking > most && line.fullUntilMs <= nowMs) this.#ask(line)
  }

  #letGo(line: ReservedLine, nowMs: number): void {
    const isPaused = this.#isPaused(line, nowMs)
    const { slots } = line
    for (let slot = slots.first; slot !== undefined && slot.dueMs <= nowMs; slot = slots.first) {
      slots.removeFirst()
      if (isPaused || line.first === undefined || line.hasMissed(slot, nowMs)) continue
      this.release(line.first, turnOf(slot))
    }
  }

  #isPaused(line: ReservedLine, nowMs: number): boolean {
    return this.pauses.untilMs(line.demand.key) > nowMs
  }

  #enterNext(line: ReservedLine): void {
    const nextMs = this.#nextMs(line)
    if (nextMs < Infinity) this.agenda.set(line, nextMs)
    else this.#dropIfEmpty(line)
  }

  /** When something is to be done about a line: a slot is due, or somebody has none and may ask, after a pause. */
  #nextMs(line: ReservedLine): number {
    const slotMs = line.slots.first?.dueMs ?? Infinity
    if (line.lacking <= 0) return slotMs
    return Math.min(slotMs, Math.max(this.clock.now(), this.pauses.untilMs(line.demand.key), line.fullUntilMs))
  }

  #giveBackSpare(line: ReservedLine): void {
    // Those that are being asked for are behind these: not before they are known can any be given back.
    while (line.asked === 0 && line.slots.length > line.size) {
      const { taken } = line.slots.removeLast()
      ignoreFailure(() => this.#store.giveBack(line.demand, taken))
    }
    this.#dropIfEmpty(line)
  }

  #dropIfEmpty(line: ReservedLine): void {
    if (line.size > 0) return
    this.agenda.drop(line)
    this.#pausedLines.dropped(line.demand.key, line)
    // Another one may have taken its place since it was dropped.
    if (line.asked === 0 && this.lines.get(line.key) === line) this.lines.delete(line.key)
  }
}

/** What was asked: when, for how long somebody waits at most, and whether it is answered later. */
interface Question {
  readonly askedMs: number
  readonly maxWaitMs: number
  readonly isLater: boolean
}

/** Nobody knows what a store of somebody else's says; whoever waits is to be told of it, and not the process. */
function checkAnswer(answer: Answer): Answer {
  const { decisions, takenUs } = (answer ?? {}) as Partial<Answer>
  if (typeof decisions?.[0]?.delayMs === 'number' && typeof takenUs?.[0] === 'number') return answer
  throw invalidType('the answer of the store', 'decisions and takenUs, one for each demand', answer)
}

function turnOf({ atMs, taken: { degraded } }: Slot): Turn {
  return degraded === 'open' || degraded === 'local' ? { atMs, degraded } : { atMs }
}

/** A slot that cannot be given back passes unused, which harms nobody. */
async function ignoreFailure(run: () => Awaitable<unknown>): Promise<void> {
  try {
    await run()
  } catch {}
}
