import type { Appointment } from '../waiting/agenda.js'
import { Heap, type Placed } from '../waiting/heap.js'
import type { Turn } from './shaper.js'
import type { Call } from './turn-options.js'

/** Something that is to be done at a time. */
export interface Due extends Appointment {
  due(nowMs: number): void
}

/** Somebody who waits. */
export interface Waiter extends Placed {
  readonly line: Line
  readonly cost: number
  /** Who has a lower one leaves earlier, and of equal ones who came earlier. */
  readonly rank: number
  readonly arrival: number
  readonly runs: boolean
  readonly resolve: (turn: Turn) => void
  readonly reject: (error: unknown) => void
  /** Forgets what else may end the waiting. */
  forget: (() => void) | undefined
}

/** Those of a key who wait, in the order in which they leave. */
export class Line implements Due {
  readonly key: string
  /** Units of all who wait. */
  waiting = 0
  place = -1
  atMs = 0
  rank = 0
  order = 0
  readonly due: (nowMs: number) => void
  readonly #waiters = new Heap<Waiter>(isBefore)
  /** How many places a step of priority is worth. */
  readonly #step: number
  #arrivals = 0
  #lastRank = -Infinity

  constructor(key: string, step: number, due: (line: Line, nowMs: number) => void) {
    this.key = key
    this.#step = step
    this.due = (nowMs) => due(this, nowMs)
  }

  get size(): number {
    return this.#waiters.size
  }

  get first(): Waiter | undefined {
    return this.#waiters.first
  }

  /** Who leaves after all others; to find that one takes a look at each. */
  get last(): Waiter | undefined {
    return this.#waiters.last
  }

  /** How many leave before somebody who waits; to find that takes a look at each. */
  countBefore(waiter: Waiter): number {
    return this.#waiters.countBefore(waiter)
  }

  /** Units of those who would leave before one who comes now. Unless that is everybody, it takes a look at each. */
  waitingBefore(priority: number): number {
    const rank = this.#rankOf(priority)
    if (rank >= this.#lastRank) return this.waiting
    return this.#waiters.reduce((units, waiter) => (waiter.rank <= rank ? units + waiter.cost : units), 0)
  }

  join({ cost, priority, runs }: Call, resolve: (turn: Turn) => void, reject: (error: unknown) => void): Waiter {
    const rank = this.#rankOf(priority)
    const arrival = this.#arrivals++
    const waiter: Waiter = { line: this, cost, rank, arrival, runs, resolve, reject, forget: undefined, place: -1 }
    this.#waiters.add(waiter)
    this.waiting += cost
    if (rank > this.#lastRank) this.#lastRank = rank
    return waiter
  }

  leave(waiter: Waiter): void {
    this.#waiters.remove(waiter)
    this.waiting -= waiter.cost
  }

  /** Nobody starves by this: who came first is overtaken by those only that come within so many places after it. */
  #rankOf(priority: number): number {
    return this.#arrivals - priority * this.#step
  }
}

function isBefore(one: Waiter, other: Waiter): boolean {
  return one.rank < other.rank || (one.rank === other.rank && one.arrival < other.arrival)
}
