// Imported, so that a test that replaces the global timers does not stop probes.
import { clearTimeout, setImmediate, setTimeout } from 'node:timers'
import type { ScriptRunner } from './clients/script-runner.js'
import type { Failures } from './failures.js'
import { hashSlotOf } from './key-layout.js'
import { Silence } from './silence.js'

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

/**
 * The breakers of all hash slots; without a cluster there is one. Many open breakers together probe no more often than a
 * few, until one of them finds its server back.
 */
export class Breakers {
  readonly #isCluster: boolean
  readonly #breakers = new Map<number, Breaker>()
  readonly silence: Silence
  /** How long a probe may take. */
  readonly deadlineMs: number
  readonly failures: Failures
  /** Asks the server of a key; resolves with whether the server answered. Never rejects. */
  readonly probe: (key: string) => Promise<boolean>

  constructor(runner: ScriptRunner, deadlineMs: number, failures: Failures, probe: Breakers['probe']) {
    this.#isCluster = runner.cluster
    this.silence = new Silence(runner, deadlineMs, failures)
    this.deadlineMs = deadlineMs
    this.failures = failures
    this.probe = probe
  }

  /** The breaker of a Redis key. */
  of(key: string): Breaker {
    const number = this.#isCluster ? Math.floor(hashSlotOf(key) / HASH_SLOTS_EACH) : 0
    let breaker = this.#breakers.get(number)
    if (breaker === undefined) {
      breaker = new Breaker(this)
      this.#breakers.set(number, breaker)
    }
    return breaker
  }

  /** How many are open. */
  get open(): number {
    let open = 0
    for (const { isOpen } of this.#breakers.values()) if (isOpen) open++
    return open
  }

  /** The wait of one breaker, lengthened if many are open, and varied so that the processes of a fleet are out of step. */
  spread(waitMs: number): number {
    return Math.max(waitMs, PROBE_EVERY_MS * (this.open - 1)) * (0.75 + Math.random() / 2)
  }

  /** A breaker has closed: the servers of others may be back as well. */
  hurry(): void {
    const withinMs = Math.min(HURRY_MS * this.open, LONGEST_HURRY_MS)
    for (const breaker of this.#breakers.values()) breaker.hurry(withinMs * Math.random())
  }
}

/**
 * Decides whether a server is asked at all. It opens after three failures in a row. While it is open, only probes are
 * sent; the first probe that is answered in time closes it.
 */
export class Breaker {
  readonly #all: Breakers
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

  constructor(all: Breakers) {
    this.#all = all
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
    if (this.isOpen) this.#all.silence.heard(key)
  }

  /** A call for `key` failed. */
  failed(key: string, error: unknown): void {
    this.error = error
    if (this.isOpen || ++this.#failures < FAILURES) return
    this.#waitMs = FIRST_PROBE_MS
    this.#key = key
    this.#openedMs = performance.now()
    this.#all.failures.breaker('open', error)
    this.#probeLater()
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
        const isStuck = !this.#all.silence.probeFailed(this.#key, false)
        this.#probeAgain(Math.min(this.#waitMs * 2, isStuck ? LONGEST_STUCK_MS : LONGEST_PROBE_MS))
      })
    }, this.#all.deadlineMs).unref()
    const isAnswered = await this.#all.probe(this.#key)
    isOver = true
    clearTimeout(timer)
    if (isAnswered) this.#all.silence.heard(this.#key)
    if (!this.isOpen) return
    if (isAnswered && !isLate) this.#close()
    else if (!isLate) {
      this.#all.silence.probeFailed(this.#key, true)
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
    this.#all.hurry()
    this.#all.failures.breaker('closed', undefined)
  }

  #probeAgain(waitMs: number): void {
    this.#waitMs = waitMs
    if (performance.now() - this.#openedMs > LONG_MS) this.#all.failures.longOutage()
    this.#probeLater()
  }

  #probeLater(): void {
    this.#probeIn(this.#all.spread(this.#waitMs))
  }
}
