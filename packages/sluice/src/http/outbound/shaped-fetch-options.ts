import { checkOptions } from '../../checks/check-options.js'
import { type Clock, checkClock, systemClock } from '../../clock.js'
import { invalidType, invalidValue } from '../../errors.js'
import type { Rate } from '../../limits/index.js'
import type { Shaper } from '../../shaper/index.js'
import type { AsyncStore, OnFailure, SyncStore } from '../../stores/index.js'
import { checkFunctions } from '../guard-options.js'
import type { BudgetOptions } from './destinations.js'
import type { FetchArguments } from './fetch-call.js'

/** How fast one host is called. */
export interface FetchHostOptions {
  /** The rate of calls: `'10/s'` is a slot every 100 ms. Default: the rate for all hosts. */
  readonly drain?: Rate
  /** How many calls may wait or leave at once: a whole number from 1. Default: the capacity for all hosts. */
  readonly capacity?: number
}

/** Options of outbound calls, however they are shaped. */
export interface FetchCallOptions {
  /**
   * Returns the key of the queue that a call waits in. It gets the request without its body. Default: the host with its port,
   * without a dot at the end of its name.
   */
  readonly keyOf?: (request: Request) => string
  /** Rejects a call or a retry with a `WaitTooLongError` if its turn is further away than this. Default: no bound. */
  readonly maxWaitMs?: number
  /** How often a call is retried at most. A whole number from 0. Default 3. */
  readonly retries?: number
  /** How many retries all calls of a key may have: `least`, and `ratio` for each call. Default `{ ratio: 0.1, least: 10 }`. */
  readonly budget?: BudgetOptions
  /**
   * The longest wait that a server may ask for. If a response asks for more, the caller gets the response, and the key pauses
   * for this long. Default 60,000.
   */
  readonly longestRetryAfterMs?: number
  /** Makes the calls. Default: the global `fetch`. */
  readonly fetch?: (...args: FetchArguments) => Promise<Response>
  /** Returns numbers from 0 to 1 for jitter. Every other value counts as 1, the longest wait. Default `Math.random`. */
  readonly random?: () => number
  /** The clock by which calls wait. It must be the store's. Default: the store's, otherwise the process's. */
  readonly clock?: Clock
}

/** Outbound calls with shapers of their own. */
export interface FetchRateOptions extends FetchCallOptions {
  /** The rate of calls for each key: `'10/s'` is a slot every 100 ms. */
  readonly drain: Rate
  /** How many calls of a key may wait or leave at once: a whole number from 1. One more rejects with a `QueueFullError`. */
  readonly capacity: number
  /** Keeps the queues apart from others on the same store. Default `'fetch'`; required with a `store`. */
  readonly name?: string
  /** Where the queues are kept, for processes that share a rate. Default: in this process. */
  readonly store?: SyncStore | AsyncStore
  /** How calls leave if the store does not answer. As in `createShaper`, with the same default. */
  readonly onFailure?: OnFailure
  /** Hosts with their own rate, written as in URLs. A dot at the end of a name is ignored. */
  readonly hosts?: Readonly<Record<string, FetchHostOptions>>
  readonly shaper?: undefined
}

/** Outbound calls in the queues of a shaper that other callers use too. `close` leaves that shaper open. */
export interface FetchShaperOptions extends FetchCallOptions {
  readonly shaper: Shaper
  readonly drain?: undefined
  readonly capacity?: undefined
  readonly name?: undefined
  readonly store?: undefined
  readonly onFailure?: undefined
  readonly hosts?: undefined
}

/** See {@link FetchRateOptions} and {@link FetchShaperOptions}. */
export type ShapedFetchOptions = FetchRateOptions | FetchShaperOptions

/** The checked options about calls, with defaults. */
export interface CallOptions extends Required<Omit<FetchCallOptions, 'budget' | 'keyOf'>> {
  readonly budget: Required<BudgetOptions>
  readonly keyOf: FetchCallOptions['keyOf']
}

/** The options of a shaper, which must be left out if a shaper is given. */
export const SHAPER_OPTIONS = ['drain', 'capacity', 'name', 'store', 'onFailure', 'hosts']
const CALL_OPTIONS = ['keyOf', 'maxWaitMs', 'retries', 'budget', 'longestRetryAfterMs', 'fetch', 'random', 'clock']

/** Checks all options except those of shapers, and fills in defaults. */
export function checkShapedFetchOptions(options: unknown): CallOptions {
  const given = checkOptions('shapedFetch', options, [...SHAPER_OPTIONS, 'shaper', ...CALL_OPTIONS])
  checkFunctions(given, ['keyOf', 'fetch', 'random'])
  const { keyOf, fetch, random, store } = given as Partial<FetchRateOptions>
  return {
    keyOf,
    maxWaitMs: checkNumber('maxWaitMs', given.maxWaitMs ?? Infinity, MILLISECONDS),
    retries: checkNumber('retries', given.retries ?? 3, 'a whole number from 0', Number.isSafeInteger),
    budget: checkBudget(given.budget),
    longestRetryAfterMs: checkNumber('longestRetryAfterMs', given.longestRetryAfterMs ?? 60_000, MILLISECONDS),
    // Looked up with every call, because a test may replace the global `fetch` later.
    fetch: fetch ?? ((...args) => globalThis.fetch(...args)),
    random: boundedRandom(random ?? Math.random),
    clock: checkClock(given.clock) ?? store?.clock ?? systemClock,
  }
}

const MILLISECONDS = 'a number of milliseconds from 0'

function checkBudget(value: unknown): Required<BudgetOptions> {
  const { ratio = 0.1, least = 10 } = value === undefined ? {} : checkOptions('budget', value, ['ratio', 'least'])
  return {
    ratio: checkNumber('budget.ratio', ratio, 'a number from 0', Number.isFinite),
    least: checkNumber('budget.least', least, 'a number from 0', Number.isFinite),
  }
}

/** A number from 0 that also `isRight`. */
function checkNumber(option: string, value: unknown, wanted: string, isRight = (_: unknown) => true): number {
  if (typeof value !== 'number') throw invalidType(option, wanted, value)
  if (!(value >= 0 && isRight(value))) throw invalidValue(option, wanted, value)
  return value
}

/** Numbers from 0 to 1. A wrong number or an error counts as 1: by then there is a response, which must not be lost. */
function boundedRandom(random: () => unknown): () => number {
  return () => {
    try {
      const number = random()
      if (typeof number === 'number' && number >= 0 && number <= 1) return number
    } catch {
      // The same as a wrong number.
    }
    return 1
  }
}
