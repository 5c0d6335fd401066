import { checkOptions } from '../checks/check-options.js'
import { checkQuota } from '../checks/check-value.js'
import { remember, type Taken, type Words } from './arithmetic.js'
import { Bucket, SINCE, UNITS } from './bucket.js'
import type { LeakyBucket } from './limit.js'
import { exactRate, type Rate } from './rate.js'

/** The numbers of a leaky bucket. */
export interface LeakyBucketOptions {
  /** How many units may be in the queue: a whole number from 0, which denies everything. */
  readonly capacity: number
  /** How fast units leave, at constant spacing: a rate such as `'10/s'`. */
  readonly drain: Rate
}

/**
 * A queue of `capacity` that leaves at exactly `drain`. An admitted request is told its turn in `delayMs`. A burst on an
 * empty bucket admits `capacity`: the first at once, and each next one cost / drain after the one before it.
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

/**
 * State: [queue, since, cost of the last slot].
 *
 * The queue is in units. The free places of the queue are the bucket's tokens, and the queue divided by the drain is the
 * wait. A limit with a smaller capacity reads at most its own capacity, so that a long queue written under a fast drain
 * does not lock out a slow one. A debt is written as a negative number: −3 is a full queue and 3 units beyond it.
 */
export class LeakyBucketArithmetic extends Bucket {
  readonly limit: LeakyBucket
  readonly words = 3

  constructor(options: LeakyBucketOptions) {
    const given = checkOptions('leakyBucket', options, ['capacity', 'drain'])
    const capacity = checkQuota('capacity', given.capacity)
    const drain = exactRate('drain', given.drain)
    super('leaky-bucket', capacity, 'drain', drain)
    this.limit = Object.freeze({ algorithm: 'leaky-bucket', capacity, drain: drain.text })
  }

  override start(words: Words, at: number, nowUs: number): void {
    super.start(words, at, nowUs)
    words[at + LAST_COST] = 0
  }

  /**
   * Refunds the last slot only, and only before it departs: requests queued behind an earlier slot already know when to
   * go. A slot is the last if the queue ends where the slot ends.
   */
  override refund(words: Words, at: number, nowUs: number, units: number, taken: Taken | undefined): boolean {
    const queue = this.full - this.tokens(words, at, nowUs)
    const lastCost = taken === undefined ? words[at + LAST_COST] : taken.cost
    const slot = lastCost * this.partsPerUnit
    if (queue <= slot || (taken !== undefined && !this.endsAt(words, at, nowUs, queue, slot, taken))) return false
    const refunded = Math.min(units, lastCost)
    super.refund(words, at, nowUs, refunded, taken)
    words[at + LAST_COST] = lastCost - refunded
    return true
  }

  /** Takes a slot if the queue is gone in less than `leastUs`, and returns whether it did. */
  takeWithin(words: Words, at: number, nowUs: number, cost: number, leastUs: number): boolean {
    const tokens = this.tokens(words, at, nowUs)
    const queue = this.full - tokens
    if (queue > 0 && queue / this.partsPerUs + Math.max(0, words[at + SINCE] - nowUs) >= leastUs) return false
    this.takeFrom(words, at, nowUs, tokens, cost)
    return true
  }

  protected override takeFrom(words: Words, at: number, nowUs: number, tokens: number, cost: number): void {
    super.takeFrom(words, at, nowUs, tokens, cost)
    words[at + LAST_COST] = cost
  }

  protected read(words: Words, at: number): number {
    const units = words[at + UNITS]
    const parts = Math.floor(units * this.partsPerUnit + 0.5)
    // The sign of the units decides: a small debt may round to 0 parts and still is a full queue.
    return units < 0 ? parts : Math.max(0, this.full - parts)
  }

  protected write(words: Words, at: number, tokens: number): void {
    words[at + UNITS] = (tokens < 0 ? tokens : this.full - tokens) / this.partsPerUnit
  }

  protected delayMs(tokens: number, aheadUs: number, cost: number): number {
    const queue = this.full - tokens - cost * this.partsPerUnit
    return (queue + aheadUs * this.partsPerUs) / this.partsPerMs
  }

  /** Is the end of the queue the end of the slot that was `taken`, to within half a unit? */
  private endsAt(words: Words, at: number, nowUs: number, queue: number, slot: number, taken: Taken): boolean {
    const baseUs = Math.max(nowUs, words[at + SINCE])
    const slotEnd = (taken.atUs - baseUs + taken.delayMs * 1000) * this.partsPerUs + slot
    return Math.abs(slotEnd - queue) * 2 < this.partsPerUnit
  }
}
