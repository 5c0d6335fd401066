import type { Arithmetic, ElasticState, RemoteArithmetic, Taken, Words } from './arithmetic.js'
import { ceilMs, type Decision } from './decision.js'
import type { Concurrency, SlidingLog } from './limit.js'

/** The largest quota of a log: it remembers each unit. */
export const LARGEST_LOG = 1_000_000

const HEAD = 0
const COUNT = 1
const SIZE = 2
const RING = 3

/**
 * Remembers when each unit was taken. A unit leaves one window after that, unless it is refunded before. A sliding log
 * counts admitted units this way, and a concurrency limit counts units in flight.
 *
 * State: [index of the oldest, how many, size of the ring, timestamps in a ring, oldest first]. The state has an array of
 * its own and begins at its first word, so `at` is always 0.
 */
export class LogArithmetic implements Arithmetic, ElasticState {
  readonly limit: SlidingLog | Concurrency
  readonly quota: number
  readonly words = RING
  readonly elastic: ElasticState = this
  readonly stateId: string
  readonly remote: RemoteArithmetic
  private readonly windowUs: number

  constructor(limit: SlidingLog | Concurrency, quota: number, windowUs: number) {
    this.limit = limit
    this.quota = quota
    this.windowUs = windowUs
    // A report has the units inside the window, the newest unit's time, and the times of the units that `cost` and one more
    // unit wait for.
    this.remote = {
      parameters: [windowUs, quota],
      reportLength: 4,
      decision: ({ numbers, at, nowUs }, cost, allowed) =>
        this.describe(nowUs, numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3], cost, allowed),
      takenUs: ({ numbers, at, nowUs }) => Math.max(nowUs, numbers[at + 1]),
    }
    this.stateId = limit.algorithm === 'concurrency' ? 'concurrency' : `sliding-log/${limit.window}`
  }

  start(words: Words): void {
    words[HEAD] = 0
    words[COUNT] = 0
    words[SIZE] = words.length - RING
  }

  fits(words: Words, _at: number, nowUs: number, cost: number): boolean {
    return cost <= this.quota && this.leavesUs(words, cost) <= this.takenUs(words, 0, nowUs) - this.windowUs
  }

  /** Takes as much of `cost` as the log remembers; `wordsFor` says how many words that takes. */
  take(words: Words, _at: number, nowUs: number, cost: number): void {
    const laterUs = this.takenUs(words, 0, nowUs)
    const units = this.remembered(words, nowUs, cost)
    const expired = this.expired(words, laterUs)
    const size = words[SIZE]
    const kept = words[COUNT] - expired
    words[HEAD] = size === 0 ? 0 : (words[HEAD] + expired) % size
    words[COUNT] = kept + units
    for (let i = kept; i < kept + units; i++) words[indexOf(words, i)] = laterUs
  }

  tryTake(words: Words, at: number, nowUs: number, cost: number): Decision {
    const allowed = this.fits(words, at, nowUs, cost)
    if (allowed && cost > 0) this.take(words, at, nowUs, cost)
    return this.decision(words, at, nowUs, cost, allowed)
  }

  decision(words: Words, _at: number, nowUs: number, cost: number, allowed: boolean): Decision {
    const live = this.live(words, nowUs)
    const costUs = allowed ? 0 : this.leavesUs(words, cost)
    const next = Math.min(Math.max(0, this.quota - live) + 1, this.quota)
    const nextUs = live === 0 ? 0 : this.leavesUs(words, next)
    return this.describe(nowUs, live, newestUs(words), costUs, nextUs, cost, allowed)
  }

  level(words: Words, _at: number, nowUs: number): number {
    return Math.max(0, this.quota - this.live(words, nowUs))
  }

  /**
   * The decision for `live` units inside the window. `cost` fits once the unit taken at `costUs` has left, and one more
   * unit fits once the unit taken at `nextUs` has left.
   */
  private describe(
    nowUs: number,
    live: number,
    lastUs: number,
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
      resetAfterMs: live === 0 ? 0 : ceilMs(lastUs - nowUs + this.windowUs),
      delayMs: 0,
    }
  }

  /** Removes the newest units; with `taken`, the newest that are no newer than it, so that other units keep their times. */
  refund(words: Words, _at: number, nowUs: number, units: number, taken: Taken | undefined): boolean {
    const expired = this.expired(words, this.takenUs(words, 0, nowUs))
    const count = words[COUNT]
    const end = taken === undefined ? count : countUntil(words, taken.atUs)
    const removed = Math.min(units, Math.max(0, end - expired))
    for (let i = end; i < count; i++) words[indexOf(words, i - removed)] = words[indexOf(words, i)]
    words[COUNT] = count - removed
    return removed > 0
  }

  /** If the clock stepped back, the newest unit's time counts as now. */
  takenUs(words: Words, _at: number, nowUs: number): number {
    return Math.max(nowUs, newestUs(words))
  }

  isWhole(words: Words, _at: number, nowUs: number): boolean {
    return words[COUNT] === 0 || newestUs(words) <= nowUs - this.windowUs
  }

  wordsFor(words: Words, nowUs: number, cost: number): number {
    return RING + this.live(words, nowUs) + this.remembered(words, nowUs, cost)
  }

  resized(words: Words, size: number): Words {
    const copy = new Float64Array(size)
    this.start(copy)
    const count = words[COUNT]
    const kept = Math.min(count, size - RING)
    for (let i = 0; i < kept; i++) copy[RING + i] = words[indexOf(words, count - kept + i)]
    copy[COUNT] = kept
    return copy
  }

  /** How many of `cost` units a log remembers: a debt of one quota at most. */
  private remembered(words: Words, nowUs: number, cost: number): number {
    return Math.max(0, Math.min(cost, 2 * this.quota - this.live(words, nowUs)))
  }

  /** How many units are inside the window. */
  private live(words: Words, nowUs: number): number {
    return words[COUNT] - this.expired(words, this.takenUs(words, 0, nowUs))
  }

  /**
   * When the last unit was taken that has to leave before `cost` fits. A unit leaves exactly one window after it was
   * taken, so a window is half open.
   */
  private leavesUs(words: Words, cost: number): number {
    const tooMany = words[COUNT] + cost - this.quota
    return tooMany <= 0 ? -Infinity : words[indexOf(words, tooMany - 1)]
  }

  /** How many of the oldest units have left the window. */
  private expired(words: Words, laterUs: number): number {
    return countUntil(words, laterUs - this.windowUs)
  }
}

/** How many units were taken at `us` or before: a binary search, because timestamps never go back. */
function countUntil(words: Words, us: number): number {
  let low = 0
  let high = words[COUNT]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (words[indexOf(words, middle)] <= us) low = middle + 1
    else high = middle
  }
  return low
}

function newestUs(words: Words): number {
  const count = words[COUNT]
  return count === 0 ? -Infinity : words[indexOf(words, count - 1)]
}

/** Where in the ring the n-th oldest timestamp is. */
function indexOf(words: Words, n: number): number {
  const index = words[HEAD] + n
  return RING + (index < words[SIZE] ? index : index - words[SIZE])
}
