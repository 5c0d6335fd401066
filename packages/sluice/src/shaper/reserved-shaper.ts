import { systemClock } from '../clock.js'
import { StoreUnavailableError } from '../errors.js'
import type { LeakyBucket, Taken } from '../limits/index.js'
import { isPromiseLike } from '../stores/awaitable.js'
import type { Answer, Awaitable, OnFailure, Store } from '../stores/index.js'
import type { Line, Waiter } from './line.js'
import { QueueShaper } from './queue-shaper.js'
import { queueFull, tooLong } from './refusals.js'
import { ReservedKey, ReservedLine } from './reserved-lines.js'
import type { Turn } from './shaper.js'
import type { Slot } from './slots.js'
import { StoreTime } from './store-time.js'
import type { Call } from './turn-options.js'

/** If it becomes known by so much better how far the clocks are apart, slots that are held are put right. */
const MUCH_BETTER_MS = 5

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
  readonly #keys = new Map<string, ReservedKey>()
  #questions = 0
  /** Answers of which it is not known when they were made, until another one has come. */
  #doubtful: Answered[] = []

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
    const pauseMs = Math.max(0, this.pauses.untilMs(key) - this.clock.now())
    if (pauseMs > maxWaitMs) throw tooLong(maxWaitMs, pauseMs)
    const of = this.#keys.get(key)
    // The store is asked later: until then nobody else would say that the queue is full.
    const isAskedLater = pauseMs > 0 || of?.hasArrivals === true
    const excess = isAskedLater && cost > 0 ? (of?.waiting ?? 0) + cost - capacity : 0
    if (excess > 0) throw queueFull(this.name, capacity, cost, Math.ceil(pauseMs + excess * this.#unitMs))
    const line = this.#lineOf(key, cost)
    return this.join(line, call, (waiter) => {
      if (isAskedLater) {
        line.of.arrived(waiter)
        this.#enterNext(line)
      } else this.#ask(line, { waiter, maxWaitMs })
    })
  }

  protected paused(): void {
    // Nothing is to be done about those who wait before a slot of theirs is due, or an earlier pause is over.
  }

  protected givenUp(line: Line): void {
    this.#refundSpare(line as ReservedLine)
  }

  protected longestWaitMs({ line }: Waiter): number {
    const { slots, demand } = line as ReservedLine
    return Math.max(slots.last?.dueMs ?? 0, this.pauses.untilMs(demand.key)) - this.clock.now()
  }

  #lineOf(key: string, cost: number): ReservedLine {
    const of = this.#keys.get(key) ?? new ReservedKey()
    let line = of.lines.get(cost)
    if (line === undefined) {
      const id = `${cost}:${key}`
      const demand = { name: this.name, limit: this.#limit, key, cost, onFailure: this.#onFailure }
      line = new ReservedLine(id, of, demand, cost * this.#unitMs, (due, nowMs) => this.#due(due, nowMs))
      this.#keys.set(key, of)
      of.lines.set(cost, line)
      this.lines.set(id, line)
    }
    return line
  }

  #ask(line: ReservedLine, question: Question): void {
    line.asked++
    const askedMs = this.clock.now()
    const order = this.#questions++
    let answer: Awaitable<Answer>
    try {
      answer = this.#store.decide([line.demand])
    } catch (error) {
      this.#failed(line, question, error)
      return
    }
    if (isPromiseLike(answer))
      Promise.resolve(answer)
        .then(
          (given) => this.#answeredLater({ line, question, order, answer: given }, askedMs),
          (error) => this.#failed(line, question, error),
        )
        .then(() => this.#due(line, this.clock.now()))
    else {
      this.#answered({ line, question, order, answer, madeMs: askedMs })
      // What a caller is given while it goes on calling begins only when it ends: then it would be a crowd.
      if (line.size === 1 && this.mayLeaveAtOnce(askedMs)) this.#letGo(line, askedMs)
      this.#enterNext(line)
    }
  }

  /** An answer whose time is in doubt is put off until it is known better: slots of it may have passed long ago. */
  #answeredLater(answered: Answered, askedMs: number): void {
    const { line, answer } = answered
    if (answer.allowed && answer.decisions[0].degraded === undefined && this.#isInDoubt(answer, askedMs)) {
      this.#doubtful.push(answered)
      if (this.#doubtful.length === 1) void this.#askTheTime(line, answer.takenUs[0])
    } else this.#answered(answered)
  }

  /** Asks for nothing, only to know how far the clocks are apart. */
  async #askTheTime({ demand }: ReservedLine, sinceUs: number): Promise<void> {
    const askedMs = this.clock.now()
    try {
      const answer = await this.#store.decide([{ ...demand, cost: 0 }])
      const [{ degraded }] = answer.decisions
      // No store that knows the time says that it is earlier now.
      if (degraded === undefined && answer.takenUs[0] >= sinceUs) this.#isInDoubt(answer, askedMs)
    } catch {
      // Whoever is asked for next is told of it.
    }
    this.#endDoubt()
  }

  #isInDoubt({ takenUs }: Answer, askedMs: number): boolean {
    const beforeMs = this.#storeTime.latestMs(0)
    const isInDoubt = this.#storeTime.isInDoubt(takenUs[0] / 1000, askedMs, this.clock.now())
    const distanceMs = this.#storeTime.latestMs(0)
    if (beforeMs - distanceMs > MUCH_BETTER_MS && beforeMs < Infinity) {
      for (const { lines } of this.#keys.values()) {
        if (![...lines.values()].every(({ slots }) => slots.areAsGiven)) continue
        for (const line of lines.values()) {
          line.slots.comeForward(distanceMs)
          this.#enterNext(line)
        }
      }
    }
    return isInDoubt
  }

  #endDoubt(): void {
    const doubtful = this.#doubtful
    this.#doubtful = []
    for (const answered of doubtful) this.#answered(answered)
    for (const line of new Set(doubtful.map((answered) => answered.line))) this.#due(line, this.clock.now())
  }

  #answered({ line, question, order, answer: { allowed, decisions, takenUs }, madeMs }: Answered): void {
    const { waiter, maxWaitMs, isOfRound } = question
    line.asked--
    if (isOfRound) line.of.answered(allowed)
    const [{ delayMs, retryAfterMs, degraded }] = decisions
    const { cost } = line.demand
    const nowMs = this.clock.now()
    if (!allowed && degraded === 'closed') {
      const message = `the store of the shaper '${this.name}' does not answer, and nobody leaves without it`
      this.#refuseOne(line, question, new StoreUnavailableError(message))
      return
    }
    if (!allowed && waiter !== undefined && waiter.place >= 0) {
      this.#refuseOne(line, question, queueFull(this.name, this.capacity, cost, retryAfterMs))
      return
    }
    if (!allowed) {
      // Whoever it was asked for was in the queue already, and has lost its slot: it stays there.
      if (isOfRound) line.of.fullUntilMs = nowMs + retryAfterMs
      this.#refundSpare(line)
      return
    }
    const taken: Taken = { atUs: takenUs[0], cost, delayMs, degraded }
    const takenMs = degraded === 'open' ? nowMs : takenUs[0] / 1000
    // What was taken locally was taken by the clock of this process.
    const latestMs = degraded === undefined ? (madeMs ?? this.#storeTime.latestMs(takenMs)) : takenMs
    const isAsGiven = degraded === undefined
    const slot = { dueMs: latestMs + delayMs, atMs: takenMs + delayMs, order, isAsGiven, taken }
    line.slots.add(degraded === 'open' ? slot : line.of.placed(slot, line))
    const waitMs = waiter === undefined || delayMs <= maxWaitMs ? 0 : this.#waitMs(line, waiter, nowMs)
    if (waiter !== undefined && waitMs > maxWaitMs) this.refuse(waiter, tooLong(maxWaitMs, waitMs))
    else this.#refundSpare(line)
  }

  #failed(line: ReservedLine, question: Question, error: unknown): void {
    line.asked--
    if (question.isOfRound) line.of.answered(false)
    this.#refuseOne(line, question, error)
  }

  /** How long somebody would have to wait, as far as is known: who has a priority takes the slot of somebody else. */
  #waitMs(line: ReservedLine, waiter: Waiter, nowMs: number): number {
    if (waiter.place < 0) return 0
    const before = line.countBefore(waiter)
    return before < line.slots.length ? line.slots.at(before).dueMs - nowMs : 0
  }

  /**
   * Whom the store was asked for goes, unless somebody else has left a slot. If that one has left by another, the store is yet
   * to be asked for whoever has none.
   */
  #refuseOne(line: ReservedLine, { waiter, isOfRound }: Question, error: unknown): void {
    const refused = isOfRound ? line.last : waiter
    if (line.lacking > 0 && refused !== undefined && refused.place >= 0) this.refuse(refused, error)
    else this.#refundSpare(line)
  }

  #due(line: ReservedLine, nowMs: number): void {
    this.#letGo(line, nowMs)
    this.#askForLacking(line.of, line.demand.key)
    this.#enterNext(line)
  }

  /** Asks for those who have no slot, unless some of them are being asked for. */
  #askForLacking(of: ReservedKey, key: string): void {
    if (of.underway > 0) return
    while (of.underway === 0 && this.#mayAsk(of, key)) {
      const round = of.nextRound()
      if (round.length === 0) break
      for (const line of round) {
        if (line.lacking > 0 && this.#mayAsk(of, key)) this.#ask(line, OF_ROUND)
        else of.underway--
      }
    }
    for (const line of of.lines.values()) this.#enterNext(line)
  }

  #mayAsk(of: ReservedKey, key: string): boolean {
    return Math.max(of.fullUntilMs, this.pauses.untilMs(key)) <= this.clock.now()
  }

  #letGo(line: ReservedLine, nowMs: number): void {
    const isPaused = this.pauses.untilMs(line.demand.key) > nowMs
    const { slots } = line
    for (let slot = slots.first; slot !== undefined && slot.dueMs <= nowMs; slot = slots.first) {
      slots.removeFirst()
      if (isPaused || line.first === undefined || line.hasMissed(slot, nowMs)) continue
      this.release(line.first, turnOf(slot))
    }
  }

  #enterNext(line: ReservedLine): void {
    const nextMs = this.#nextMs(line)
    if (nextMs < Infinity) this.agenda.set(line, nextMs)
    else this.#dropIfEmpty(line)
  }

  /** When something is to be done about a line: a slot is due, or somebody has none and may ask, after a pause. */
  #nextMs(line: ReservedLine): number {
    const slotMs = line.slots.first?.dueMs ?? Infinity
    const { of, lacking, demand } = line
    if (lacking <= 0 || of.underway > 0) return slotMs
    return Math.min(slotMs, Math.max(this.clock.now(), this.pauses.untilMs(demand.key), of.fullUntilMs))
  }

  #refundSpare(line: ReservedLine): void {
    // Those that are being asked for are behind these: not before they are known can any be given back.
    while (line.asked === 0 && line.slots.length > line.size) {
      const { taken } = line.slots.removeLast()
      ignoreFailure(() => this.#store.refund(line.demand, taken))
    }
    this.#dropIfEmpty(line)
  }

  #dropIfEmpty(line: ReservedLine): void {
    if (line.size > 0) return
    this.agenda.drop(line)
    const { of, demand } = line
    // Another one may have taken its place since it was dropped.
    if (line.asked > 0 || of.lines.get(demand.cost) !== line) return
    this.lines.delete(line.key)
    of.lines.delete(demand.cost)
    if (of.lines.size === 0 && this.#keys.get(demand.key) === of) this.#keys.delete(demand.key)
  }
}

/** Whom the store is asked for, if that is known, and how long that one waits at most. */
interface Question {
  readonly waiter?: Waiter
  readonly maxWaitMs: number
  readonly isOfRound?: boolean
}

/** What a question came to. */
interface Answered {
  readonly line: ReservedLine
  readonly question: Question
  /** The how-manieth question it was. */
  readonly order: number
  readonly answer: Answer
  /** When it was, if it came at once. */
  readonly madeMs?: number
}

const OF_ROUND: Question = { maxWaitMs: Infinity, isOfRound: true }

function turnOf({ atMs, taken: { degraded } }: Slot): Turn {
  return degraded === 'open' || degraded === 'local' ? { atMs, degraded } : { atMs }
}

/** A slot that cannot be given back passes unused, which harms nobody. */
async function ignoreFailure(run: () => Awaitable<unknown>): Promise<void> {
  try {
    await run()
  } catch {}
}
