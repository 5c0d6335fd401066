/** The arguments of a limiter's methods, checked before anything happens. */
import { checkOptions } from '../checks/check-options.js'
import { checkCost, checkKey } from '../checks/check-value.js'
import { invalidType } from '../errors.js'
import { durationUs } from '../limits/index.js'
import type { BlockOptions, CostOptions } from './limiter.js'

/** The cost of a call of `method` for `key`: what the options say, or 1. */
export function checkCall(method: string, key: string, options: CostOptions | undefined): number {
  checkKey(key)
  return checkCostOptions(method, options)
}

/** The cost of a call of `method`: what the options say, or 1. */
export function checkCostOptions(method: string, options: CostOptions | undefined): number {
  if (options === undefined) return 1
  // The usual mistake is tryAcquire(key, 3).
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw invalidType('options', 'an object such as { cost: 3 }', options)
  for (const name in options) if (name !== 'cost') checkOptions(method, options, ['cost'])
  const { cost = 1 } = options
  checkCost(cost)
  return cost
}

/** How long a block for `key` is to last, in microseconds. */
export function checkBlock(key: string, options: BlockOptions): number {
  checkKey(key)
  return durationUs('duration', checkOptions('block', options, ['duration']).duration)
}
