import { checkCost } from '../checks/check-value.js'
import type { Arithmetic, Words } from './arithmetic.js'
import { arithmeticOf } from './arithmetic-of.js'
import type { Decision } from './decision.js'
import { microseconds } from './duration.js'
import type { Limit } from './limit.js'

/** A key's state as plain numbers: pass it back with the key's next request. Its contents may change between versions. */
export type LimitState = readonly number[]

/**
 * A limit as a pure function: the state of a key, the time and a cost give a decision and the next state. `undefined`
 * is the state of a key that was never seen. For simulations, tests and pages; a limiter keeps the states for you.
 *
 * @example
 * ```ts
 * import { evaluate, tokenBucket } from 'sluice/limits'
 *
 * const limit = tokenBucket({ capacity: 2, refill: '6/s' })
 * const first = evaluate(limit, undefined, 0, 1)
 * const second = evaluate(limit, first.state, 100, 1)
 * console.log(second.decision.remaining) // 0: one was left, and 0.6 of one came in
 * ```
 */
export function evaluate(
  limit: Limit,
  state: LimitState | undefined,
  nowMs: number,
  cost: number,
): { readonly decision: Decision; readonly state: LimitState | undefined } {
  const arithmetic = arithmeticOf(limit)
  const nowUs = microseconds(nowMs)
  checkCost(cost)
  const words = Float64Array.from(state ?? new Array<number>(arithmetic.words).fill(0))
  if (state === undefined) arithmetic.start(words, 0, nowUs)
  const next = arithmetic.fits(words, 0, nowUs, cost) ? withRoom(arithmetic, words, nowUs, cost) : words
  const decision = arithmetic.tryTake(next, 0, nowUs, cost)
  return { decision, state: decision.allowed && cost > 0 ? Array.from(next) : state }
}

/** The state, or a larger copy of it if `cost` more units need more words. */
export function withRoom({ elastic }: Arithmetic, words: Words, nowUs: number, cost: number): Words {
  const size = elastic?.wordsFor(words, nowUs, cost) ?? 0
  return elastic === undefined || words.length >= size ? words : elastic.resized(words, size)
}
