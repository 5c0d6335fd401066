import type { Clock } from '../clock.js'
import { invalidValue } from '../errors.js'

/**
 * A clock that stands still until it is moved, so that tests never wait.
 *
 * @example
 * ```ts
 * import { createLimiter, tokenBucket } from 'sluice'
 * import { ManualClock } from 'sluice/testing'
 *
 * const clock = new ManualClock(Date.UTC(2026, 0, 1))
 * const limiter = createLimiter({ limit: tokenBucket({ capacity: 1, refill: '1/s' }), clock })
 * limiter.tryAcquire('key')
 * clock.advance(1000)
 * console.log(limiter.tryAcquire('key').allowed) // true
 * ```
 */
export class ManualClock implements Clock {
  #nowMs: number

  /** Starts at an instant in epoch milliseconds, fractions welcome. */
  constructor(epochMs: number) {
    if (!(Number.isFinite(epochMs) && epochMs >= 0)) throw invalidValue('epochMs', 'epoch milliseconds from 0', epochMs)
    this.#nowMs = epochMs
  }

  now(): number {
    return this.#nowMs
  }

  /** Moves on by so many milliseconds; back, if they are negative, as a clock that was set does. */
  advance(ms: number): void {
    if (!Number.isFinite(ms)) throw invalidValue('ms', 'a number of milliseconds', ms)
    // Whole microseconds, which is what limits count in: a thousand steps of 0.1 ms are 100 ms.
    this.#nowMs = Math.max(0, Math.round((this.#nowMs + ms) * 1000) / 1000)
  }
}
