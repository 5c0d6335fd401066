import { AsyncResource } from 'node:async_hooks'
import { type Clock, setAlarm } from '../../clock.js'

/** Something that is due at a time. It is in one agenda at most, and whoever made it changes none of this. */
export interface Appointment {
  atMs: number
  /** Of those that are due at the same time, the lowest comes first. */
  rank: number
  /** Of those of equal rank, the one that was made first. */
  order: number
  /** Where in the agenda it is; -1 if it is in none. */
  place: number
}

/**
 * Where no request is: a timer keeps the context that it was set in, and hands it on to the next, which would keep one
 * request's for as long as anybody waits.
 */
const outside = new AsyncResource('SluiceAlarm')

/** Appointments by time, with one alarm for all of them and none when there are none. A binary heap. */
export class Agenda<A extends Appointment> {
  readonly #clock: Clock
  readonly #due: (appointment: A) => void
  readonly #heap: A[] = []
  #made = 0
  #isRinging = false
  #alarmMs: number | undefined
  #stopAlarm: (() => void) | undefined

  constructor(clock: Clock, due: (appointment: A) => void) {
    this.#clock = clock
    this.#due = due
  }

  /** Makes an appointment, or moves it. */
  set(appointment: A, atMs: number): void {
    this.#remove(appointment)
    // Whole microseconds, as clocks have: an alarm that rang a fraction too early would have to be set again.
    appointment.atMs = Math.ceil(atMs * 1000) / 1000
    appointment.order = this.#made++
    this.#rise(appointment, this.#heap.length)
    this.#setAlarm()
  }

  drop(appointment: A): void {
    if (appointment.place === -1) return
    this.#remove(appointment)
    this.#setAlarm()
  }

  /** Does at once what is due already, if the alarm is late. */
  catchUp(): void {
    if (this.#isRinging || this.#heap.length === 0 || this.#heap[0].atMs > this.#clock.now()) return
    this.#stopAlarm?.()
    this.#ring()
  }

  #setAlarm(): void {
    if (this.#isRinging) return
    const nextMs = this.#heap[0]?.atMs
    if (nextMs === this.#alarmMs) return
    this.#stopAlarm?.()
    this.#alarmMs = nextMs
    this.#stopAlarm =
      nextMs === undefined
        ? undefined
        : outside.runInAsyncScope(setAlarm, undefined, this.#clock, nextMs, () => this.#ring())
  }

  #ring(): void {
    this.#alarmMs = undefined
    this.#stopAlarm = undefined
    this.#isRinging = true
    const nowMs = this.#clock.now()
    try {
      for (let next = this.#heap[0]; next !== undefined && next.atMs <= nowMs; next = this.#heap[0]) {
        this.#remove(next)
        this.#due(next)
      }
    } finally {
      this.#isRinging = false
      this.#setAlarm()
    }
  }

  #remove(appointment: A): void {
    const { place } = appointment
    if (place === -1) return
    appointment.place = -1
    const last = this.#heap.pop() as A
    if (last === appointment) return
    this.#rise(last, place)
    if (last.place === place) this.#sink(last, place)
  }

  #rise(appointment: A, from: number): void {
    let place = from
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!isBefore(appointment, this.#heap[above])) break
      this.#put(this.#heap[above], place)
      place = above
    }
    this.#put(appointment, place)
  }

  #sink(appointment: A, from: number): void {
    const heap = this.#heap
    let place = from
    for (let below = 2 * place + 1; below < heap.length; below = 2 * place + 1) {
      if (below + 1 < heap.length && isBefore(heap[below + 1], heap[below])) below++
      if (!isBefore(heap[below], appointment)) break
      this.#put(heap[below], place)
      place = below
    }
    this.#put(appointment, place)
  }

  #put(appointment: A, place: number): void {
    this.#heap[place] = appointment
    appointment.place = place
  }
}

function isBefore(one: Appointment, other: Appointment): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs
  return one.rank === other.rank ? one.order < other.order : one.rank < other.rank
}
