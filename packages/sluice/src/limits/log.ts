import type { Arithmetic, Report, Taken, Twin, Words } from './arithmetic.js'
import { ceilMs, type Decision } from './decision.js'
import type { Concurrency, SlidingLog } from './limit.js'

/** The most units that are remembered one by one. */
export const LARGEST_LOG = 1_000_000

const HEAD = 0
const COUNT = 1
const SIZE = 2
const RING = 3

/**
 * Each unit has a time, and leaves a window later unless it is given back before: how a sliding log counts what came, and
 * a concurrency limit what is in flight.
 *
 * State: [place of the oldest, how many, how many there is room for, timestamps in a ring, oldest first].
 */
export class LogArithmetic implements Arithmetic {
  readonly limit: SlidingLog | Concurrency
  readonly quota: number
  readonly words = RING
  readonly elastic = true
  readonly shape: string
  readonly portable = false
  readonly twin: Twin
  private readonly windowUs: number

  constructor(limit: SlidingLog | Concurrency, quota: number, windowUs: number) {
    this.limit = limit
    this.quota = quota
    this.windowUs = windowUs
    this.twin = new LogTwin(this, windowUs)
    this.shape = `${limit.algorithm}/${windowUs}`
  }

  start(words: Words, at: number, _nowUs: number): void {
    words[at + HEAD] = 0
    words[at + COUNT] = 0
    words[at + SIZE] = words.length - at - RING
  }

  fits(words: Words, at: number, nowUs: number, cost: number): boolean {
    return cost <= this.quota && this.leavesUs(words, at, cost) <= this.takenUs(words, at, nowUs) - this.windowUs
  }

  take(words: Words, at: number, nowUs: number, cost: number): void {
    this.append(words, at, nowUs, this.taking(words, at, nowUs, cost), 0)
  }

  takeToo(words: Words, at: number, nowUs: number, cost: number): void {
    const left = Math.min(2 * this.quota, words[at + SIZE])
    const dropped = Math.max(0, this.live(words, at, nowUs) + cost - left)
    this.append(words, at, nowUs, Math.min(cost, left), dropped)
  }

  tryTake(words: Words, at: number, nowUs: number, cost: number): Decision {
    const allowed = this.fits(words, at, nowUs, cost)
    if (allowed && cost > 0) this.take(words, at, nowUs, cost)
    return this.decision(words, at, nowUs, cost, allowed)
  }

  decision(words: Words, at: number, nowUs: number, cost: number, allowed: boolean): Decision {
    const live = words[at + COUNT] - this.expired(words, at, this.takenUs(words, at, nowUs))
    const costUs = allowed ? 0 : this.leavesUs(words, at, cost)
    const nextUs = live === 0 ? 0 : this.leavesUs(words, at, Math.max(0, this.quota - live) + 1)
    return this.describe(nowUs, live, this.newestUs(words, at), costUs, nextUs, cost, allowed)
  }

  /**
   * The answer for `live` units inside the window, when `cost` fits as soon as what was taken at one time has left, and one
   * more unit when what was taken at another has.
   */
  describe(
    nowUs: number,
    live: number,
    newestUs: number,
    costUs: number,
    nextUs: number,
    cost: number,
    allowed: boolean,
  ): Decision {
    return {
      allowed,
      quota: this.quota,
      remaining: Math.max(0, this.quota - live),
      retryAfterMs: allowed ? 0 : cost > this.quota ? Infinity : ceilMs(costUs - nowUs + this.windowUs),
      nextUnitAfterMs: live === 0 ? 0 : ceilMs(nextUs - nowUs + this.windowUs),
      resetAfterMs: live === 0 ? 0 : ceilMs(newestUs - nowUs + this.windowUs),
      delayMs: 0,
    }
  }

  /** Gives up the newest; of what was `taken`, the newest that are no newer, so that others' units keep their times. */
  refund(words: Words, at: number, nowUs: number, units: number, taken: Taken | undefined): void {
    const laterUs = this.takenUs(words, at, nowUs)
    const expired = this.expired(words, at, laterUs)
    const count = words[at + COUNT]
    const end = taken === undefined ? count : this.countUntil(words, at, taken.atUs)
    const given = Math.min(units, Math.max(0, end - expired))
    for (let i = end; i < count; i++) words[this.place(words, at, i - given)] = words[this.place(words, at, i)]
    words[at + COUNT] = count - given
  }

  isWhole(words: Words, at: number, nowUs: number): boolean {
    return words[at + COUNT] === 0 || this.newestUs(words, at) <= nowUs - this.windowUs
  }

  adopt(words: Words, at: number, _nowUs: number, from: Arithmetic, fromWords: Words, fromAt: number): void {
    const previous = from as LogArithmetic
    const count = fromWords[fromAt + COUNT]
    this.start(words, at, 0)
    // A smaller quota remembers the newest that it can be in debt for.
    const kept = Math.min(count, words[at + SIZE])
    for (let i = 0; i < kept; i++) words[at + RING + i] = fromWords[previous.place(fromWords, fromAt, count - kept + i)]
    words[at + COUNT] = kept
  }

  wordsFor(words: Words, at: number, nowUs: number, cost: number): number {
    return RING + this.live(words, at, nowUs) + this.taking(words, at, nowUs, cost)
  }

  /** A log remembers no more than a debt of one quota. */
  private taking(words: Words, at: number, nowUs: number, cost: number): number {
    return Math.max(0, Math.min(cost, 2 * this.quota - this.live(words, at, nowUs)))
  }

  private live(words: Words, at: number, nowUs: number): number {
    return words[at + COUNT] - this.expired(words, at, this.takenUs(words, at, nowUs))
  }

  /** Adds units, without what has expired and so many of the oldest besides. */
  private append(words: Words, at: number, nowUs: number, units: number, dropped: number): void {
    const laterUs = this.takenUs(words, at, nowUs)
    const gone = Math.min(words[at + COUNT], this.expired(words, at, laterUs) + dropped)
    const size = words[at + SIZE]
    const kept = words[at + COUNT] - gone
    words[at + HEAD] = size === 0 ? 0 : (words[at + HEAD] + gone) % size
    words[at + COUNT] = kept + units
    for (let i = kept; i < kept + units; i++) words[this.place(words, at, i)] = laterUs
  }

  /**
   * When the last of those was taken that have to leave before `cost` fits: the oldest that are too many. A timestamp leaves
   * exactly one window after it was taken, so a window is half open.
   */
  private leavesUs(words: Words, at: number, cost: number): number {
    const tooMany = words[at + COUNT] + cost - this.quota
    return tooMany <= 0 ? -Infinity : words[this.place(words, at, tooMany - 1)]
  }

  /** How many of the oldest have left the window. */
  private expired(words: Words, at: number, laterUs: number): number {
    return this.countUntil(words, at, laterUs - this.windowUs)
  }

  /** How many were taken at `us` or before: a binary search, for timestamps never go back. */
  private countUntil(words: Words, at: number, us: number): number {
    let low = 0
    let high = words[at + COUNT]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (words[this.place(words, at, middle)] <= us) low = middle + 1
      else high = middle
    }
    return low
  }

  private newestUs(words: Words, at: number): number {
    const count = words[at + COUNT]
    return count === 0 ? -Infinity : words[this.place(words, at, count - 1)]
  }

  takenUs(words: Words, at: number, nowUs: number): number {
    return Math.max(nowUs, this.newestUs(words, at))
  }

  private place(words: Words, at: number, index: number): number {
    const size = words[at + SIZE]
    const place = words[at + HEAD] + index
    return at + RING + (place < size ? place : place - size)
  }
}

/** Reports the units inside the window, the newest's time, and when those were taken that the cost and one more unit wait for. */
class LogTwin implements Twin {
  readonly parameters: readonly number[]
  readonly reportLength = 4
  readonly #arithmetic: LogArithmetic

  constructor(arithmetic: LogArithmetic, windowUs: number) {
    this.#arithmetic = arithmetic
    this.parameters = [windowUs, arithmetic.quota]
  }

  decision({ numbers, at, nowUs }: Report, cost: number, allowed: boolean): Decision {
    const [live, newestUs, costUs, nextUs] = [numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]]
    return this.#arithmetic.describe(nowUs, live, newestUs, costUs, nextUs, cost, allowed)
  }

  takenUs({ numbers, at, nowUs }: Report): number {
    return Math.max(nowUs, numbers[at + 1])
  }
}
