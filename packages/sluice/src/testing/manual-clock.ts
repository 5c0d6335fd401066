import type { Clock } from '../clock.js'
import { invalidType, invalidValue } from '../errors.js'

/**
 * A clock that stands still until a test moves it, so that tests never wait. Moving it wakes the callers that wait by it.
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
  readonly #alarms = new Set<Alarm>()

  /** Starts at a time in epoch milliseconds, which may be a fraction. */
  constructor(epochMs: number) {
    const wanted = 'epoch milliseconds from 0, such as Date.UTC(2026, 0, 1)'
    if (typeof epochMs !== 'number') throw invalidType('epochMs', wanted, epochMs)
    if (!(Number.isFinite(epochMs) && epochMs >= 0)) throw invalidValue('epochMs', wanted, epochMs)
    this.#nowMs = epochMs
  }

  now(): number {
    return this.#nowMs
  }

  /**
   * Moves forward by so many milliseconds, or back if they are negative, as a system's clock may. Alarms ring on the way,
   * each at its own time. Code that awaits a promise continues only after the caller has awaited something.
   */
  advance(ms: number): void {
    checkMs(ms)
    const endMs = Math.max(0, wholeMicroseconds(this.#nowMs + ms, Math.round))
    for (let alarm = this.#next(endMs); alarm !== undefined; alarm = this.#next(endMs)) {
      this.#alarms.delete(alarm)
      this.#nowMs = Math.max(this.#nowMs, alarm.atMs)
      alarm.ring()
    }
    this.#nowMs = endMs
  }

  /**
   * `advance` for code that waits: goes from alarm to alarm, and lets all woken code run before it goes on. So each waiter
   * runs at the time of its own turn, and may wait again.
   */
  async advanceAsync(ms: number): Promise<void> {
    checkMs(ms)
    const endMs = this.#nowMs + ms
    await othersHaveRun()
    for (let nextMs = this.nextAlarmMs; nextMs !== undefined && nextMs <= endMs; nextMs = this.nextAlarmMs) {
      this.advance(Math.max(0, nextMs - this.#nowMs))
      await othersHaveRun()
    }
    this.advance(endMs - this.#nowMs)
    await othersHaveRun()
  }

  alarm(atMs: number, ring: () => void): () => void {
    const alarm = { atMs: firstMicrosecondFrom(atMs), ring }
    this.#alarms.add(alarm)
    return () => void this.#alarms.delete(alarm)
  }

  /** When the next alarm rings, in epoch milliseconds; `undefined` if no alarm is set. */
  get nextAlarmMs(): number | undefined {
    return this.#next(Infinity)?.atMs
  }

  /** The earliest alarm until then; of equal times the first that was set. */
  #next(untilMs: number): Alarm | undefined {
    let next: Alarm | undefined
    for (const alarm of this.#alarms) {
      if (alarm.atMs <= untilMs && (next === undefined || alarm.atMs < next.atMs)) next = alarm
    }
    return next
  }
}

function checkMs(value: unknown): void {
  if (typeof value !== 'number') throw invalidType('ms', 'a number of milliseconds', value)
  if (!Number.isFinite(value)) throw invalidValue('ms', 'a number of milliseconds', value)
}

// Captured now, so that a test that replaces the global timers does not stop the clock.
const { setImmediate, setTimeout } = globalThis

/** Resolves after all settled promises and the code that awaits them have run. */
function othersHaveRun(): Promise<void> {
  return new Promise((resolve) => (setImmediate === undefined ? setTimeout(resolve, 0) : setImmediate(resolve)))
}

interface Alarm {
  readonly atMs: number
  readonly ring: () => void
}

/** Rounds to whole microseconds, the unit of limits, so that a thousand steps of 0.1 ms are exactly 100 ms. */
function wholeMicroseconds(ms: number, round: (us: number) => number): number {
  return round(ms * 1000) / 1000
}

/**
 * The first whole microsecond at or after `ms`. Multiplying today's milliseconds rounds, and an alarm that rang too early
 * would be set again.
 */
function firstMicrosecondFrom(ms: number): number {
  const atMs = wholeMicroseconds(ms, Math.ceil)
  return atMs < ms ? wholeMicroseconds(ms, (us) => Math.floor(us) + 1) : atMs
}
