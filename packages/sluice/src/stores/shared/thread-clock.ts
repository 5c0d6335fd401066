import type { Clock } from '../../clock.js'

/** A moment by two clocks: that of the day, and the one that all threads of a process share. */
export interface ClockAnchor {
  readonly epochMs: number
  /** What `process.hrtime()` said. */
  readonly seconds: number
  readonly nanoseconds: number
}

/** The moment now. */
export function clockAnchor(): ClockAnchor {
  const [seconds, nanoseconds] = process.hrtime()
  return { epochMs: Date.now(), seconds, nanoseconds }
}

/**
 * A clock that says the same in every thread of the process. It starts at the system's time and never steps back.
 * `systemClock` would not do: each thread has its own `performance.timeOrigin`, and they differ by milliseconds.
 */
export function threadClock({ epochMs, seconds, nanoseconds }: ClockAnchor): Clock {
  const { hrtime } = process
  return Object.freeze({
    now() {
      const time = hrtime()
      return epochMs + (time[0] - seconds) * 1e3 + (time[1] - nanoseconds) / 1e6
    },
  })
}
