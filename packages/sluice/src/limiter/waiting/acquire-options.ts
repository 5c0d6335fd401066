import { checkOptions } from '../../checks/check-options.js'
import { checkCost, checkKey, checkMaxWaitMs, checkSignal, isSignal } from '../../checks/check-value.js'
import { invalidType } from '../../errors.js'
import type { AcquireOptions } from '../limiter.js'
import type { Patience } from './line.js'

const NAMES = ['cost', 'signal', 'maxWaitMs']

/** How a call for `key` is to wait: what the options say or, for as long as it takes, for 1. */
export function checkAcquire(key: string, options: AcquireOptions | undefined): Patience {
  checkKey(key)
  if (options === undefined) return { cost: 1, signal: undefined, maxWaitMs: Infinity }
  // The usual mistakes are acquire(key, 3) and acquire(key, signal).
  if (typeof options !== 'object' || options === null || Array.isArray(options) || isSignal(options))
    throw invalidType('options', 'an object such as { cost: 3, signal }', options)
  checkOptions('acquire', options, NAMES)
  const { cost = 1, signal, maxWaitMs = Infinity } = options
  checkCost(cost)
  checkSignal(signal)
  checkMaxWaitMs(maxWaitMs)
  return { cost, signal, maxWaitMs }
}
