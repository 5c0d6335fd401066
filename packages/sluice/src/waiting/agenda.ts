import { AsyncResource } from 'node:async_hooks'
import type { Clock, setAlarm } from '../clock.js'
import { Heap, type Placed } from './heap.js'

/** Something that is due at a time. It is in one agenda at most, and whoever made it changes none of this. */
export interface Appointment extends Placed {
  atMs: number
  /** Of those that are due at the same time, the lowest comes first. */
  rank: number
  /** Of those of equal rank, the one that was made first. */
  order: number
}

/**
 * Where no request is: a timer keeps the context that it was set in, and hands it on to the next, which would keep one
 * request's for as long as anybody waits.
 */
const outside = new AsyncResource('SluiceAlarm')

/** Appointments by time, with one alarm for all of them and none when there are none. */
export class Agenda<A extends Appointment> {
  readonly #clock: Clock
  readonly #set: typeof setAlarm
  readonly #due: (appointment: A, nowMs: number) => void
  readonly #appointments = new Heap<A>(isBefore)
  #made = 0
  #isRinging = false
  #alarmMs: number | undefined
  #stopAlarm: (() => void) | undefined

  constructor(clock: Clock, set: typeof setAlarm, due: (appointment: A, nowMs: number) => void) {
    this.#clock = clock
    this.#set = set
    this.#due = due
  }

  /** Makes an appointment, or moves it. */
  set(appointment: A, atMs: number): void {
    if (appointment.place >= 0) this.#appointments.remove(appointment)
    // Whole microseconds, as clocks have: an alarm that rang a fraction too early would have to be set again. Never earlier
    // than was said, which rounding may make of it.
    appointment.atMs = Math.max(atMs, Math.ceil(atMs * 1000) / 1000)
    appointment.order = this.#made++
    this.#appointments.add(appointment)
    this.#setAlarm()
  }

  drop(appointment: A): void {
    if (appointment.place < 0) return
    this.#appointments.remove(appointment)
    this.#setAlarm()
  }

  /** Does at once what is due already, if the alarm is late. */
  catchUp(): void {
    const { first } = this.#appointments
    if (this.#isRinging || first === undefined || first.atMs > this.#clock.now()) return
    this.#stopAlarm?.()
    this.#ring()
  }

  #setAlarm(): void {
    if (this.#isRinging) return
    const nextMs = this.#appointments.first?.atMs
    if (nextMs === this.#alarmMs) return
    this.#stopAlarm?.()
    this.#alarmMs = nextMs
    this.#stopAlarm =
      nextMs === undefined
        ? undefined
        : outside.runInAsyncScope(this.#set, undefined, this.#clock, nextMs, () => this.#ring())
  }

  #ring(): void {
    this.#alarmMs = undefined
    this.#stopAlarm = undefined
    this.#isRinging = true
    const nowMs = this.#clock.now()
    try {
      for (let next = this.#appointments.first; next !== undefined && next.atMs <= nowMs; ) {
        this.#appointments.remove(next)
        this.#due(next, nowMs)
        next = this.#appointments.first
      }
    } finally {
      this.#isRinging = false
      this.#setAlarm()
    }
  }
}

function isBefore(one: Appointment, other: Appointment): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs
  return one.rank === other.rank ? one.order < other.order : one.rank < other.rank
}
