import { type Clock, setAlarm } from '../clock.js'
import { Heap, type Placed } from './heap.js'

/** Something that happens at a time. */
export interface Dated extends Placed {
  /** When, by the clock. */
  dueMs: number
  /** It is time, or later. It may enter itself again, or somebody else. */
  due(nowMs: number): void
}

/** All that is going to happen, with one alarm for the earliest, and none when there is nothing. */
export class Timetable {
  readonly #clock: Clock
  readonly #entries = new Heap<Dated>((one, other) => one.dueMs < other.dueMs)
  #stop: (() => void) | undefined
  #alarmMs = Infinity
  #isRinging = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Enters it, or changes when it is due. */
  enter(entry: Dated, dueMs: number): void {
    entry.dueMs = dueMs
    if (entry.place < 0) this.#entries.add(entry)
    else this.#entries.move(entry)
    this.#arm()
  }

  strike(entry: Dated): void {
    if (entry.place < 0) return
    this.#entries.remove(entry)
    this.#arm()
  }

  /** An alarm that is too early does no harm, and setting it anew would take longer than being woken by it. */
  #arm(): void {
    if (this.#isRinging) return
    const dueMs = this.#entries.first?.dueMs ?? Infinity
    if (dueMs >= this.#alarmMs && dueMs < Infinity) return
    this.#stop?.()
    this.#stop = undefined
    this.#alarmMs = dueMs
    if (dueMs < Infinity) this.#stop = setAlarm(this.#clock, dueMs, () => this.#ring())
  }

  #ring(): void {
    this.#stop = undefined
    this.#alarmMs = Infinity
    this.#isRinging = true
    try {
      const nowMs = this.#clock.now()
      for (let { first } = this.#entries; first !== undefined && first.dueMs <= nowMs; first = this.#entries.first) {
        this.#entries.remove(first)
        first.due(nowMs)
      }
    } finally {
      this.#isRinging = false
      this.#arm()
    }
  }
}
