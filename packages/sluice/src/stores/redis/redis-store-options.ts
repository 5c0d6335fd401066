import { checkOptions } from '../../checks/check-options.js'
import { checkUnits } from '../../checks/check-value.js'
import { invalidType, invalidValue } from '../../errors.js'
import { checkLocalOptions, checkOnFailure } from '../fallback.js'
import type { OnFailure } from '../store.js'

/** Options of a Redis store. */
export interface RedisStoreOptions {
  /** The start of every key in Redis: text without braces. Default `'sluice:'`. */
  readonly prefix?: string
  /** The longest that a decision waits for Redis, in milliseconds, from 1. Default 50. */
  readonly deadlineMs?: number
  /** How a request is answered if Redis does not answer. Default `'open'`. A limiter may have a rule of its own. */
  readonly onFailure?: OnFailure
  /** Among how many processes `onFailure: 'local'` divides a limit: a whole number from 1 to 1,000,000. Default 1. */
  readonly instances?: number
  /**
   * The most keys, and the most timestamps of logs and concurrency limits, that `onFailure: 'local'` keeps in this process: a
   * whole number from 1 to 2^30. When it is full, new keys share buckets, as in a memory store. Default 1,000,000.
   */
  readonly maxLocalKeys?: number
  /** The most demands that one call of the script decides: a whole number from 1. Default 128. */
  readonly maxBatch?: number
  /** The most calls of the script that wait for Redis at a time: a whole number from 1. Default 64. */
  readonly maxBatchesInFlight?: number
  /** The most requests that wait at a time; others are answered by `onFailure` at once. Default 10,000. */
  readonly maxPending?: number
}

/** Checks the options, and fills in defaults. */
export function checkRedisStoreOptions(options: RedisStoreOptions): Required<RedisStoreOptions> {
  const given = checkOptions('redisStore', options, [
    'prefix',
    'deadlineMs',
    'onFailure',
    'instances',
    'maxLocalKeys',
    'maxBatch',
    'maxBatchesInFlight',
    'maxPending',
  ])
  return {
    prefix: checkPrefix(given.prefix),
    deadlineMs: checkUnits('deadlineMs', given.deadlineMs ?? 50, 3_600_000),
    onFailure: given.onFailure === undefined ? 'open' : checkOnFailure(given.onFailure),
    ...checkLocalOptions(given),
    maxBatch: checkUnits('maxBatch', given.maxBatch ?? 128, 5_000),
    maxBatchesInFlight: checkUnits('maxBatchesInFlight', given.maxBatchesInFlight ?? 64, 1_000_000),
    maxPending: checkUnits('maxPending', given.maxPending ?? 10_000, 1_000_000_000),
  }
}

function checkPrefix(value: unknown = 'sluice:'): string {
  const wanted = "text without braces, such as 'sluice:'"
  if (typeof value !== 'string') throw invalidType('prefix', wanted, value)
  if (/[{}]/.test(value) || value.length > 128) throw invalidValue('prefix', wanted, value)
  return value
}
