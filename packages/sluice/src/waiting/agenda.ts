import { AsyncResource } from 'node:async_hooks'
import type { Clock, setAlarm } from '../clock.js'

/** Something to do at a time. It is in one agenda at most, and only that agenda changes its fields. */
export abstract class Appointment {
  atMs = 0
  /** Among appointments of the same time and rank, the first to be set comes first. */
  order = 0
  /** Its index in the agenda's heap; -1 while it is in no agenda. */
  heapIndex = -1
  /** Among appointments of the same time, the lowest rank comes first. */
  readonly rank: number

  constructor(rank = 0) {
    this.rank = rank
  }

  /** Called once when the time has come. By then the appointment is no longer in the agenda, and may be set again. */
  abstract due(nowMs: number): void
}

/** An appointment that calls a function. */
export class Reminder extends Appointment {
  readonly due: () => void

  constructor(due: () => void, rank = 0) {
    super(rank)
    this.due = due
  }
}

/**
 * Alarms are set in this scope. A timer keeps the async context in which it was set, and hands it on to the next timer:
 * set inside a request, it would keep that request's context alive for as long as any caller waits.
 */
const outsideRequests = new AsyncResource('SluiceAlarm')

/** Appointments by time, with one alarm for the earliest, and no alarm when there are no appointments. */
export class Agenda {
  readonly #clock: Clock
  readonly #set: typeof setAlarm
  /** A binary heap: the earliest appointment is at index 0, and no child is earlier than its parent. */
  readonly #heap: Appointment[] = []
  #appointmentsSet = 0
  #isRinging = false
  #alarmMs: number | undefined
  #stopAlarm: (() => void) | undefined

  constructor(clock: Clock, set: typeof setAlarm) {
    this.#clock = clock
    this.#set = set
  }

  /** When the next appointment is due; `undefined` if there is none. */
  get nextMs(): number | undefined {
    return this.#heap[0]?.atMs
  }

  /** Adds the appointment, or moves it if it is already here. */
  set(appointment: Appointment, atMs: number): void {
    if (appointment.heapIndex >= 0) this.#remove(appointment)
    // Rounded up to whole microseconds, the unit of clocks: an alarm that rings a fraction early would have to be set
    // again. The division can round down below `atMs`, which must not happen.
    appointment.atMs = Math.max(atMs, Math.ceil(atMs * 1000) / 1000)
    appointment.order = this.#appointmentsSet++
    this.#rise(appointment, this.#heap.push(appointment) - 1)
    this.#setAlarm()
  }

  drop(appointment: Appointment): void {
    if (appointment.heapIndex < 0) return
    this.#remove(appointment)
    this.#setAlarm()
  }

  /** Handles everything that is due now, if the alarm is late. */
  catchUp(): void {
    const [first] = this.#heap
    if (this.#isRinging || first === undefined || first.atMs > this.#clock.now()) return
    this.#stopAlarm?.()
    this.#ring()
  }

  /** Handles one appointment now if it is due, and only the alarm is late. */
  catchUpWith(appointment: Appointment, nowMs: number): void {
    if (appointment.heapIndex < 0 || appointment.atMs > nowMs) return
    this.drop(appointment)
    appointment.due(nowMs)
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
        : outsideRequests.runInAsyncScope(this.#set, undefined, this.#clock, nextMs, () => this.#ring())
  }

  #ring(): void {
    this.#alarmMs = undefined
    this.#stopAlarm = undefined
    this.#isRinging = true
    const nowMs = this.#clock.now()
    try {
      for (let [next] = this.#heap; next !== undefined && next.atMs <= nowMs; [next] = this.#heap) {
        this.#remove(next)
        next.due(nowMs)
      }
    } finally {
      this.#isRinging = false
      this.#setAlarm()
    }
  }

  #remove(appointment: Appointment): void {
    const { heapIndex } = appointment
    const last = this.#heap.pop() as Appointment
    appointment.heapIndex = -1
    if (last === appointment) return
    if (heapIndex > 0 && isBefore(last, this.#heap[(heapIndex - 1) >> 1])) this.#rise(last, heapIndex)
    else this.#sink(last, heapIndex)
  }

  #rise(appointment: Appointment, from: number): void {
    let index = from
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = this.#heap[above]
      if (!isBefore(appointment, parent)) break
      this.#put(parent, index)
      index = above
    }
    this.#put(appointment, index)
  }

  #sink(appointment: Appointment, from: number): void {
    const { length } = this.#heap
    let index = from
    for (let below = 2 * index + 1; below < length; below = 2 * index + 1) {
      if (below + 1 < length && isBefore(this.#heap[below + 1], this.#heap[below])) below++
      const child = this.#heap[below]
      if (!isBefore(child, appointment)) break
      this.#put(child, index)
      index = below
    }
    this.#put(appointment, index)
  }

  #put(appointment: Appointment, index: number): void {
    this.#heap[index] = appointment
    appointment.heapIndex = index
  }
}

function isBefore(one: Appointment, other: Appointment): boolean {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs
  return one.rank === other.rank ? one.order < other.order : one.rank < other.rank
}
