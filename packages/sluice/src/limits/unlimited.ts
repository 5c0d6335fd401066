import { checkOptions } from '../checks/check-options.js'
import { invalidType } from '../errors.js'
import { type Arithmetic, type RemoteArithmetic, remember } from './arithmetic.js'
import type { Decision } from './decision.js'
import type { Limit, Unlimited } from './limit.js'

/**
 * No limit: every cost is allowed, and no state is kept. It exempts a customer from a level of a policy, and is a plan like
 * any other for code that chooses a limit. A key under it can still be blocked.
 *
 * @example
 * ```ts
 * import { tokenBucket, unlimited } from 'sluice'
 *
 * const limitOf = (plan: string) => (plan === 'partner' ? unlimited() : tokenBucket({ capacity: 20, refill: '5/s' }))
 * ```
 */
export function unlimited(...none: readonly never[]): Unlimited {
  if (none.length > 0) throw invalidType('unlimited()', 'called without numbers, because it has none', none[0])
  return ARITHMETIC.limit
}

/** Does the limit allow every cost? */
export function isUnlimited(limit: Limit): limit is Unlimited {
  return limit.algorithm === 'unlimited'
}

/** Its state has no words, so every method describes or changes nothing. */
class UnlimitedArithmetic implements Arithmetic {
  readonly limit: Unlimited = Object.freeze({ algorithm: 'unlimited' })
  readonly quota = Infinity
  readonly words = 0
  readonly elastic = undefined
  readonly stateId = 'unlimited'
  readonly remote: RemoteArithmetic = {
    parameters: [],
    reportLength: 0,
    decision: allowEverything,
    takenUs: ({ nowUs }) => nowUs,
  }

  start(): void {}

  fits(): boolean {
    return true
  }

  take(): void {}

  tryTake(): Decision {
    return allowEverything()
  }

  decision(): Decision {
    return allowEverything()
  }

  level(): number {
    return Infinity
  }

  takenUs(_words: unknown, _at: number, nowUs: number): number {
    return nowUs
  }

  refund(): boolean {
    return false
  }

  isWhole(): boolean {
    return true
  }
}

function allowEverything(): Decision {
  return {
    allowed: true,
    quota: Infinity,
    remaining: Infinity,
    retryAfterMs: 0,
    nextUnitAfterMs: 0,
    resetAfterMs: 0,
    delayMs: 0,
  }
}

const ARITHMETIC = remember(new UnlimitedArithmetic())

/** The arithmetic of every unlimited limit. Throws for any option, because it has none. */
export function unlimitedArithmetic(options: object): Arithmetic {
  checkOptions('unlimited', options, [])
  return ARITHMETIC
}
