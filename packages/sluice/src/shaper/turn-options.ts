import { checkOptions } from '../checks/check-options.js'
import { checkCost, checkKey, checkMaxWaitMs, checkSignal } from '../checks/check-value.js'
import { invalidType, invalidValue } from '../errors.js'
import type { TurnOptions } from './shaper.js'

/** Whoever names no key waits in a queue that no key leads to by accident. */
export const NO_KEY = '\0'
const MOST_PRIORITY = 9

/** What a caller said about its turn, with what it did not say. */
export interface Call {
  readonly key: string
  readonly cost: number
  readonly priority: number
  readonly maxWaitMs: number
  readonly signal: AbortSignal | undefined
  /** Is there something to run at the turn? */
  readonly runs: boolean
}

const WAIT: Call = { key: NO_KEY, cost: 1, priority: 0, maxWaitMs: Infinity, signal: undefined, runs: false }
const RUN: Call = { ...WAIT, runs: true }

export function checkTurnOptions(options: TurnOptions | undefined, runs: boolean): Call {
  if (options === undefined) return runs ? RUN : WAIT
  checkOptions('options', options, ['key', 'cost', 'signal', 'priority', 'maxWaitMs'])
  const { key = NO_KEY, cost = 1, signal, priority = 0, maxWaitMs = Infinity } = options
  checkKey(key)
  checkCost(cost)
  checkSignal(signal)
  checkPriority(priority)
  checkMaxWaitMs(maxWaitMs)
  return { key, cost, priority, maxWaitMs, signal, runs }
}

function checkPriority(value: number): void {
  if (Number.isInteger(value) && Math.abs(value) <= MOST_PRIORITY) return
  const wanted = `a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}`
  throw typeof value === 'number' ? invalidValue('priority', wanted, value) : invalidType('priority', wanted, value)
}
