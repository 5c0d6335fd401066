// Imported, so that a test that replaces the global timers does not stop probes.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import { Breaker } from './breaker.js'
import type { Silence } from './silence.js'

/** An outage of so many milliseconds is worth a word. */
const LONG_MS = 5_000

/** What lanes are told once. */
export interface LaneOptions {
  /** How long a probe may take. */
  readonly deadlineMs: number
  /** Asks the server that a key leads to, and says whether it answered. */
  readonly probe: (key: string) => Promise<boolean>
  readonly silence: Silence
  /** Hears of a breaker that opened or closed. */
  readonly onBreaker: (state: 'open' | 'closed', error: unknown) => void
  /** Hears, perhaps often, that a server has been away for long. */
  readonly onSilence: () => void
}

/** The way to a server, with a breaker: while it is open, nothing goes this way but a probe every now and then. */
export class Lane {
  readonly #options: LaneOptions
  readonly #pace: (waitMs: number) => number
  readonly #breaker = new Breaker()
  #key = ''
  #openedMs = 0
  #timer: NodeJS.Timeout | undefined
  #dueMs = 0
  #probes = 0
  /** What failed last. */
  error: unknown

  /** `pace` takes the time that this lane alone would wait before a probe, and gives the time to wait beside the others. */
  constructor(options: LaneOptions, pace: (waitMs: number) => number) {
    this.#options = options
    this.#pace = pace
  }

  get isOpen(): boolean {
    return this.#breaker.isOpen
  }

  succeeded(): void {
    this.#breaker.succeeded()
  }

  /** A call was answered, but too late. */
  answeredLate(key: string): void {
    if (this.isOpen) this.#options.silence.heard(key)
  }

  /** A call for `key` failed. */
  failed(key: string, error: unknown): void {
    this.error = error
    if (!this.#breaker.failed()) return
    this.#key = key
    this.#openedMs = performance.now()
    this.#options.onBreaker('open', error)
    this.#probeIn(this.#pace(this.#breaker.probeAfterMs))
  }

  /** Probes within `ms`, if this lane is open: another one has closed. */
  hurry(ms: number): void {
    if (this.isOpen && performance.now() + ms < this.#dueMs) this.#probeIn(ms)
  }

  #probeIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#dueMs = performance.now() + ms
    // An outage is no reason for a process to stay alive.
    this.#timer = setTimeout(() => void this.#probe(), ms).unref()
  }

  async #probe(): Promise<void> {
    const number = ++this.#probes
    let isLate = false
    let isOver = false
    const timer = setTimeout(() => {
      // The process reads replies that came while it was busy before it runs the immediate.
      setImmediate(() => {
        if (isOver || !this.isOpen) return
        isLate = true
        this.#breaker.probeFailed(!this.#options.silence.probeFailed(this.#key, false))
        this.#goOn()
      })
    }, this.#options.deadlineMs).unref()
    const isAnswered = await this.#options.probe(this.#key)
    isOver = true
    clearTimeout(timer)
    if (isAnswered) this.#options.silence.heard(this.#key)
    if (!this.isOpen) return
    if (isAnswered && !isLate) {
      this.#breaker.close()
      clearTimeout(this.#timer)
      return this.#options.onBreaker('closed', undefined)
    }
    if (!isLate) {
      this.#options.silence.probeFailed(this.#key, true)
      this.#breaker.probeFailed(false)
      this.#goOn()
    } else if (number === this.#probes) {
      // No probe is stuck any more: the next may be in time.
      if (isAnswered) this.#breaker.probeAnsweredLate()
      else this.#breaker.probeRefusedLate()
      this.#goOn()
    }
  }

  #goOn(): void {
    if (performance.now() - this.#openedMs > LONG_MS) this.#options.onSilence()
    this.#probeIn(this.#pace(this.#breaker.probeAfterMs))
  }
}
