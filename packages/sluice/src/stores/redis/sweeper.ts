import { AsyncResource } from 'node:async_hooks'
// Imported, so that a test that replaces the global timers does not stop sweeps.
import { clearTimeout, setTimeout } from 'node:timers'

/** A sweep begins this long after the one before has ended: from 0.75 to 1.25 s, so that processes do not keep step. */
const LEAST_MS = 750
const SPREAD_MS = 500

/** Timers are set in this scope. Otherwise the request that begins the sweeps would keep its async context for ever. */
const outsideRequests = new AsyncResource('SluiceSweeper')

/**
 * Runs a sweep about once a second, from the first call of `start` until `stop`. The timer keeps neither the process nor
 * the sweeper alive. A sweep that fails is tried again at its next time.
 */
export class Sweeper {
  readonly #sweep: () => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #isStarted = false
  #running: Promise<void> | undefined

  constructor(sweep: () => Promise<void>) {
    this.#sweep = sweep
  }

  /** Begins the sweeps, with one at once. Does nothing if they have begun. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    outsideRequests.runInAsyncScope(() => this.#turn())
  }

  /** Sweeps now, and begins the sweeps. Rejects if the sweep fails. */
  async now(): Promise<void> {
    this.start()
    // A sweep that is under way may have read the time before this call.
    await this.#running?.catch(() => {})
    await this.#run()
  }

  stop(): void {
    this.#isStarted = false
    clearTimeout(this.#timer)
  }

  #run(): Promise<void> {
    this.#running ??= this.#sweep().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  #turn(): void {
    this.#run()
      .catch(() => {})
      .finally(() => this.#schedule())
  }

  #schedule(): void {
    if (!this.#isStarted) return
    clearTimeout(this.#timer)
    const weak = new WeakRef<Sweeper>(this)
    const wake = () => {
      const sweeper = weak.deref()
      if (sweeper !== undefined) sweeper.#turn()
    }
    this.#timer = setTimeout(wake, LEAST_MS + SPREAD_MS * Math.random()).unref()
  }
}
