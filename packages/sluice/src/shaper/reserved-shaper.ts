import { systemClock } from '../clock.js'
import { StoreUnavailableError } from '../errors.js'
import type { LeakyBucket, Taken } from '../limits/index.js'
import type { Answer, Awaitable, Demand, OnFailure, Store } from '../stores/index.js'
import { Line, type Waiter } from './line.js'
import { queueFull } from './own-shaper.js'
import { Pauses } from './pauses.js'
import { CATCH_UP_MS, QueueShaper, tooLong } from './queue-shaper.js'
import type { Turn } from './shaper.js'
import { StoreTime } from './store-time.js'
import type { Call } from './turn-options.js'

/** A place in the shared schedule. */
interface Slot {
  /** By the clock of this process: never before it is time by the store's. */
  readonly dueMs: number
  /** By the store's. */
  readonly atMs: number
  readonly taken: Taken
}

/** Those of a key and cost who wait, and the slots that are reserved for them: whoever is first takes the first. */
class ReservedLine extends Line {
  readonly demand: Demand
  /** By when they are due. */
  readonly slots: Slot[] = []
  /** How many more are being asked for. */
  asked = 0

  constructor(id: string, demand: Demand, step: number, due: (line: Line, nowMs: number) => void) {
    super(id, step, due)
    this.demand = demand
  }

  /** How many wait for whom there will be no slot. */
  get lacking(): number {
    return this.size - this.slots.length - this.asked
  }

  addSlot(slot: Slot): void {
    let at = this.slots.length
    while (at > 0 && this.slots[at - 1].dueMs > slot.dueMs) at--
    this.slots.splice(at, 0, slot)
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
  readonly #pauses = new Pauses()
  readonly #storeTime = new StoreTime()

  constructor(name: string, limit: LeakyBucket, store: Store, onFailure: OnFailure | undefined) {
    super(name, store.clock ?? systemClock)
    this.#store = store
    this.#limit = limit
    this.#onFailure = onFailure
  }

  protected enter(call: Call): Turn | Promise<Turn> {
    const { capacity } = this.#limit
    const { key, cost } = call
    if (cost > capacity) throw queueFull(this.name, capacity, cost, Infinity)
    const pauseMs = this.#pauses.untilMs(key) - this.clock.now()
    const line = this.#lineOf(key, cost)
    // The store is asked when the pause is over: until then nobody else would say that the queue is full.
    if (pauseMs > 0 && line.waiting + cost > capacity)
      throw queueFull(this.name, capacity, cost, Math.max(1, Math.ceil(pauseMs)))
    return this.join(line, call, (waiter) => {
      if (pauseMs > 0) this.timetable.enter(line, this.#nextMs(line))
      else this.#ask(line, waiter, call.maxWaitMs)
    })
  }

  protected hold(key: string, untilMs: number): void {
    this.#pauses.add(key, untilMs, this.clock.now())
    for (const line of this.lines.values()) {
      if ((line as ReservedLine).demand.key === key) this.timetable.enter(line, this.#nextMs(line as ReservedLine))
    }
  }

  protected givenUp(line: Line): void {
    this.#giveBackSpare(line as ReservedLine)
  }

  protected longestWaitMs(line: Line): number {
    const [last] = (line as ReservedLine).slots.slice(-1)
    return last === undefined ? 0 : Math.max(0, last.dueMs - this.clock.now())
  }

  #lineOf(key: string, cost: number): ReservedLine {
    const id = `${cost}:${key}`
    let line = this.lines.get(id) as ReservedLine | undefined
    if (line === undefined) {
      const demand = { name: this.name, limit: this.#limit, key, cost, onFailure: this.#onFailure }
      line = new ReservedLine(id, demand, this.#limit.capacity, (due, nowMs) => this.#due(due as ReservedLine, nowMs))
      this.lines.set(id, line)
    }
    return line
  }

  /** Asks for a slot, which `waiter` is the one to be refused for if there is none. */
  #ask(line: ReservedLine, waiter: Waiter, maxWaitMs = Infinity): void {
    line.asked++
    const askedMs = this.clock.now()
    const answered = (answer: Answer) => this.#answered(line, waiter, { askedMs, maxWaitMs }, answer)
    const failed = (error: unknown) => {
      line.asked--
      this.#refuseOne(line, waiter, error)
    }
    let answer: Awaitable<Answer>
    try {
      answer = this.#store.decide([line.demand])
    } catch (error) {
      failed(error)
      return
    }
    if (answer instanceof Promise) answer.then(answered, failed)
    else answered(answer)
  }

  #answered(
    line: ReservedLine,
    waiter: Waiter,
    { askedMs, maxWaitMs }: { readonly askedMs: number; readonly maxWaitMs: number },
    { allowed, decisions, takenUs }: Answer,
  ): void {
    line.asked--
    const [{ delayMs, retryAfterMs, degraded }] = decisions
    const { cost } = line.demand
    if (!allowed) {
      const error =
        degraded === 'closed'
          ? new StoreUnavailableError(
              `the store of the shaper '${this.name}' does not answer, and nobody leaves without it`,
            )
          : queueFull(this.name, this.#limit.capacity, cost, retryAfterMs)
      this.#refuseOne(line, waiter, error)
      return
    }
    const nowMs = this.clock.now()
    const taken: Taken = { atUs: takenUs[0], cost, delayMs, degraded }
    const takenMs = degraded === 'open' ? nowMs : takenUs[0] / 1000
    // What was taken locally was taken by the clock of this process.
    const madeMs = degraded === undefined ? this.#storeTime.madeMs(takenMs, askedMs, nowMs) : takenMs
    // A slot that is over when it is heard of is not missed: else who is always held up would never leave.
    line.addSlot({ dueMs: Math.max(nowMs, madeMs + delayMs), atMs: takenMs + delayMs, taken })
    if (delayMs > maxWaitMs && waiter.place >= 0 && line.slots.length >= line.size)
      this.refuse(waiter, tooLong(maxWaitMs, delayMs))
    else this.#giveBackSpare(line)
    if (line.size > 0) this.#due(line, nowMs)
  }

  /** There is one slot too few: who asked for it goes, or the last one if that has left by another. */
  #refuseOne(line: ReservedLine, waiter: Waiter, error: unknown): void {
    if (line.lacking <= 0) this.#giveBackSpare(line)
    else this.refuse(waiter.place >= 0 ? waiter : (line.last as Waiter), error)
  }

  #due(line: ReservedLine, nowMs: number): void {
    const isPaused = this.#pauses.untilMs(line.demand.key) > nowMs
    for (let [slot] = line.slots; slot !== undefined && slot.dueMs <= nowMs; [slot] = line.slots) {
      line.slots.shift()
      // A slot that was missed is lost: in its place another one would leave too close to somebody elsewhere.
      if (isPaused || nowMs - slot.dueMs > CATCH_UP_MS) continue
      if (line.first !== undefined) this.release(line.first, { atMs: slot.atMs })
    }
    if (!isPaused) while (line.lacking > 0) this.#ask(line, line.first as Waiter)
    const nextMs = this.#nextMs(line)
    if (nextMs < Infinity) this.timetable.enter(line, nextMs)
    else this.#dropIfEmpty(line)
  }

  /** When something is to be done about a line: a slot is due, or a pause is over for somebody who has none. */
  #nextMs(line: ReservedLine): number {
    const slotMs = line.slots[0]?.dueMs ?? Infinity
    return line.lacking > 0 ? Math.min(slotMs, this.#pauses.untilMs(line.demand.key)) : slotMs
  }

  #giveBackSpare(line: ReservedLine): void {
    while (line.slots.length > line.size) {
      const slot = line.slots.pop() as Slot
      ignoreFailure(() => this.#store.giveBack(line.demand, slot.taken))
    }
    if (line.size === 0) this.timetable.strike(line)
    this.#dropIfEmpty(line)
  }

  #dropIfEmpty(line: ReservedLine): void {
    if (line.size === 0 && line.asked === 0 && line.slots.length === 0) this.lines.delete(line.key)
  }
}

/** A slot that cannot be given back passes unused, which harms nobody. */
async function ignoreFailure(run: () => Awaitable<unknown>): Promise<void> {
  try {
    await run()
  } catch {}
}
