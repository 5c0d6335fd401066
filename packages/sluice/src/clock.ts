import { invalidType } from './errors.js'

/** Tells the time in epoch milliseconds. Fractions of a millisecond are welcome. */
export interface Clock {
  now(): number
  /**
   * Calls `ring` once, as soon as the clock says `atMs`, unless the returned function is called before. Optional: for a
   * clock without it, timers of the process are used, which is right for every clock that moves by itself.
   */
  alarm?(atMs: number, ring: () => void): () => void
}

// Kept in a variable, because the global is a getter: to read it takes a tenth of the time of a decision.
const { performance } = globalThis
const originMs = performance.timeOrigin

/** The clock of this process. It starts at the system's time, and never steps back, even if the system's clock does. */
export const systemClock: Clock = Object.freeze({ now: () => originMs + performance.now() })

/**
 * Timers are late. Slots that have passed no longer ago than this are still used, so that the rate is kept. Older ones are
 * lost, so that a process that was held up does not let a crowd leave at once.
 */
export const CATCH_UP_MS = 20

/** The longest delay that setTimeout accepts. */
const LONGEST_MS = 2 ** 31 - 1

/** Calls `ring` once when the clock says `atMs`: never before, and never synchronously. Returns a function that stops it. */
export function setAlarm(clock: Clock, atMs: number, ring: () => void): () => void {
  return startAlarm(clock, atMs, ring, 0)
}

/** Like `setAlarm`, but its timer does not keep the process alive. */
export function setQuietAlarm(clock: Clock, atMs: number, ring: () => void): () => void {
  return startAlarm(clock, atMs, ring, 0, true)
}

/** An exact alarm polls for at most this long before its time, and for at most this share of the whole wait. */
const POLL_MS = 0.5
const POLL_SHARE = 0.05

/**
 * Like `setAlarm`, but not late by up to a timer's millisecond. The timer is set early, and the rest of the wait is polled
 * by `setImmediate`, while other work of the process goes on. Example: for a wait of 10 ms the timer is set 0.5 ms early;
 * for a wait of 2 ms, 0.1 ms early.
 */
export function setExactAlarm(clock: Clock, atMs: number, ring: () => void): () => void {
  const canPoll = typeof setImmediate === 'function'
  return startAlarm(clock, atMs, ring, canPoll ? Math.min(POLL_MS, POLL_SHARE * (atMs - clock.now())) : 0)
}

function startAlarm(clock: Clock, atMs: number, ring: () => void, pollMs: number, isQuiet = false): () => void {
  if (clock.alarm !== undefined) return clock.alarm(atMs, ring)
  let timer: ReturnType<typeof setTimeout>
  let immediate: ReturnType<typeof setImmediate> | undefined
  const sleep = (leftMs: number) => {
    timer = setTimeout(look, timerMs(leftMs - pollMs))
    // A browser's timer is a number.
    if (isQuiet && typeof timer === 'object') timer.unref()
  }
  const look = () => {
    const leftMs = atMs - clock.now()
    if (leftMs <= 0) ring()
    else if (leftMs <= pollMs) immediate = setImmediate(look)
    else sleep(leftMs)
  }
  sleep(atMs - clock.now())
  return () => {
    clearTimeout(timer)
    if (immediate !== undefined) clearImmediate(immediate)
  }
}

/** Resolves after `ms` by the clock. Rejects with the signal's reason as soon as that is aborted. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) throw signal.reason
    const stop = setAlarm(clock, clock.now() + ms, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    const onAbort = () => {
      stop()
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** setTimeout takes whole milliseconds; 0 counts as 1. */
function timerMs(ms: number): number {
  return Math.min(LONGEST_MS, Math.max(1, Math.ceil(ms)))
}

/** Checks an optional clock. */
export function checkClock(value: unknown): Clock | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'object' || value === null || typeof (value as Clock).now !== 'function')
    throw invalidType('clock', 'an object with a method now() that returns epoch milliseconds', value)
  const { alarm } = value as Clock
  if (alarm !== undefined && typeof alarm !== 'function') throw invalidType('clock.alarm', 'a function', alarm)
  return value as Clock
}
