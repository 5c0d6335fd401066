import { checkOptions } from '../checks/check-options.js'
import { checkCost, checkKey, checkMaxWaitMs, checkSignal, checkValue } from '../checks/check-value.js'
import type { Clock } from '../clock.js'
import {
  ClosedError,
  type InvalidTypeError,
  invalidType,
  invalidValue,
  QueueFullError,
  WaitTooLongError,
} from '../errors.js'
import { isPromiseLike } from '../stores/store.js'
import type { WaitRequest } from '../waiting/line.js'
import type { CloseOptions, Shaper, Turn, TurnOptions } from './shaper.js'

/** The key of callers that name none. Stores accept it, and no key of a user's is equal to it by accident. */
export const NO_KEY = '\0'
const HIGHEST_PRIORITY = 9
/** Forget pauses that are over once there are more than this many. */
const FEW_PAUSES = 64

/** A caller's options, checked and with their defaults. */
export interface TurnRequest extends WaitRequest {
  readonly key: string
  /** True for `run`, which starts its work synchronously; false for `wait`, whose caller goes on only later. */
  readonly runs: boolean
}

/** Gives turns at the rate of a shaper: `LocalQueue` for one process, `StoreQueue` for all processes that share a store. */
export interface TurnQueue {
  /** The callers that wait. */
  readonly room: { readonly size: number; readonly clock: Clock }
  /**
   * Returns the time of the turn if the caller leaves at once. Otherwise the caller waits, until its key's pause is over at
   * least. Throws if the queue is full or the wait would be too long.
   */
  enter(request: TurnRequest, pausedUntilMs: number): number | Promise<Turn>
  /** Lets no waiter of the key leave before then. */
  pause(key: string, untilMs: number): void
  rejectAll(error: () => Error): void
}

const WAIT: TurnRequest = { key: NO_KEY, cost: 1, priority: 0, maxWaitMs: Infinity, signal: undefined, runs: false }
const RUN: TurnRequest = { ...WAIT, runs: true }

/** The front of every shaper: checks arguments, runs work, and knows pauses and the end. Turns come from its queue. */
export class QueueShaper implements Shaper {
  readonly name: string
  readonly #queue: TurnQueue
  readonly #pausedUntilMs = new Map<string, number>()
  #mostPauses = FEW_PAUSES
  /** Callers that wait or run. */
  #open = 0
  #isClosed = false
  #onIdle: (() => void)[] = []

  constructor(name: string, queue: TurnQueue) {
    this.name = name
    this.#queue = queue
  }

  get size(): number {
    return this.#queue.room.size
  }

  get pending(): number {
    return this.#open - this.size
  }

  run<Result>(work: () => Result | PromiseLike<Result>, options?: TurnOptions): Promise<Awaited<Result>> {
    if (typeof work !== 'function') return Promise.reject(notWork(work))
    let turn: number | Promise<Turn>
    try {
      turn = this.#enter(options, true)
    } catch (error) {
      return Promise.reject(error)
    }
    // Chained to the promise of its turn, the work runs in the async context of its caller.
    return typeof turn === 'number' ? this.#perform(work) : turn.then(() => this.#perform(work), this.#failed)
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
    try {
      return typeof turn === 'number' ? { atMs: turn } : await turn
    } finally {
      this.#finished()
    }
  }

  pause(durationMs: number, options?: { readonly key?: string }): void {
    if (typeof durationMs !== 'number') throw invalidType('durationMs', 'a number of milliseconds', durationMs)
    if (!(durationMs >= 0 && durationMs < Infinity))
      throw invalidValue('durationMs', 'a number of milliseconds from 0', durationMs)
    const { key = NO_KEY } = options === undefined ? {} : checkOptions('options', options, ['key'])
    checkKey(key)
    const nowMs = this.#queue.room.clock.now()
    const untilMs = nowMs + durationMs
    if (untilMs <= (this.#pausedUntilMs.get(key) ?? -Infinity)) return
    this.#pausedUntilMs.set(key, untilMs)
    if (this.#pausedUntilMs.size > this.#mostPauses) {
      for (const [each, overMs] of this.#pausedUntilMs) if (overMs <= nowMs) this.#pausedUntilMs.delete(each)
      this.#mostPauses = Math.max(FEW_PAUSES, 2 * this.#pausedUntilMs.size)
    }
    this.#queue.pause(key, untilMs)
  }

  onIdle(): Promise<void> {
    if (this.#open === 0) return Promise.resolve()
    return new Promise((resolve) => this.#onIdle.push(resolve))
  }

  async close(options: CloseOptions = {}): Promise<void> {
    const { waiting = 'leave' } = checkOptions('options', options, ['waiting'])
    checkValue('waiting', waiting, ['leave', 'reject'])
    this.#isClosed = true
    if (waiting === 'reject') this.#queue.rejectAll(() => this.#closedError())
    return this.onIdle()
  }

  /** Counts the caller as open if it does not throw. */
  #enter(options: TurnOptions | undefined, runs: boolean): number | Promise<Turn> {
    const request = checkTurnOptions(options, runs)
    if (this.#isClosed) throw this.#closedError()
    if (request.signal?.aborted === true) throw request.signal.reason
    const paused = this.#pausedUntilMs
    const turn = this.#queue.enter(request, paused.size === 0 ? -Infinity : (paused.get(request.key) ?? -Infinity))
    this.#open++
    return turn
  }

  /** Work that returns a value is over at once, without waiting for a promise. */
  #perform<Result>(work: () => Result | PromiseLike<Result>): Promise<Awaited<Result>> {
    let result: Result | PromiseLike<Result>
    try {
      result = work()
      if (isPromiseLike(result)) return Promise.resolve(result).then(this.#succeeded, this.#failed)
    } catch (error) {
      this.#finished()
      return Promise.reject(error)
    }
    this.#finished()
    return Promise.resolve(result)
  }

  // One function for all callers: a closure for each that waits would take memory.
  readonly #succeeded = <Result>(result: Result): Result => {
    this.#finished()
    return result
  }

  readonly #failed = (error: unknown): never => {
    this.#finished()
    throw error
  }

  #finished(): void {
    this.#open--
    if (this.#open > 0 || this.#onIdle.length === 0) return
    const resolves = this.#onIdle
    this.#onIdle = []
    for (const resolve of resolves) resolve()
  }

  #closedError(): ClosedError {
    return new ClosedError(`the shaper '${this.name}' is closed`)
  }
}

function checkTurnOptions(options: TurnOptions | undefined, runs: boolean): TurnRequest {
  if (options === undefined) return runs ? RUN : WAIT
  checkOptions('options', options, ['key', 'cost', 'signal', 'priority', 'maxWaitMs'])
  const { key = NO_KEY, cost = 1, signal, priority = 0, maxWaitMs = Infinity } = options
  checkKey(key)
  checkCost(cost)
  checkSignal(signal)
  checkPriority(priority)
  checkMaxWaitMs(maxWaitMs)
  return { key, cost, priority, maxWaitMs, signal, runs }
}

function checkPriority(value: number): void {
  if (Number.isInteger(value) && Math.abs(value) <= HIGHEST_PRIORITY) return
  const wanted = `a whole number from -${HIGHEST_PRIORITY} to ${HIGHEST_PRIORITY}`
  throw typeof value === 'number' ? invalidValue('priority', wanted, value) : invalidType('priority', wanted, value)
}

/** The usual mistake is run(fetch(url)), which has started already. */
function notWork(value: unknown): InvalidTypeError {
  return invalidType('work', 'a function that is called at its turn, such as () => fetch(url)', value)
}

/** The error for a caller that the queue has no room for. `retryAfterMs` is `Infinity` if it never has. */
export function queueFull(name: string, capacity: number, cost: number, retryAfterMs: number): QueueFullError {
  const message =
    retryAfterMs === Infinity
      ? `a cost of ${cost} is more than the queue of the shaper '${name}' holds (capacity ${capacity})`
      : `the queue of the shaper '${name}' is full (capacity ${capacity}); come back in ${retryAfterMs} ms`
  return new QueueFullError(message, retryAfterMs)
}

/** The error for a caller whose turn comes in `waitMs`, which is too late. */
export function turnTooLate(maxWaitMs: number, waitMs: number): WaitTooLongError {
  const ms = Math.max(1, Math.ceil(waitMs))
  return new WaitTooLongError(`the turn would come in ${ms} ms, and maxWaitMs is ${maxWaitMs}`, ms)
}
