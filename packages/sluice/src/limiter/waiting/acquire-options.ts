import { invalidType } from '../../errors.js'
import { checkCost } from '../../limits/index.js'
import { checkNames } from '../../limits/options.js'
import { checkKey } from '../../stores/index.js'
import { checkMaxWaitMs, checkSignal, isSignal } from '../../waiting/patience.js'
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
  checkNames('acquire', options, NAMES)
  const { cost = 1, signal, maxWaitMs = Infinity } = options
  checkCost(cost)
  checkSignal(signal)
  checkMaxWaitMs(maxWaitMs)
  return { cost, signal, maxWaitMs }
}
