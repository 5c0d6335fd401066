import { checkOptions } from '../checks/check-options.js'
import { checkUnits } from '../checks/check-value.js'
import { LARGEST_DEBT, type Taken, type Words } from './arithmetic.js'
import { Bucket, LEVEL, SINCE } from './bucket.js'
import type { LeakyBucket } from './limit.js'
import { parseRate } from './rate.js'
import { remember } from './remembered.js'
import { leftAfterUs, type Users } from './users.js'

/** The numbers of a leaky bucket. */
export interface LeakyBucketOptions {
  /** How many units may be in the queue: a whole number from 1. */
  readonly capacity: number
  /** What leaves, at constant spacing: a rate such as `'10/s'`. */
  readonly drain: string
}

/**
 * A queue of `capacity` that leaves at exactly `drain`. An accepted request is told its turn in `delayMs`; a burst on an
 * empty bucket admits `capacity`, the first at once and each next one cost / drain after the one before it.
 *
 * @example
 * ```ts
 * import { leakyBucket } from 'sluice'
 *
 * const bankTransfers = leakyBucket({ capacity: 50, drain: '10/s' })
 * ```
 */
export function leakyBucket(options: LeakyBucketOptions): LeakyBucket {
  return remember(new LeakyBucketArithmetic(options)).limit
}

const LAST_COST = 2
/** The capacity by which the queue was written. */
const ROOM = 3
/** What waits besides, of a queue that was longer than that. */
const EXCESS = 4

/** What people call the drain, wherever it is an option, and what they are told. */
export const DRAIN_HABITS: ReadonlyMap<string, string> = new Map([
  ['rate', "what leaves is called drain, as in { drain: '10/s' }"],
])

/**
 * State: [units in the queue, since, cost of the last slot, capacity then, excess]. What is not queue is free room, the
 * token bucket's level; the queue divided by the drain is the wait. A larger capacity leaves the queue as it is: those in it
 * know their turn. For a smaller one it is as long as fits, or else a queue that is gone in a second at the old drain would
 * keep everybody out for days at the new; what does not fit is excess, which leaves after the queue, and is queue again for
 * those who have the room. A debt, which is beyond the capacity then, stays a debt.
 */
export class LeakyBucketArithmetic extends Bucket {
  readonly limit: LeakyBucket
  readonly words = 5

  constructor(options: LeakyBucketOptions) {
    const given = checkOptions('leakyBucket', options, ['capacity', 'drain'], DRAIN_HABITS)
    const capacity = checkUnits('capacity', given.capacity)
    const drain = parseRate('drain', given.drain)
    super('leaky-bucket', capacity, 'drain', drain)
    this.limit = Object.freeze({ algorithm: 'leaky-bucket', capacity, drain: drain.text })
  }

  override start(words: Words, at: number, nowUs: number): void {
    super.start(words, at, nowUs)
    words[at + LAST_COST] = 0
    words[at + EXCESS] = 0
  }

  protected override takeFrom(words: Words, at: number, nowUs: number, level: number, cost: number): void {
    const excess = this.excess(words, at, nowUs)
    const sinceUs = words[at + SINCE]
    super.takeFrom(words, at, nowUs, level, cost)
    if (excess > 0 && sinceUs > nowUs) words[at + SINCE] = sinceUs
    words[at + EXCESS] = excess
    words[at + LAST_COST] = cost
  }

  /**
   * Only the last slot can be taken back, and only before it departs: whoever queued behind another has been told when
   * to go. A slot is the last when the queue ends where the slot ends.
   */
  override refund(words: Words, at: number, nowUs: number, units: number, taken: Taken | undefined): void {
    const queue = this.full - this.level(words, at, nowUs)
    const lastCost = taken === undefined ? words[at + LAST_COST] : taken.cost
    const slot = lastCost * this.partsPerUnit
    if (queue <= slot || (taken !== undefined && !this.endsAt(words, at, nowUs, queue, slot, taken))) return
    const given = Math.min(units, lastCost)
    const excess = this.excess(words, at, nowUs)
    super.refund(words, at, nowUs, given, taken)
    words[at + EXCESS] = excess
    words[at + LAST_COST] = lastCost - given
  }

  /** Takes a slot if the queue is gone in less than so many microseconds, and says whether it did. */
  takeWithin(words: Words, at: number, nowUs: number, cost: number, leastUs: number): boolean {
    const level = this.level(words, at, nowUs)
    const queue = this.full - level
    if (queue > 0 && queue / this.partsPerUs + Math.max(0, words[at + SINCE] - nowUs) >= leastUs) return false
    this.takeFrom(words, at, nowUs, level, cost)
    return true
  }

  wholeAfterUs(words: Words, at: number, users: Users): number {
    return leftAfterUs(users, words[at + LEVEL] + words[at + EXCESS])
  }

  protected stored(words: Words, at: number): number {
    return this.full - Math.floor(this.ownQueue(words, at) * this.partsPerUnit + 0.5)
  }

  protected store(words: Words, at: number, level: number): void {
    words[at + LEVEL] = (this.full - level) / this.partsPerUnit
    words[at + ROOM] = this.quota
  }

  protected addToDebt(words: Words, at: number, units: number): void {
    words[at + LEVEL] = Math.min(words[at + LEVEL] + units, LARGEST_DEBT)
  }

  /** The queue as it is for this capacity. */
  private ownQueue(words: Words, at: number): number {
    const queue = words[at + LEVEL]
    const room = words[at + ROOM]
    if (this.quota === room) return queue
    if (this.quota > room) return queue + Math.min(words[at + EXCESS], Math.max(0, this.quota - queue))
    const debt = Math.max(0, queue - room)
    return Math.min(queue - debt, this.quota) + debt
  }

  /** What waits besides, now. */
  private excess(words: Words, at: number, nowUs: number): number {
    if (this.isBeyondCount(words, at)) return words[at + EXCESS]
    const queue = this.ownQueue(words, at)
    const excess = words[at + LEVEL] + words[at + EXCESS] - queue
    if (excess <= 0) return 0
    const left = (Math.max(0, nowUs - words[at + SINCE]) * this.partsPerUs) / this.partsPerUnit
    return Math.max(0, excess - Math.max(0, left - queue))
  }

  protected delayMs(level: number, aheadUs: number, cost: number): number {
    const queue = this.full - level - cost * this.partsPerUnit
    return (queue + aheadUs * this.partsPerUs) / this.partsPerMs
  }

  /** Is the end of the queue the end of the slot that was `taken`, to within half a unit? */
  private endsAt(words: Words, at: number, nowUs: number, queue: number, slot: number, taken: Taken): boolean {
    const baseUs = Math.max(nowUs, words[at + SINCE])
    const slotEnd = (taken.atUs - baseUs + taken.delayMs * 1000) * this.partsPerUs + slot
    return Math.abs(slotEnd - queue) * 2 < this.partsPerUnit
  }
}
