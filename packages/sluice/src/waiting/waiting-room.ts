import type { Clock, setAlarm } from '../clock.js'
import { Agenda, Reminder } from './agenda.js'
import type { Waiter } from './line.js'

/** The owner of a line decides what becomes of its waiters. */
export interface LineOwner<W> {
  /** The waiter's signal is aborted: takes it out of the line and rejects it. */
  giveUp(waiter: W, reason: unknown): void
  /** The waiter's `maxWaitMs` is over: rejects it, unless its turn has come too. */
  expire(waiter: W): void
}

/**
 * The callers that wait for one limiter or shaper. The room counts them, settles their promises, and watches their signals
 * and deadlines. It does not decide which waiter leaves when.
 *
 * A signal has one listener, however many waiters share it, as all waiters of a program may share the signal for its end:
 * a signal walks through all of its listeners whenever one more is added.
 */
export class WaitingRoom<W extends Waiter<LineOwner<W>, Result>, Result> {
  readonly clock: Clock
  readonly agenda: Agenda
  /** Of waiters with a signal or a deadline. */
  readonly #deadlines = new Map<W, Reminder>()
  readonly #watches = new Map<AbortSignal, { readonly waiters: Set<W>; readonly listener: () => void }>()
  #size = 0
  #tickSinceMs: number | undefined

  constructor(clock: Clock, set: typeof setAlarm) {
    this.clock = clock
    this.agenda = new Agenda(clock, set)
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
  watch(waiter: W, sinceMs: number): void {
    const { signal, maxWaitMs } = waiter.request
    if (signal === undefined && maxWaitMs === Infinity) return
    // At equal times a deadline comes after everything else: what comes just in time counts.
    const deadline = new Reminder(() => waiter.owner.expire(waiter), 1)
    this.#deadlines.set(waiter, deadline)
    if (maxWaitMs < Infinity) this.agenda.set(deadline, sinceMs + maxWaitMs)
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

  /**
   * The milliseconds since this was first called in the synchronous code that runs now. Code behind a promise runs only
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
    const deadline = this.#deadlines.size === 0 ? undefined : this.#deadlines.get(waiter)
    if (deadline === undefined) return
    this.#deadlines.delete(waiter)
    this.agenda.drop(deadline)
    const { signal } = waiter.request
    if (signal !== undefined) this.#unlisten(signal, waiter)
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
      if (this.#deadlines.has(waiter)) waiter.owner.giveUp(waiter, signal.reason)
  }
}
