import { checkUnits } from '../../checks/check-value.js'
import { arithmeticOf, isUnlimited, type Limit, parseLimit, quotaOf } from '../../limits/index.js'

/** A fleet whose bound is asked for. */
export interface Fleet {
  /** How many processes use the limit: a whole number from 1. */
  readonly nodes: number
  /**
   * The longest time from one sync of a key to the answer of its next one: `intervalMs`, and the time that the calls of all
   * keys in use take. `longestGapMs` of the store's `stats()` tells it.
   */
  readonly gapMs: number
}

/**
 * The most units of one key that a fleet on synced stores admits over its limit:
 *
 *     (nodes − 1) · (capacity + 2 · refill · gap)    token bucket
 *     (nodes − 1) · quota                            windows, in each window
 *
 * @example
 * ```ts
 * import { tokenBucket } from 'sluice'
 * import { overshootOf } from 'sluice/synced'
 *
 * const limit = tokenBucket({ capacity: 100, refill: '50/s' })
 * console.log(overshootOf(limit, { nodes: 4, gapMs: 100 })) // 330: three other nodes, 100 + 2 · 5 each
 * ```
 */
export function overshootOf(limit: Limit, { nodes, gapMs }: Fleet): number {
  return (checkUnits('nodes', nodes) - 1) * nodeOvershoot(parseLimit(limit), checkUnits('gapMs', gapMs))
}

/** What one more node adds to the overshoot of a key. */
export function nodeOvershoot(limit: Limit, gapMs: number): number {
  return isUnlimited(limit) ? 0 : Math.ceil(quotaOf(limit) + 2 * refilled(limit, gapMs))
}

/** The units that a token bucket gains in a time; 0 for any other limit. */
export function refilled(limit: Limit, ms: number): number {
  if (limit.algorithm !== 'token-bucket') return 0
  const [partsPerUnit, partsPerUs] = arithmeticOf(limit).remote.parameters
  return (ms * 1_000 * partsPerUs) / partsPerUnit
}

/**
 * Can a limit be counted in parts? Not if it counts every request by itself, or begins its window at a first request, which
 * each node sees at another time.
 */
export function canSync(limit: Limit): boolean {
  const { algorithm } = limit
  if (algorithm === 'fixed-window' || algorithm === 'sliding-window') return limit.align !== 'first'
  return algorithm === 'token-bucket' || algorithm === 'unlimited'
}
