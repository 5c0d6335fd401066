import { checkOptions } from '../checks/check-options.js'
import { checkCost, checkKey, checkMaxWaitMs, checkSignal, checkValue } from '../checks/check-value.js'
import type { Clock } from '../clock.js'
import {
  ClosedError,
  InvalidTypeError,
  invalidType,
  invalidValue,
  QueueFullError,
  WaitTooLongError,
} from '../errors.js'
import { isPromiseLike } from '../stores/store.js'
import type { WaitRequest } from '../waiting/line.js'
import { Pauses } from './pauses.js'
import type { Places } from './places.js'
import type { CloseOptions, PausedCallers, PauseOptions, Shaper, Turn, TurnOptions } from './shaper.js'

/** The key of callers that name none. Stores accept it, and no key of a user's is equal to it by accident. */
export const NO_KEY = '\0'
const HIGHEST_PRIORITY = 9

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
  /** Where work runs, if `concurrency` bounds that. A caller takes its place when it leaves. */
  readonly places: Places | undefined
  /** The keys that have waiters. */
  readonly waitingKeys: Iterable<string>
  /**
   * Returns the time of the turn if the caller leaves at once. Otherwise the caller waits, until its key's pause is over at
   * least. Throws if the queue is full or the wait would be too long.
   */
  enter(request: TurnRequest, pausedUntilMs: number): number | Promise<Turn>
  /** Lets no waiter of the key leave before then. It may be earlier than what was said before, and in the past. */
  pauseUntil(key: string, untilMs: number): void
  /** Gives back the place of work that is over, so that a waiter of the key may leave. */
  giveBackPlace(key: string): void
  rejectAll(error: () => Error): void
}

const WAIT: TurnRequest = { key: NO_KEY, cost: 1, priority: 0, maxWaitMs: Infinity, signal: undefined, runs: false }
const RUN: TurnRequest = { ...WAIT, runs: true }

/** The front of every shaper: checks arguments, runs work, and knows pauses and the end. Turns come from its queue. */
export class QueueShaper implements Shaper {
  readonly name: string
  readonly #queue: TurnQueue
  readonly #pauses = new Pauses()
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
    if (!(this instanceof QueueShaper)) return Promise.reject(apart('run'))
    if (typeof work !== 'function') return Promise.reject(notWork(work))
    let turn: number | Promise<Turn>
    try {
      const request = checkTurnOptions(options, true)
      turn = this.#enter(request)
      if (this.#queue.places !== undefined) return this.#runInPlace(turn, work, request.key)
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
    if (!(this instanceof QueueShaper)) throw apart('wrap')
    if (typeof work !== 'function') throw notWork(work)
    if (typeof options !== 'function') checkTurnOptions(options, true)
    const run = (turn: () => Result | PromiseLike<Result>, args: Args) =>
      this.run(turn, typeof options === 'function' ? options(...args) : options)
    return async function (this: This, ...args) {
      return run(() => work.apply(this, args), args)
    } as (this: This, ...args: Args) => Promise<Awaited<Result>>
  }

  async wait(options?: TurnOptions): Promise<Turn> {
    if (!(this instanceof QueueShaper)) throw apart('wait')
    const request = checkTurnOptions(options, false)
    if (this.#queue.places !== undefined) throw noWait(this.name)
    const turn = this.#enter(request)
    try {
      return typeof turn === 'number' ? { atMs: turn } : await turn
    } finally {
      this.#finished()
    }
  }

  pause(options?: PauseOptions): void {
    const { key, durationMs } = checkPauseOptions('pause', options, ['key', 'durationMs'])
    checkDurationMs(durationMs)
    // Its waiters would never leave, and `close` would never end.
    if (this.#isClosed && durationMs === undefined) throw this.#closedError()
    const nowMs = this.#queue.room.clock.now()
    if (this.#pauses.begin(key, nowMs + (durationMs ?? Infinity), nowMs)) this.#applyPauses(key)
  }

  resume(options?: PausedCallers): void {
    const { key } = checkPauseOptions('resume', options, ['key'])
    if (this.#pauses.end(key)) this.#applyPauses(key)
  }

  isPaused(options?: PausedCallers): boolean {
    const { key } = checkPauseOptions('isPaused', options, ['key'])
    return this.#pauses.untilMs(key) > this.#queue.room.clock.now()
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
    this.#pauses.endEndless()
    this.#applyPauses(undefined)
    return this.onIdle()
  }

  /** Counts the caller as open if it does not throw. */
  #enter(request: TurnRequest): number | Promise<Turn> {
    if (this.#isClosed) throw this.#closedError()
    if (request.signal?.aborted === true) throw request.signal.reason
    const turn = this.#queue.enter(request, this.#pauses.isEmpty ? -Infinity : this.#pauses.untilMs(request.key))
    this.#open++
    return turn
  }

  /** The pause of a key has changed or, without a key, that of all callers. */
  #applyPauses(key: string | undefined): void {
    // Copied, because keys whose last waiter leaves are removed.
    const keys = key === undefined ? [...this.#queue.waitingKeys] : [key]
    for (const each of keys) this.#queue.pauseUntil(each, this.#pauses.untilMs(each))
  }

  /** Like `run`, for a shaper with `concurrency`. A method of its own, because each waiter keeps what a closure uses. */
  #runInPlace<Result>(
    turn: number | Promise<Turn>,
    work: () => Result | PromiseLike<Result>,
    key: string,
  ): Promise<Awaited<Result>> {
    return typeof turn === 'number' ? this.#perform(work, key) : turn.then(() => this.#perform(work, key), this.#failed)
  }

  /** Work that returns a value is over at once, without waiting for a promise. With a `key`, it has a place to give back. */
  #perform<Result>(work: () => Result | PromiseLike<Result>, key?: string): Promise<Awaited<Result>> {
    let result: Result | PromiseLike<Result>
    try {
      result = work()
      if (isPromiseLike(result)) {
        const promise = Promise.resolve(result)
        return key === undefined
          ? promise.then(this.#succeeded, this.#failed)
          : promise.finally(() => this.#finished(key))
      }
    } catch (error) {
      this.#finished(key)
      return Promise.reject(error)
    }
    this.#finished(key)
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

  #finished(key?: string): void {
    if (key !== undefined) this.#queue.giveBackPlace(key)
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

function checkPauseOptions(method: string, options: PauseOptions | undefined, known: readonly string[]): PauseOptions {
  if (options === undefined) return {}
  checkOptions(method, options, known)
  if (options.key !== undefined) checkKey(options.key)
  return options
}

function checkDurationMs(value: unknown): void {
  const wanted = 'a number of milliseconds from 0, or left out for a pause until resume'
  if (value === undefined) return
  if (typeof value !== 'number') throw invalidType('durationMs', wanted, value)
  if (!(value >= 0 && value < Infinity)) throw invalidValue('durationMs', wanted, value)
}

function checkPriority(value: number): void {
  if (Number.isInteger(value) && Math.abs(value) <= HIGHEST_PRIORITY) return
  const wanted = `a whole number from -${HIGHEST_PRIORITY} to ${HIGHEST_PRIORITY}`
  throw typeof value === 'number' ? invalidValue('priority', wanted, value) : invalidType('priority', wanted, value)
}

/** The error for a method that was taken out of its shaper, as in `const { run } = shaper`. */
function apart(method: string): InvalidTypeError {
  return new InvalidTypeError(`${method} is a method of its shaper: write shaper.${method}(…), not ${method}(…) alone`)
}

/** The usual mistake is run(fetch(url)), which has started already. */
function notWork(value: unknown): InvalidTypeError {
  return invalidType('work', 'a function that is called at its turn, such as () => fetch(url)', value)
}

function noWait(name: string): InvalidTypeError {
  return new InvalidTypeError(
    `the shaper '${name}' has concurrency and cannot know when the work after wait() is over: use run(work)`,
  )
}

/**
 * The error for a caller that the queue has no room for. `retryAfterMs` is `Infinity` if it never has. With `isLeast`, room
 * may come later: when work is over, or when a pause without an end is ended.
 */
export function queueFull(
  name: string,
  capacity: number,
  cost: number,
  retryAfterMs: number,
  isLeast = false,
): QueueFullError {
  const when = `come back in ${retryAfterMs} ms${isLeast ? ' at the earliest' : ''}`
  const message =
    retryAfterMs === Infinity
      ? `a cost of ${cost} is more than the queue of the shaper '${name}' holds (capacity ${capacity})`
      : `the queue of the shaper '${name}' is full (capacity ${capacity}); ${when}`
  return new QueueFullError(message, retryAfterMs)
}

/** The error for a caller whose turn comes in `waitMs`, which is too late. */
export function turnTooLate(maxWaitMs: number, waitMs: number): WaitTooLongError {
  const ms = Math.max(1, Math.ceil(waitMs))
  return new WaitTooLongError(`the turn would come in ${ms} ms, and maxWaitMs is ${maxWaitMs}`, ms)
}
