import { checkOptions } from '../checks/check-options.js'
import { checkQuota } from '../checks/check-value.js'
import { remember, type Words } from './arithmetic.js'
import { Bucket, SINCE, UNITS } from './bucket.js'
import type { Decision } from './decision.js'
import type { TokenBucket } from './limit.js'
import { exactRate, type Rate } from './rate.js'

/** The numbers of a token bucket. */
export interface TokenBucketOptions {
  /** The largest burst: a whole number from 0, which denies everything. The bucket starts full. */
  readonly capacity: number
  /** How fast tokens come back: a rate such as `'5/s'`. */
  readonly refill: Rate
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

/** State: [tokens, since]. */
export class TokenBucketArithmetic extends Bucket {
  readonly limit: TokenBucket
  readonly words = 2

  constructor(options: TokenBucketOptions) {
    const given = checkOptions('tokenBucket', options, ['capacity', 'refill'])
    const capacity = checkQuota('capacity', given.capacity)
    const refill = exactRate('refill', given.refill)
    super('token-bucket', capacity, 'refill', refill)
    this.limit = Object.freeze({ algorithm: 'token-bucket', capacity, refill: refill.text })
  }

  /**
   * The general form written out, because calls between small functions box every number. The rare cases go to the
   * general form; contract and property tests check that both decide alike.
   */
  override tryTake(words: Words, at: number, nowUs: number, cost: number): Decision {
    const { partsPerUnit, partsPerMs, full, quota } = this
    const gained = (nowUs - words[at + SINCE]) * this.partsPerUs
    let tokens = Math.floor(words[at + UNITS] * partsPerUnit + 0.5)
    const isFull = tokens >= full
    if ((gained < 0 && !isFull) || tokens < 0) return super.tryTake(words, at, nowUs, cost)
    tokens = isFull || gained >= full - tokens ? full : tokens + gained
    const parts = cost * partsPerUnit
    const allowed = tokens >= parts
    if (allowed && cost > 0) {
      tokens -= parts
      words[at + UNITS] = tokens / partsPerUnit
      words[at + SINCE] = nowUs
    }
    const remaining = Math.floor(tokens / partsPerUnit)
    return {
      allowed,
      quota,
      remaining,
      retryAfterMs: allowed ? 0 : cost > quota ? Infinity : Math.ceil((parts - tokens) / partsPerMs),
      nextUnitAfterMs: tokens === full ? 0 : Math.ceil(((remaining + 1) * partsPerUnit - tokens) / partsPerMs),
      resetAfterMs: Math.ceil((full - tokens) / partsPerMs),
      delayMs: 0,
    }
  }

  protected delayMs(): number {
    return 0
  }

  protected read(words: Words, at: number): number {
    return Math.floor(words[at + UNITS] * this.partsPerUnit + 0.5)
  }

  protected write(words: Words, at: number, tokens: number): void {
    words[at + UNITS] = tokens / this.partsPerUnit
  }
}
