// Imported, so that a test that replaces the global timers does not stop probes.
import { setTimeout } from 'node:timers'
import type { ServiceFailures } from './service-failures.js'

/** The breaker opens after so many failures in a row. */
const FAILURES = 3
/** The first probe follows this long after the breaker opens. Each failed probe doubles the wait, up to the longest. */
const FIRST_PROBE_MS = 10
const LONGEST_PROBE_MS = 500
/** An outage of so many milliseconds is reported. */
const LONG_MS = 5_000

/**
 * Decides whether the service is asked at all. It opens after three failures in a row. While it is open, only probes are
 * sent; the first probe that is answered in time closes it. The Redis store has breakers of its own, because a cluster has
 * many servers and its clients keep silent connections.
 */
export class ServiceBreaker {
  readonly #failures: ServiceFailures
  /** Resolves with whether the service answered in time. Never rejects. */
  readonly #probe: () => Promise<boolean>
  #failed = 0
  #openedMs = 0
  isOpen = false
  /** The latest failure. */
  error: unknown

  constructor(failures: ServiceFailures, probe: () => Promise<boolean>) {
    this.#failures = failures
    this.#probe = probe
  }

  /** A call was answered in time. */
  succeeded(): void {
    this.#failed = 0
  }

  failed(error: unknown): void {
    this.error = error
    if (this.isOpen || ++this.#failed < FAILURES) return
    this.isOpen = true
    this.#openedMs = performance.now()
    this.#failures.breaker('open', error)
    this.#probeAfter(FIRST_PROBE_MS)
  }

  /** Probes after about this long: a random part keeps the processes of a fleet out of step. */
  #probeAfter(waitMs: number): void {
    const run = async () => {
      if (await this.#probe()) return this.#close()
      if (performance.now() - this.#openedMs > LONG_MS) this.#failures.longOutage(this.error)
      this.#probeAfter(Math.min(waitMs * 2, LONGEST_PROBE_MS))
    }
    // An outage is no reason for a process to stay alive.
    setTimeout(() => void run(), waitMs * (0.75 + Math.random() / 2)).unref()
  }

  #close(): void {
    this.#failed = 0
    this.isOpen = false
    this.#failures.breaker('closed', undefined)
  }
}
