import { checkOptions } from '../checks/check-options.js'
import { checkKey } from '../checks/check-value.js'
import { type Clock, setExactAlarm } from '../clock.js'
import { ClosedError, type InvalidTypeError, invalidType, invalidValue } from '../errors.js'
import { type LeakyBucket, parseRate } from '../limits/index.js'
import { isPromiseLike } from '../stores/awaitable.js'
import { Agenda } from '../waiting/agenda.js'
import { Signals } from '../waiting/signals.js'
import type { Due, Line, Waiter } from './line.js'
import { Pauses } from './pauses.js'
import { tooLong } from './refusals.js'
import type { CloseOptions, Shaper, Turn, TurnOptions } from './shaper.js'
import { type Call, checkTurnOptions, NO_KEY } from './turn-options.js'

/**
 * Timers are late, and what is late by no more than this is caught up with, so that the rate is kept. More than this is
 * lost: a process that was held up does not let a crowd go at once.
 */
export const CATCH_UP_MS = 20

/** What shapers have in common: who waits, what runs, and how both end. Where slots come from is another matter. */
export abstract class QueueShaper implements Shaper {
  readonly name: string
  protected readonly clock: Clock
  protected readonly agenda: Agenda<Due>
  protected readonly lines = new Map<string, Line>()
  protected readonly pauses = new Pauses()
  protected readonly capacity: number
  protected readonly usPerUnit: number
  readonly #signals = new Signals<() => void>((aborted) => aborted())
  #size = 0
  #pending = 0
  #isClosed = false
  #onIdle: (() => void)[] = []
  /** When somebody left at once first, since others could run. */
  #atOnceMs: number | undefined

  constructor(name: string, { capacity, drain }: LeakyBucket, clock: Clock) {
    const { units, perUs } = parseRate('drain', drain)
    this.name = name
    this.clock = clock
    this.capacity = capacity
    this.usPerUnit = Number(perUs) / Number(units)
    this.agenda = new Agenda(clock, setExactAlarm, (entry, nowMs) => entry.due(nowMs))
  }

  get size(): number {
    return this.#size
  }

  get pending(): number {
    return this.#pending
  }

  run<Result>(work: () => Result | PromiseLike<Result>, options?: TurnOptions): Promise<Awaited<Result>> {
    if (typeof work !== 'function') return Promise.reject(notWork(work))
    const turn = this.#enter(options, true)
    // What is chained to a promise runs in the context of whoever chained it.
    if (typeof turn !== 'number') return turn.then(() => this.#perform(work))
    this.#pending++
    return this.#perform(work)
  }

  wrap<This, Args extends unknown[], Result>(
    work: (this: This, ...args: Args) => Result | PromiseLike<Result>,
    options?: TurnOptions | ((...args: Args) => TurnOptions),
  ): (this: This, ...args: Args) => Promise<Awaited<Result>> {
    if (typeof work !== 'function') throw notWork(work)
    if (typeof options !== 'function') checkTurnOptions(options, true)
    const run = (turn: () => Result | PromiseLike<Result>, args: Args) =>
      this.run(turn, typeof options === 'function' ? options(...args) : options)
    return async function (this: This, ...args) {
      return run(() => work.apply(this, args), args)
    } as (this: This, ...args: Args) => Promise<Awaited<Result>>
  }

  async wait(options?: TurnOptions): Promise<Turn> {
    const turn = this.#enter(options, false)
    return typeof turn === 'number' ? { atMs: turn } : turn
  }

  pause(durationMs: number, options?: { readonly key?: string }): void {
    if (typeof durationMs !== 'number') throw invalidType('durationMs', 'a number of milliseconds', durationMs)
    if (!(durationMs >= 0 && durationMs < Infinity))
      throw invalidValue('durationMs', 'a number of milliseconds from 0', durationMs)
    const { key = NO_KEY } = options === undefined ? {} : checkOptions('options', options, ['key'])
    checkKey(key)
    const nowMs = this.clock.now()
    this.pauses.add(key, nowMs + durationMs, nowMs)
    this.paused(key, nowMs + durationMs)
  }

  onIdle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve()
    return new Promise((resolve) => this.#onIdle.push(resolve))
  }

  async close(options: CloseOptions = {}): Promise<void> {
    const { waiting = 'leave' } = checkOptions('options', options, ['waiting'])
    if (waiting !== 'leave' && waiting !== 'reject') throw invalidValue('waiting', "'leave' or 'reject'", waiting)
    this.#isClosed = true
    if (waiting === 'reject') {
      for (const line of [...this.lines.values()])
        for (let { first } = line; first !== undefined; first = line.first) this.refuse(first, this.#closedError())
    }
    return this.onIdle()
  }

  /** Lets somebody go at once, and says when that is, or wait in a line; whoever cannot wait is an error. */
  protected abstract enter(call: Call): number | Promise<Turn>

  /** Nobody of a key leaves before then, who waits already or who comes. */
  protected abstract paused(key: string, untilMs: number): void

  /** Somebody has gone from a line without leaving by it. */
  protected abstract givenUp(line: Line): void

  /** How long a waiter would have to wait if it were the last in its line. */
  protected abstract longestWaitMs(waiter: Waiter): number

  protected join(line: Line, call: Call, begin?: (waiter: Waiter) => void): Promise<Turn> {
    return new Promise((resolve, reject) => {
      const waiter = line.join(call, resolve, reject)
      const { maxWaitMs, signal } = call
      this.#size++
      if (signal !== undefined || maxWaitMs < Infinity) waiter.forget = this.#endings(waiter, maxWaitMs, signal)
      begin?.(waiter)
    })
  }

  /** It is the waiter's turn. */
  protected release(waiter: Waiter, turn: Turn): void {
    this.#leave(waiter)
    // It counts as running from now on, and not only from when its promise is looked at.
    if (waiter.runs) this.#pending++
    waiter.resolve(turn)
    this.#checkIdle()
  }

  protected refuse(waiter: Waiter, error: unknown): void {
    this.#leave(waiter)
    waiter.reject(error)
    this.givenUp(waiter.line)
    this.#checkIdle()
  }

  #enter(options: TurnOptions | undefined, runs: boolean): number | Promise<Turn> {
    try {
      const call = checkTurnOptions(options, runs)
      if (this.#isClosed) throw this.#closedError()
      if (call.signal?.aborted === true) throw call.signal.reason
      return this.enter(call)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #leave(waiter: Waiter): void {
    waiter.line.leave(waiter)
    this.#size--
    waiter.forget?.()
  }

  /** What ends the waiting besides a turn: a signal, or the longest wait. */
  #endings(waiter: Waiter, maxWaitMs: number, signal: AbortSignal | undefined): () => void {
    const aborted = () => this.refuse(waiter, signal?.reason)
    if (signal !== undefined) this.#signals.watch(signal, aborted)
    const expiry: Due = {
      atMs: 0,
      rank: 0,
      order: 0,
      place: -1,
      due: () => {
        // Whose turn is at the same moment leaves.
        this.bringUpToDate(waiter.line)
        if (waiter.place >= 0) this.refuse(waiter, tooLong(maxWaitMs, this.longestWaitMs(waiter)))
      },
    }
    if (maxWaitMs < Infinity) this.agenda.set(expiry, this.clock.now() + maxWaitMs)
    return () => {
      if (signal !== undefined) this.#signals.unwatch(signal, aborted)
      this.agenda.drop(expiry)
    }
  }

  /**
   * May somebody leave at once who begins only when the caller has ended? A caller that goes on and on would let a crowd go
   * at its end.
   */
  protected mayLeaveAtOnce(nowMs: number): boolean {
    if (this.#atOnceMs === undefined) {
      this.#atOnceMs = nowMs
      queueMicrotask(() => {
        this.#atOnceMs = undefined
      })
    }
    return nowMs - this.#atOnceMs <= CATCH_UP_MS
  }

  /** Whose time it is leaves now, whenever the alarm rings. */
  protected bringUpToDate(line: Line): void {
    const nowMs = this.clock.now()
    if (line.place < 0 || line.atMs > nowMs) return
    this.agenda.drop(line)
    line.due(nowMs)
  }

  /** Work that is over at once is over at once: nothing is waited for that need not be. */
  #perform<Result>(work: () => Result | PromiseLike<Result>): Promise<Awaited<Result>> {
    let result: Result | PromiseLike<Result>
    try {
      result = work()
      if (isPromiseLike(result)) return this.#performed(result)
    } catch (error) {
      this.#over()
      return Promise.reject(error)
    }
    this.#over()
    return Promise.resolve(result)
  }

  async #performed<Result>(result: PromiseLike<Result>): Promise<Awaited<Result>> {
    try {
      return await result
    } finally {
      this.#over()
    }
  }

  #over(): void {
    this.#pending--
    this.#checkIdle()
  }

  #checkIdle(): void {
    if (!this.#isIdle || this.#onIdle.length === 0) return
    const resolves = this.#onIdle
    this.#onIdle = []
    for (const resolve of resolves) resolve()
  }

  get #isIdle(): boolean {
    return this.#size === 0 && this.#pending === 0
  }

  #closedError(): ClosedError {
    return new ClosedError(`the shaper '${this.name}' is closed`)
  }
}

/** The usual mistake is run(fetch(url)), which has begun already. */
function notWork(value: unknown): InvalidTypeError {
  return invalidType('work', 'a function that is called at its turn, such as () => fetch(url)', value)
}
