import { checkOptions } from '../checks/check-options.js'
import { checkUnits } from '../checks/check-value.js'
import { LARGEST_DEBT, type Words } from './arithmetic.js'
import { Bucket, LARGEST_LEVEL, LEVEL, SINCE } from './bucket.js'
import type { Decision } from './decision.js'
import type { TokenBucket } from './limit.js'
import { parseRate } from './rate.js'
import { remember } from './remembered.js'
import { filledAfterUs, type Users } from './users.js'

/** The numbers of a token bucket. */
export interface TokenBucketOptions {
  /** The largest burst: a whole number from 1. The bucket starts full. */
  readonly capacity: number
  /** What comes back, sustained: a rate such as `'5/s'`. */
  readonly refill: string
}

/**
 * Bursts to `capacity`, then `refill` sustained: in any interval of length T at most `refill`·T + `capacity` units.
 *
 * @example
 * ```ts
 * import { tokenBucket } from 'sluice'
 *
 * const search = tokenBucket({ capacity: 100, refill: '10/s' })
 * ```
 */
export function tokenBucket(options: TokenBucketOptions): TokenBucket {
  return remember(new TokenBucketArithmetic(options)).limit
}

/** State: [tokens, since]. A smaller capacity keeps as many of them as fit, a larger one does not add any. */
export class TokenBucketArithmetic extends Bucket {
  readonly limit: TokenBucket
  readonly words = 2

  constructor(options: TokenBucketOptions) {
    const given = checkOptions('tokenBucket', options, ['capacity', 'refill'])
    const capacity = checkUnits('capacity', given.capacity)
    const refill = parseRate('refill', given.refill)
    super('token-bucket', capacity, 'refill', refill)
    this.limit = Object.freeze({ algorithm: 'token-bucket', capacity, refill: refill.text })
  }

  /**
   * The most frequent thing of all, written out: calls between small functions put every number in a box. Contract and
   * property tests hold it to what the functions say.
   */
  override tryTake(words: Words, at: number, nowUs: number, cost: number): Decision {
    const { partsPerUnit, partsPerMs, full, quota } = this
    const gained = (nowUs - words[at + SINCE]) * this.partsPerUs
    let level = Math.floor(words[at + LEVEL] * partsPerUnit + 0.5)
    // A whole bucket is the same as none, so its past does not count, even if it lies ahead.
    const isWhole = level >= full
    if ((gained < 0 && !isWhole) || level < -LARGEST_LEVEL || cost === 0) return super.tryTake(words, at, nowUs, cost)
    level = isWhole || gained >= full - level ? full : level + gained
    const parts = cost * partsPerUnit
    const allowed = level >= parts
    if (allowed) {
      level -= parts
      words[at + LEVEL] = level / partsPerUnit
      words[at + SINCE] = nowUs
    }
    const remaining = Math.max(0, Math.floor(level / partsPerUnit))
    return {
      allowed,
      quota,
      remaining,
      retryAfterMs: allowed ? 0 : cost > quota ? Infinity : Math.ceil((parts - level) / partsPerMs),
      nextUnitAfterMs: level === full ? 0 : Math.ceil(((remaining + 1) * partsPerUnit - level) / partsPerMs),
      resetAfterMs: Math.ceil((full - level) / partsPerMs),
      delayMs: 0,
    }
  }

  wholeAfterUs(words: Words, at: number, users: Users): number {
    return filledAfterUs(users, words[at + LEVEL])
  }

  protected delayMs(): number {
    return 0
  }

  protected stored(words: Words, at: number): number {
    return Math.floor(words[at + LEVEL] * this.partsPerUnit + 0.5)
  }

  protected store(words: Words, at: number, level: number): void {
    words[at + LEVEL] = level / this.partsPerUnit
  }

  protected addToDebt(words: Words, at: number, units: number): void {
    words[at + LEVEL] = Math.max(words[at + LEVEL] - units, -LARGEST_DEBT)
  }
}
