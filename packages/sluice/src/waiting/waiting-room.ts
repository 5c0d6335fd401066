import type { Clock, setAlarm } from '../clock.js'
import { Agenda, Appointment } from './agenda.js'
import type { Waiter } from './line.js'

/** How long a caller is willing to wait. */
export interface Patience {
  /** When it is aborted, the wait ends. */
  readonly signal: AbortSignal | undefined
  /** After so many milliseconds the wait ends. `Infinity`: never. */
  readonly maxWaitMs: number
}

/** Called when a waiter's patience is over. It decides whether the wait ends, and calls `reject` if so. */
export interface ImpatienceHandler<W> {
  aborted(waiter: W, reason: unknown): void
  expired(waiter: W, maxWaitMs: number): void
}

/**
 * The callers that wait for one limiter or shaper. The room counts them, settles their promises, and watches their signals
 * and deadlines. It does not decide which waiter leaves when.
 *
 * A signal has one listener, however many waiters share it, as all waiters of a program may share the signal for its end:
 * a signal walks through all of its listeners whenever one more is added.
 */
export class WaitingRoom<W extends Waiter<unknown, Result>, Result> {
  readonly clock: Clock
  readonly agenda: Agenda
  readonly #handler: ImpatienceHandler<W>
  /** Only of waiters that have a signal or a deadline. */
  readonly #limits = new Map<W, WaitLimit<W>>()
  readonly #watches = new Map<AbortSignal, { readonly waiters: Set<W>; readonly listener: () => void }>()
  #size = 0
  #tickSinceMs: number | undefined

  constructor(clock: Clock, set: typeof setAlarm, handler: ImpatienceHandler<W>) {
    this.clock = clock
    this.agenda = new Agenda(clock, set)
    this.#handler = handler
  }

  /** How many wait. */
  get size(): number {
    return this.#size
  }

  /** How many signals have a listener. */
  get signals(): number {
    return this.#watches.size
  }

  /** Counts one more waiter, until it is released or rejected. */
  admit(): void {
    this.#size++
  }

  /** From now on the waiter's signal, and its deadline counted from `sinceMs`, may end its wait. */
  watch(waiter: W, patience: Patience, sinceMs: number): void {
    const { signal, maxWaitMs } = patience
    if (signal === undefined && maxWaitMs === Infinity) return
    const limit = new WaitLimit(waiter, patience, this.#handler)
    this.#limits.set(waiter, limit)
    if (maxWaitMs < Infinity) this.agenda.set(limit, sinceMs + maxWaitMs)
    if (signal !== undefined) this.#listen(signal, waiter)
  }

  /** The waiter has what it waits for. */
  release(waiter: W, result: Result): void {
    this.#leave(waiter)
    waiter.resolve(result)
  }

  reject(waiter: W, error: unknown): void {
    this.#leave(waiter)
    waiter.reject(error)
  }

  /** The waiter's deadline does not matter any more; its signal still does. */
  dropDeadline(waiter: W): void {
    const limit = this.#limits.get(waiter)
    if (limit !== undefined) this.agenda.drop(limit)
  }

  /**
   * The milliseconds since this was first called in the synchronous code that runs now. What a promise releases runs only
   * when that code has ended: if it takes long and releases more and more, a crowd starts at its end.
   */
  measureTick(nowMs: number): number {
    if (this.#tickSinceMs === undefined) {
      this.#tickSinceMs = nowMs
      queueMicrotask(() => {
        this.#tickSinceMs = undefined
      })
    }
    return nowMs - this.#tickSinceMs
  }

  #leave(waiter: W): void {
    this.#size--
    const limit = this.#limits.size === 0 ? undefined : this.#limits.get(waiter)
    if (limit === undefined) return
    this.#limits.delete(waiter)
    this.agenda.drop(limit)
    if (limit.signal !== undefined) this.#unlisten(limit.signal, waiter)
  }

  #listen(signal: AbortSignal, waiter: W): void {
    let watch = this.#watches.get(signal)
    if (watch === undefined) {
      watch = { waiters: new Set(), listener: () => this.#aborted(signal) }
      this.#watches.set(signal, watch)
      signal.addEventListener('abort', watch.listener, { once: true })
    }
    watch.waiters.add(waiter)
  }

  #unlisten(signal: AbortSignal, waiter: W): void {
    const watch = this.#watches.get(signal)
    if (!watch?.waiters.delete(waiter) || watch.waiters.size > 0) return
    this.#watches.delete(signal)
    signal.removeEventListener('abort', watch.listener)
  }

  #aborted(signal: AbortSignal): void {
    const watch = this.#watches.get(signal)
    this.#watches.delete(signal)
    // A waiter may leave because another one of this signal has left.
    for (const waiter of watch?.waiters ?? [])
      if (this.#limits.has(waiter)) this.#handler.aborted(waiter, signal.reason)
  }
}

/** A waiter's signal and deadline. At equal times a deadline comes last: what comes just in time counts. */
class WaitLimit<W> extends Appointment {
  readonly signal: AbortSignal | undefined
  readonly #waiter: W
  readonly #maxWaitMs: number
  readonly #handler: ImpatienceHandler<W>

  constructor(waiter: W, { signal, maxWaitMs }: Patience, handler: ImpatienceHandler<W>) {
    super(1)
    this.#waiter = waiter
    this.signal = signal
    this.#maxWaitMs = maxWaitMs
    this.#handler = handler
  }

  due(): void {
    this.#handler.expired(this.#waiter, this.#maxWaitMs)
  }
}
