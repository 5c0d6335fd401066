// Imported, so that a test that replaces the global timers does not stop probes.
import { clearTimeout, setTimeout } from 'node:timers'
import { Breaker } from './breaker.js'

/**
 * In a cluster, neighbouring slots mostly live on the same server: they fail and recover together. Few enough that not
 * many share a lane with those of another server, and enough that an outage is soon known.
 */
const SLOTS_A_LANE = 16

/** An outage of so many milliseconds is worth a word. */
const LONG_MS = 5_000

/** What lanes are told once. */
export interface LaneOptions {
  /** How long a probe may take. */
  readonly deadlineMs: number
  /** Asks the server that a key leads to, and says whether it answered. */
  readonly probe: (key: string) => Promise<boolean>
  /** Hears of a breaker that opened or closed. */
  readonly onBreaker: (state: 'open' | 'closed', error: unknown) => void
  /** Hears, perhaps often, that a server has been away for long. */
  readonly onSilence: () => void
}

/** The way to a server, with a breaker: while it is open, nothing goes this way but a probe every now and then. */
export class Lane {
  readonly #options: LaneOptions
  readonly #breaker = new Breaker()
  #key = ''
  #openedMs = 0
  #timer: NodeJS.Timeout | undefined
  /** What failed last. */
  error: unknown

  constructor(options: LaneOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#breaker.isOpen
  }

  succeeded(): void {
    this.#breaker.succeeded()
  }

  /** A call for `key` failed. */
  failed(key: string, error: unknown): void {
    this.error = error
    if (!this.#breaker.failed()) return
    this.#key = key
    this.#openedMs = performance.now()
    this.#options.onBreaker('open', error)
    this.#probeSoon()
  }

  #probeSoon(): void {
    clearTimeout(this.#timer)
    // An outage is no reason for a process to stay alive.
    this.#timer = setTimeout(() => void this.#probe(), this.#breaker.probeAfterMs).unref()
  }

  async #probe(): Promise<void> {
    let isLate = false
    const timer = setTimeout(() => {
      if (!this.isOpen) return
      isLate = true
      this.#breaker.probeFailed(false)
      this.#goOn()
    }, this.#options.deadlineMs).unref()
    const isAnswered = await this.#options.probe(this.#key)
    clearTimeout(timer)
    if (!this.isOpen) return
    if (isAnswered && !isLate) {
      this.#breaker.close()
      clearTimeout(this.#timer)
      return this.#options.onBreaker('closed', undefined)
    }
    // Late, but the end of a silence: what was stuck moves again.
    if (isLate) this.#breaker.probeEndedLate()
    else this.#breaker.probeFailed(true)
    this.#goOn()
  }

  #goOn(): void {
    if (performance.now() - this.#openedMs > LONG_MS) this.#options.onSilence()
    this.#probeSoon()
  }
}

/** The lanes of all slots. */
export class Lanes {
  readonly #options: LaneOptions
  readonly #lanes = new Map<number, Lane>()

  constructor(options: LaneOptions) {
    this.#options = options
  }

  of(slot: number): Lane {
    const number = Math.floor(slot / SLOTS_A_LANE)
    let lane = this.#lanes.get(number)
    if (lane === undefined) {
      lane = new Lane(this.#options)
      this.#lanes.set(number, lane)
    }
    return lane
  }

  get isAnyOpen(): boolean {
    for (const lane of this.#lanes.values()) if (lane.isOpen) return true
    return false
  }
}
