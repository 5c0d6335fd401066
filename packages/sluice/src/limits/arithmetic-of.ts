import { nearest } from '../checks/nearest.js'
import { InvalidValueError, invalidType, shown } from '../errors.js'
import { type Arithmetic, remember, remembered } from './arithmetic.js'
import { type ConcurrencyOptions, concurrencyArithmetic } from './concurrency.js'
import { FixedWindowArithmetic, type FixedWindowOptions } from './fixed-window.js'
import { LeakyBucketArithmetic, type LeakyBucketOptions } from './leaky-bucket.js'
import type { Algorithm, Limit } from './limit.js'
import { limitAdvice } from './limit-advice.js'
import { type SlidingLogOptions, slidingLogArithmetic } from './sliding-log.js'
import { SlidingWindowArithmetic, type SlidingWindowOptions } from './sliding-window.js'
import { TokenBucketArithmetic, type TokenBucketOptions } from './token-bucket.js'
import { unlimitedArithmetic } from './unlimited.js'

const MAKERS: { readonly [A in Algorithm]: (options: object) => Arithmetic } = {
  'token-bucket': (options) => new TokenBucketArithmetic(options as TokenBucketOptions),
  'leaky-bucket': (options) => new LeakyBucketArithmetic(options as LeakyBucketOptions),
  'fixed-window': (options) => new FixedWindowArithmetic(options as FixedWindowOptions),
  'sliding-window': (options) => new SlidingWindowArithmetic(options as SlidingWindowOptions),
  'sliding-log': (options) => slidingLogArithmetic(options as SlidingLogOptions),
  concurrency: (options) => concurrencyArithmetic(options as ConcurrencyOptions),
  unlimited: unlimitedArithmetic,
}

/** Every algorithm, by the name it has in a limit's JSON. */
export const ALGORITHMS = Object.freeze(Object.keys(MAKERS)) as readonly Algorithm[]

/** How a limit counts. Takes a limit made by its function, or the same data read from JSON. */
export function arithmeticOf(limit: Limit): Arithmetic {
  const known = remembered(limit)
  if (known !== undefined) return known
  const { algorithm, ...options } = limit as { algorithm?: unknown }
  if (typeof algorithm !== 'string' || !Object.hasOwn(MAKERS, algorithm)) {
    const meant = typeof algorithm === 'string' ? nearest(algorithm, ALGORITHMS) : undefined
    const advice = meant === undefined ? `use ${ALGORITHMS.join(', ')}` : `did you mean '${meant}'?`
    throw new InvalidValueError(`limit.algorithm ${shown(algorithm)} is unknown; ${advice}`, { option: 'algorithm' })
  }
  return remember(MAKERS[algorithm as Algorithm](options))
}

/**
 * Reads a limit from plain data, as `JSON.parse` or a policy file gives it, and checks every number.
 *
 * @example
 * ```ts
 * import { parseLimit } from 'sluice'
 *
 * const limit = parseLimit(JSON.parse('{"algorithm":"token-bucket","capacity":20,"refill":"5/s"}'))
 * ```
 */
export function parseLimit(value: unknown): Limit {
  if (typeof value !== 'object' || value === null || !('algorithm' in value)) {
    throw invalidType(
      'limit',
      "a limit such as tokenBucket({ capacity: 20, refill: '5/s' })",
      value,
      limitAdvice(value),
    )
  }
  return arithmeticOf(value as Limit).limit
}
