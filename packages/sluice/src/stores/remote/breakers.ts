// Imported, so that a test that replaces the global timers does not stop probes.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'

/** A breaker opens after so many failures in a row. */
const FAILURES = 3
/** The first probe follows this long after the breaker opens. Each failed probe doubles the wait, up to the longest. */
const FIRST_PROBE_MS = 10
const LONGEST_PROBE_MS = 500
/** The longest wait if probes may lie in the client's queue for ever. */
const LONGEST_STUCK_MS = 30_000
/** All breakers of a store together probe about this often at most. */
const PROBE_EVERY_MS = 20
/** When a breaker closes and n others are open, each of those is probed within n ms, and within a second at most. */
const HURRY_MS = 1
const LONGEST_HURRY_MS = 1_000
/** An outage of so many milliseconds is reported. */
const LONG_MS = 5_000
/**
 * How many neighbouring hash slots share a breaker. Neighbours mostly live on the same server and fail together. More
 * would put hash slots of two servers under one breaker more often; fewer would take longer to notice an outage.
 */
const HASH_SLOTS_EACH = 16

/** Hears of probes, so that a connection that has gone silent is replaced. */
export interface ConnectionWatch {
  /** A probe for `key` failed. Returns false if a probe without an answer may lie in a client's queue for ever. */
  probeFailed(key: string, isRefused: boolean): boolean
  /** The server has answered a call for `key`, in time or not. */
  heard(key: string): void
}

/** The options of all breakers of a store. */
export interface BreakerOptions {
  /** How long a probe may take. */
  readonly deadlineMs: number
  /** Asks the server of a key; resolves with whether the server answered. Never rejects. */
  readonly probe: (key: string) => Promise<boolean>
  readonly silence: ConnectionWatch
  /** Hears of each breaker that opens or closes. */
  readonly onBreaker: (state: 'open' | 'closed', error: unknown) => void
  /** Hears, perhaps often, that a server has been away for long. */
  readonly onLongOutage: () => void
  /** Gives numbers from 0 to 1, so that the processes of a fleet do not probe in step. */
  readonly random: () => number
}

/**
 * The breakers of all hash slots; without a cluster there is one. Many open breakers together probe no more often than a
 * few, until one of them finds its server back.
 */
export class Breakers {
  readonly #options: BreakerOptions
  readonly #breakers = new Map<number, Breaker>()
  #open = 0

  constructor(options: BreakerOptions) {
    this.#options = {
      ...options,
      onBreaker: (state, error) => {
        this.#open += state === 'open' ? 1 : -1
        if (state === 'closed') this.#hurry()
        options.onBreaker(state, error)
      },
    }
  }

  of(hashSlot: number): Breaker {
    const number = Math.floor(hashSlot / HASH_SLOTS_EACH)
    let breaker = this.#breakers.get(number)
    if (breaker === undefined) {
      breaker = new Breaker(this.#options, (waitMs) => this.#spread(waitMs))
      this.#breakers.set(number, breaker)
    }
    return breaker
  }

  get isAnyOpen(): boolean {
    return this.#open > 0
  }

  /** The wait of one breaker, lengthened if many are open, and varied at random. */
  #spread(waitMs: number): number {
    return Math.max(waitMs, PROBE_EVERY_MS * (this.#open - 1)) * (0.75 + this.#options.random() / 2)
  }

  /** The servers of other breakers may be back as well. */
  #hurry(): void {
    const withinMs = Math.min(HURRY_MS * this.#open, LONGEST_HURRY_MS)
    if (this.#open === 0) return
    for (const breaker of this.#breakers.values()) breaker.hurry(withinMs * this.#options.random())
  }
}

/**
 * Decides whether a server is asked at all. It opens after three failures in a row. While it is open, only probes are
 * sent; the first probe that is answered in time closes it.
 */
export class Breaker {
  readonly #options: BreakerOptions
  readonly #spread: (waitMs: number) => number
  #failures = 0
  /** The wait before the next probe, before it is spread; 0 while the breaker is closed. */
  #waitMs = 0
  /** A key that leads to the server. */
  #key = ''
  #openedMs = 0
  #timer: NodeJS.Timeout | undefined
  #dueMs = 0
  #probes = 0
  /** The latest failure. */
  error: unknown

  constructor(options: BreakerOptions, spread: (waitMs: number) => number) {
    this.#options = options
    this.#spread = spread
  }

  get isOpen(): boolean {
    return this.#waitMs > 0
  }

  /** A call was answered in time. */
  succeeded(): void {
    this.#failures = 0
  }

  /** A call was answered, but after its deadline. */
  answeredLate(key: string): void {
    if (this.isOpen) this.#options.silence.heard(key)
  }

  /** A call for `key` failed. */
  failed(key: string, error: unknown): void {
    this.error = error
    if (this.isOpen || ++this.#failures < FAILURES) return
    this.#waitMs = FIRST_PROBE_MS
    this.#key = key
    this.#openedMs = performance.now()
    this.#options.onBreaker('open', error)
    this.#probeIn(this.#spread(this.#waitMs))
  }

  /** Probes within `ms` if it is open. */
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
        const isStuck = !this.#options.silence.probeFailed(this.#key, false)
        this.#probeAgain(Math.min(this.#waitMs * 2, isStuck ? LONGEST_STUCK_MS : LONGEST_PROBE_MS))
      })
    }, this.#options.deadlineMs).unref()
    const isAnswered = await this.#options.probe(this.#key)
    isOver = true
    clearTimeout(timer)
    if (isAnswered) this.#options.silence.heard(this.#key)
    if (!this.isOpen) return
    if (isAnswered && !isLate) this.#close()
    else if (!isLate) {
      this.#options.silence.probeFailed(this.#key, true)
      this.#probeAgain(Math.min(this.#waitMs * 2, LONGEST_PROBE_MS))
    } else if (number === this.#probes) {
      // No probe is stuck any more, and the next may be in time.
      this.#probeAgain(isAnswered ? FIRST_PROBE_MS : Math.min(this.#waitMs, LONGEST_PROBE_MS))
    }
  }

  #close(): void {
    this.#failures = 0
    this.#waitMs = 0
    clearTimeout(this.#timer)
    this.#options.onBreaker('closed', undefined)
  }

  #probeAgain(waitMs: number): void {
    this.#waitMs = waitMs
    if (performance.now() - this.#openedMs > LONG_MS) this.#options.onLongOutage()
    this.#probeIn(this.#spread(waitMs))
  }
}
