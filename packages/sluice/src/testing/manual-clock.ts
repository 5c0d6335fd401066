import type { Clock } from '../clock.js'
import { invalidType, invalidValue } from '../errors.js'

/**
 * A clock that stands still until it is moved, so that tests never wait. Whoever waits by it is woken when it is moved.
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

  /** Starts at an instant in epoch milliseconds, fractions welcome. */
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
   * Moves on by so many milliseconds; back, if they are negative, as a clock that was set does. Alarms ring on the way, each
   * when it is its time; what waits for a promise goes on after the caller has awaited something.
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
   * The same for code that waits: goes from alarm to alarm, and lets everything that was woken run before it goes on. So what
   * waits for its turn runs at the time of its turn, and may wait again.
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

  /** When the next alarm rings; nothing if nobody waits. */
  get nextAlarmMs(): number | undefined {
    return this.#next(Infinity)?.atMs
  }

  /** The earliest alarm until then, and of several the one that was set first. */
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

// Held, so that a test that replaces timers does not stop this one.
const { setImmediate, setTimeout } = globalThis

/** Resolves when all promises that are due, and what hangs on them, have run. */
function othersHaveRun(): Promise<void> {
  return new Promise((resolve) => (setImmediate === undefined ? setTimeout(resolve, 0) : setImmediate(resolve)))
}

interface Alarm {
  readonly atMs: number
  readonly ring: () => void
}

/** Which is what limits count in: a thousand steps of 0.1 ms are 100 ms. */
function wholeMicroseconds(ms: number, round: (us: number) => number): number {
  return round(ms * 1000) / 1000
}

/** A float64 of today's milliseconds is rounded when it is multiplied, and an alarm that rang before its time would be set again. */
function firstMicrosecondFrom(ms: number): number {
  const atMs = wholeMicroseconds(ms, Math.ceil)
  return atMs < ms ? wholeMicroseconds(ms, (us) => Math.floor(us) + 1) : atMs
}
