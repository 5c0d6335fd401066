import { systemClock } from '../clock.js'
import { StoreUnavailableError } from '../errors.js'
import { type LeakyBucket, parseRate, type Taken } from '../limits/index.js'
import type { Answer, Awaitable, Demand, OnFailure, Store } from '../stores/index.js'
import { Line, type Waiter } from './line.js'
import { queueFull } from './own-shaper.js'
import { Pauses } from './pauses.js'
import { CATCH_UP_MS, QueueShaper, tooLong } from './queue-shaper.js'
import type { Turn } from './shaper.js'
import { Slots } from './slots.js'
import { StoreTime } from './store-time.js'
import type { Call } from './turn-options.js'

/** Those of a key and cost who wait, and the slots that are reserved for them: whoever is first takes the first. */
class ReservedLine extends Line {
  readonly demand: Demand
  /** How long a slot is. */
  readonly slotMs: number
  readonly slots = new Slots()
  /** How many more are being asked for. */
  asked = 0

  constructor(id: string, demand: Demand, slotMs: number, due: (line: Line, nowMs: number) => void) {
    super(id, (demand.limit as LeakyBucket).capacity, due)
    this.demand = demand
    this.slotMs = slotMs
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
  readonly #pauses = new Pauses()
  readonly #unitMs: number
  readonly #storeTime = new StoreTime()

  constructor(name: string, limit: LeakyBucket, store: Store, onFailure: OnFailure | undefined) {
    super(name, store.clock ?? systemClock)
    this.#store = store
    this.#limit = limit
    const { units, perUs } = parseRate('drain', limit.drain)
    this.#unitMs = Number(perUs) / Number(units) / 1000
    this.#onFailure = onFailure
  }

  protected enter(call: Call): Promise<Turn> {
    const { capacity } = this.#limit
    const { key, cost } = call
    if (cost > capacity) throw queueFull(this.name, capacity, cost, Infinity)
    const pauseMs = this.#pauses.untilMs(key) - this.clock.now()
    const line = this.#lineOf(key, cost)
    // The store is asked when the pause is over: until then nobody else would say that the queue is full.
    if (pauseMs > 0 && line.waiting + cost > capacity)
      throw queueFull(this.name, capacity, cost, Math.max(1, Math.ceil(pauseMs)))
    return this.join(line, call, (waiter) => {
      if (pauseMs > 0) this.#enterNext(line)
      else this.#ask(line, waiter, call.maxWaitMs)
    })
  }

  protected hold(key: string, untilMs: number): void {
    // Nothing is to be done about those who wait before a slot of theirs is due, or an earlier pause is over.
    this.#pauses.add(key, untilMs, this.clock.now())
  }

  protected givenUp(line: Line): void {
    this.#giveBackSpare(line as ReservedLine)
  }

  protected longestWaitMs(line: Line): number {
    const { last } = (line as ReservedLine).slots
    return last === undefined ? 0 : Math.max(0, last.dueMs - this.clock.now())
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
    waiter: Waiter | undefined,
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
    line.slots.add({ dueMs: Math.max(nowMs, madeMs + delayMs), atMs: takenMs + delayMs, taken })
    const waitMs = waiter === undefined || delayMs <= maxWaitMs ? 0 : this.#waitMs(line, waiter, nowMs)
    if (waiter !== undefined && waitMs > maxWaitMs) this.refuse(waiter, tooLong(maxWaitMs, waitMs))
    else this.#giveBackSpare(line)
    this.#letGo(line, nowMs)
    this.#enterNext(line)
  }

  /** How long somebody would have to wait, as far as is known: who has a priority takes the slot of somebody else. */
  #waitMs(line: ReservedLine, waiter: Waiter, nowMs: number): number {
    if (waiter.place < 0 || line.slots.length < line.size) return 0
    return line.slots.at(line.countBefore(waiter)).dueMs - nowMs
  }

  /** There is one slot too few: who asked for it goes, or the last one if that has left by another. */
  #refuseOne(line: ReservedLine, waiter: Waiter | undefined, error: unknown): void {
    if (line.lacking <= 0) this.#giveBackSpare(line)
    else this.refuse(waiter !== undefined && waiter.place >= 0 ? waiter : (line.last as Waiter), error)
  }

  #due(line: ReservedLine, nowMs: number): void {
    this.#letGo(line, nowMs)
    if (!this.#isPaused(line, nowMs)) while (line.lacking > 0) this.#ask(line)
    this.#enterNext(line)
  }

  #letGo(line: ReservedLine, nowMs: number): void {
    const isPaused = this.#isPaused(line, nowMs)
    const { slots } = line
    for (let slot = slots.first; slot !== undefined && slot.dueMs <= nowMs; slot = slots.first) {
      slots.removeFirst()
      // A slot that was missed is lost: in its place another one would leave too close to somebody elsewhere. It is not missed
      // before the next one begins, or a process whose alarms are always late would ask for ever.
      if (isPaused || nowMs - slot.dueMs > Math.max(CATCH_UP_MS, line.slotMs)) continue
      if (line.first !== undefined) this.release(line.first, { atMs: slot.atMs })
    }
  }

  #isPaused(line: ReservedLine, nowMs: number): boolean {
    return this.#pauses.untilMs(line.demand.key) > nowMs
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
    return Math.min(slotMs, Math.max(this.clock.now(), this.#pauses.untilMs(line.demand.key)))
  }

  #giveBackSpare(line: ReservedLine): void {
    while (line.slots.length > line.size) {
      const { taken } = line.slots.removeLast()
      ignoreFailure(() => this.#store.giveBack(line.demand, taken))
    }
    this.#dropIfEmpty(line)
  }

  #dropIfEmpty(line: ReservedLine): void {
    if (line.size > 0) return
    this.agenda.drop(line)
    // Another one may have taken its place since it was dropped.
    if (line.asked === 0 && this.lines.get(line.key) === line) this.lines.delete(line.key)
  }
}

/** A slot that cannot be given back passes unused, which harms nobody. */
async function ignoreFailure(run: () => Awaitable<unknown>): Promise<void> {
  try {
    await run()
  } catch {}
}
