import { arithmeticOf, type Decision, exactRate, leakyBucket, microseconds, type Rate } from '../limits/index.js'
import type { LeakyBucketArithmetic } from '../limits/leaky-bucket.js'
import { type MemoryStore, memoryStore } from '../stores/index.js'
import { NO_KEY } from './queue-shaper.js'

/** A delay of less than a microsecond is no delay. */
const LEAST_US = 1

/** A queue asks for a slot this much before its time: a rounded time would lose a fraction of a microsecond. */
export const EARLY_US = 1

/** What a queue asks for its slots. `UnratedSchedule` is that of a shaper without a rate. */
export interface SlotSchedule {
  /** The length of a slot of one unit. */
  readonly usPerUnit: number
  /** Slots are taken early, so `remaining` says this much more than the capacity of the queue. */
  readonly slack: number
  /** Takes a slot as of `atMs`; it comes `delayMs` later. A cost of 0 takes nothing. */
  take(key: string, atMs: number, cost: number): Pick<Decision, 'allowed' | 'remaining' | 'delayMs' | 'retryAfterMs'>
  /** Takes a slot if one comes now, and returns whether it did. */
  takeAtOnce(key: string, nowMs: number, cost: number): boolean
  takeBack(key: string, atMs: number, cost: number, delayMs: number): void
  forget(key: string): void
}

/**
 * The slots that have been taken, in a leaky bucket for each key. The buckets are in a memory store whose clock says the
 * time that `take` is told, because a slot is taken at the time for which it was meant. Callers without a key are all
 * callers of many programs: they have one bucket of their own outside of the store, which is faster.
 */
export class Schedule implements SlotSchedule {
  readonly usPerUnit: number
  readonly slack: number
  readonly #name: string
  readonly #bucket: LeakyBucketArithmetic
  readonly #words: Float64Array
  readonly #store: MemoryStore
  /** The time that the store's clock says. */
  #askedMs = 0

  constructor(name: string, capacity: number, drain: Rate) {
    const { units, perUs } = exactRate('drain', drain)
    this.usPerUnit = Number(perUs) / Number(units)
    this.slack = Math.ceil((2 * EARLY_US) / this.usPerUnit) + 1
    this.#name = name
    this.#bucket = arithmeticOf(leakyBucket({ capacity: capacity + this.slack, drain })) as LeakyBucketArithmetic
    this.#words = new Float64Array(this.#bucket.words)
    this.#bucket.start(this.#words, 0, 0)
    this.#store = memoryStore({ clock: { now: () => this.#askedMs } })
  }

  take(key: string, atMs: number, cost: number): Decision {
    if (key === NO_KEY) return this.#bucket.tryTake(this.#words, 0, microseconds(atMs), cost)
    this.#askedMs = atMs
    return this.#store.decideOne(this.#name, this.#bucket.limit, key, cost)
  }

  takeAtOnce(key: string, nowMs: number, cost: number): boolean {
    if (key === NO_KEY) return this.#bucket.takeWithin(this.#words, 0, microseconds(nowMs), cost, LEAST_US)
    const { allowed, delayMs } = this.take(key, nowMs, cost)
    if (!allowed || delayMs * 1000 < LEAST_US) return allowed
    this.takeBack(key, nowMs, cost, delayMs)
    return false
  }

  takeBack(key: string, atMs: number, cost: number, delayMs: number): void {
    const taken = { atUs: microseconds(atMs), cost, delayMs }
    if (key === NO_KEY) this.#bucket.refund(this.#words, 0, taken.atUs, cost, taken)
    else this.#store.refund({ name: this.#name, limit: this.#bucket.limit, key, cost }, taken)
  }

  forget(key: string): void {
    if (key === NO_KEY) this.#bucket.start(this.#words, 0, 0)
    else this.#store.reset(this.#name, key)
  }
}
