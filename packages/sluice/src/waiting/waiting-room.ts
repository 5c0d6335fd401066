import type { Clock, setAlarm } from '../clock.js'
import { Agenda, Reminder } from './agenda.js'
import type { Line, Waiter } from './line.js'

/** The owner of a line decides what becomes of its waiters. */
export interface LineOwner<W extends Waiter<unknown, never>> {
  readonly line: Line<W>
  /** The waiter's signal is aborted: rejects it. */
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

  /** Adds the waiter to its owner's line, and counts it until it is released or rejected. */
  admit(waiter: W): void {
    this.#size++
    waiter.owner.line.add(waiter)
  }

  /** From now on the waiter's signal, and its deadline counted from `sinceMs`, may end its wait. */
  watch(waiter: W, sinceMs: number): void {
    const { signal, maxWaitMs } = waiter.request
    // At equal times a deadline comes after everything else: what comes just in time counts.
    if (maxWaitMs < Infinity && waiter.reminder === undefined)
      this.#remind(waiter, sinceMs + maxWaitMs, new Reminder(() => waiter.owner.expire(waiter), 1))
    if (signal !== undefined) this.#listen(signal, waiter)
  }

  /** The waiter has what it waits for. */
  release(waiter: W, result: Result): void {
    this.#leave(waiter)
    waiter.resolve(result)
  }

  /** The waiter has what it waits for, and uses it at `atMs`, which is before its deadline. Until then it is in no line. */
  releaseAt(waiter: W, atMs: number, result: Result): void {
    waiter.owner.line.remove(waiter)
    this.#remind(waiter, atMs, new Reminder(() => this.release(waiter, result)))
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
    if (waiter.isInLine) waiter.owner.line.remove(waiter)
    if (waiter.reminder !== undefined) this.agenda.drop(waiter.reminder)
    waiter.reminder = undefined
    const { signal } = waiter.request
    if (signal !== undefined) this.#unlisten(signal, waiter)
  }

  #remind(waiter: W, atMs: number, reminder: Reminder): void {
    if (waiter.reminder !== undefined) this.agenda.drop(waiter.reminder)
    waiter.reminder = reminder
    this.agenda.set(reminder, atMs)
  }

  #listen(signal: AbortSignal, waiter: W): void {
    let watch = this.#watches.get(signal)
    if (watch === undefined) {
      const waiters = new Set<W>()
      // A waiter that has left, perhaps because another one of this signal has, is no longer in the set.
      const listener = () => {
        for (const each of waiters) each.owner.giveUp(each, signal.reason)
      }
      watch = { waiters, listener }
      this.#watches.set(signal, watch)
      signal.addEventListener('abort', listener, { once: true })
    }
    watch.waiters.add(waiter)
  }

  #unlisten(signal: AbortSignal, waiter: W): void {
    const watch = this.#watches.get(signal)
    if (!watch?.waiters.delete(waiter) || watch.waiters.size > 0) return
    this.#watches.delete(signal)
    signal.removeEventListener('abort', watch.listener)
  }
}
