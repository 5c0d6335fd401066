import { invalidType } from './errors.js'

/** Tells the time: epoch milliseconds, fractions welcome. */
export interface Clock {
  now(): number
  /**
   * Calls `ring` once, as soon as the clock says `atMs`, unless the function that is given back was called before. A clock
   * without it is asked again by the process's timers, which is right for clocks that go by themselves.
   */
  alarm?(atMs: number, ring: () => void): () => void
}

// Held, because the global is a getter, and asking it takes a tenth of the time that a decision does.
const { performance } = globalThis
const originMs = performance.timeOrigin

/** The process's own clock. It starts at the epoch's time and never steps back afterwards, whatever the system's does. */
export const systemClock: Clock = Object.freeze({ now: () => originMs + performance.now() })

/** A timer cannot be set further ahead. */
const LONGEST_MS = 2 ** 31 - 1

/** Calls `ring` once when the clock says `atMs`, never before and never at once. Gives a function that stops it. */
export function setAlarm(clock: Clock, atMs: number, ring: () => void): () => void {
  return alarmOf(clock, atMs, ring, 0)
}

/** An exact alarm is awake so much before its time at most, and for such a share of all its time. */
const AWAKE_MS = 0.5
const AWAKE_SHARE = 0.05

/**
 * The same, but not late by a timer's millisecond: the last fraction of one is waited for awake, while everything else runs
 * as it does, if that is little beside the whole wait.
 */
export function setExactAlarm(clock: Clock, atMs: number, ring: () => void): () => void {
  const canBeAwake = typeof setImmediate === 'function'
  return alarmOf(clock, atMs, ring, canBeAwake ? Math.min(AWAKE_MS, AWAKE_SHARE * (atMs - clock.now())) : 0)
}

function alarmOf(clock: Clock, atMs: number, ring: () => void, awakeMs: number): () => void {
  if (clock.alarm !== undefined) return clock.alarm(atMs, ring)
  let timer: ReturnType<typeof setTimeout>
  let immediate: ReturnType<typeof setImmediate> | undefined
  const sleep = (leftMs: number) => {
    timer = setTimeout(look, timerMs(leftMs - awakeMs))
  }
  const look = () => {
    const leftMs = atMs - clock.now()
    if (leftMs <= 0) ring()
    else if (leftMs <= awakeMs) immediate = setImmediate(look)
    else sleep(leftMs)
  }
  sleep(atMs - clock.now())
  return () => {
    clearTimeout(timer)
    if (immediate !== undefined) clearImmediate(immediate)
  }
}

/** Timers know whole milliseconds, and none is 1. */
function timerMs(ms: number): number {
  return Math.min(LONGEST_MS, Math.max(1, Math.ceil(ms)))
}

/** Checks an option that may be a clock. */
export function checkClock(value: unknown): Clock | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'object' || value === null || typeof (value as Clock).now !== 'function')
    throw invalidType('clock', 'an object with a method now() that returns epoch milliseconds', value)
  const { alarm } = value as Clock
  if (alarm !== undefined && typeof alarm !== 'function') throw invalidType('clock.alarm', 'a function', alarm)
  return value as Clock
}
