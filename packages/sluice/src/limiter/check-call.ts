/** Checks the arguments of a limiter's methods, before the call changes anything. */
import { randomUUID } from 'node:crypto'
import { checkOptions, isObject } from '../checks/check-options.js'
import { checkCost, checkKey, checkMaxWaitMs, checkSignal, isSignal } from '../checks/check-value.js'
import { InvalidTypeError, shown } from '../errors.js'
import { checkRemaining, durationUs, type Limit } from '../limits/index.js'
import type { WaitRequest } from '../waiting/line.js'
import type { AcquireOptions, BlockOptions, CostOptions, ReserveOptions, SetOptions } from './limiter.js'

/** Returns the cost of a call of `method` for `key`. Default 1. */
export function checkCall(method: string, key: string, options: CostOptions | undefined): number {
  checkKey(key)
  return checkCostOptions(method, options)
}

/** Returns the cost of a call of `method`. Default 1. */
export function checkCostOptions(method: string, options: CostOptions | undefined): number {
  if (options === undefined) return 1
  if (!isObject(options)) throw wrongOptions('{ cost: 3 }', options)
  for (const name in options) {
    if (name === 'cost') continue
    if (isSignal(options)) throw wrongOptions('{ cost: 3 }', options)
    checkOptions(method, options, ['cost'])
  }
  const { cost = 1 } = options
  checkCost(cost)
  return cost
}

/** The cost of a call of `reserve`, default 1, and with a `ttl` its milliseconds and the id. */
export interface ReserveRequest {
  readonly cost: number
  readonly ttlMs: number | undefined
  readonly id: string
}

/** Returns how a call of `reserve` takes and keeps. */
export function checkReserve(options: ReserveOptions | undefined): ReserveRequest {
  if (!isObject(options) || isSignal(options)) {
    return { cost: checkCostOptions('reserve', options), ttlMs: undefined, id: '' }
  }
  checkOptions('reserve', options, ['cost', 'ttl', 'id'])
  const { ttl, cost = 1 } = options
  checkCost(cost)
  if (ttl === undefined && options.id === undefined) return { cost, ttlMs: undefined, id: '' }
  const { id = randomUUID() } = options
  checkKey(id, 'id')
  // Whole milliseconds, rounded up. An id without a ttl would name nothing.
  return { cost, ttlMs: Math.ceil(durationUs('ttl', ttl) / 1_000), id }
}

/** The usual mistakes are tryAcquire(key, 3) and acquire(key, signal). */
function wrongOptions(example: string, options: unknown): InvalidTypeError {
  const got = isSignal(options) ? 'an AbortSignal' : shown(options)
  return new InvalidTypeError(`options must be an object such as ${example}, got ${got}`, { option: 'options' })
}

/** Returns how a call of `acquire` for `key` waits. Default: for 1 unit, for as long as it takes. */
export function checkAcquire(key: string, options: AcquireOptions | undefined): WaitRequest {
  checkKey(key)
  if (options === undefined) return { cost: 1, priority: 0, signal: undefined, maxWaitMs: Infinity }
  if (!isObject(options) || isSignal(options)) throw wrongOptions('{ cost: 3, signal }', options)
  checkOptions('acquire', options, ['cost', 'signal', 'maxWaitMs'])
  const { cost = 1, signal, maxWaitMs = Infinity } = options
  checkCost(cost)
  checkSignal(signal)
  checkMaxWaitMs(maxWaitMs)
  return { cost, priority: 0, signal, maxWaitMs }
}

/** Returns how many units of `limit` a call of `set` leaves to `key`. */
export function checkSet(key: string, limit: Limit, options: SetOptions): number {
  checkKey(key)
  if (!isObject(options))
    throw new InvalidTypeError(`set takes an object such as { remaining: 0 }, got ${shown(options)}`)
  return checkRemaining(limit, checkOptions('set', options, ['remaining']).remaining)
}

/** Returns how long a block of `key` lasts, in microseconds. */
export function checkBlock(key: string, options: BlockOptions): number {
  checkKey(key)
  if (!isObject(options))
    throw new InvalidTypeError(`block takes an object such as { duration: '10m' }, got ${shown(options)}`)
  return durationUs('duration', checkOptions('block', options, ['duration']).duration)
}
