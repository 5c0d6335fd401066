import type { Words } from './arithmetic.js'
import { Bucket, LEVEL } from './bucket.js'
import type { TokenBucket } from './limit.js'
import { checkNames, checkUnits } from './options.js'
import { parseRate } from './rate.js'
import { remember } from './remembered.js'

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
    const given = checkNames('tokenBucket', options, ['capacity', 'refill'])
    const capacity = checkUnits('capacity', given.capacity)
    const refill = parseRate('refill', given.refill)
    super('token-bucket', capacity, 'refill', refill)
    this.limit = Object.freeze({ algorithm: 'token-bucket', capacity, refill: refill.text })
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
}
