import type { Clock } from '../../clock.js'
import type { Shaper } from '../../shaper/index.js'
import type { AsyncStore, OnFailure, SyncStore } from '../../stores/index.js'
import type { FetchArguments } from './call.js'
import type { BudgetOptions } from './retry-budget.js'

/** How fast one host is called. */
export interface FetchHostOptions {
  /** Calls that leave, at constant spacing: a rate such as `'10/s'`. Default: that for all. */
  readonly drain?: string
  /** How many calls at once are taken: a whole number from 1. Default: that for all. */
  readonly capacity?: number
}

/** What can be said of outbound calls, however they are shaped. */
export interface FetchCallOptions {
  /**
   * Whose queue a call waits in. It is shown the request without its body. Default: the host, with its port and without a dot
   * at the end of its name.
   */
  readonly keyOf?: (request: Request) => string
  /** A call, or a retry of it, that would wait longer for its turn is rejected with a `WaitTooLongError`. Default: no bound. */
  readonly maxWaitMs?: number
  /** How often a call is made again at most. A whole number from 0. Default 3. */
  readonly retries?: number
  /** How many retries there may be of all calls of a key: `least`, and `ratio` a call. Default `{ ratio: 0.1, least: 10 }`. */
  readonly budget?: BudgetOptions
  /**
   * The longest that the other side is obeyed. A response that asks for more is handed to the caller, and the key pauses for
   * so long. Default 60,000.
   */
  readonly longestRetryAfterMs?: number
  /** Makes the calls. Default: the global one. */
  readonly fetch?: (...args: FetchArguments) => Promise<Response>
  /** Gives numbers from 0 to 1 for jitter; anything else counts as 1, the longest wait. Default `Math.random`. */
  readonly random?: () => number
  /** By which calls wait. Default: the store's, which it has to be, else the process's. */
  readonly clock?: Clock
}

/** Outbound calls with shapers of their own. */
export interface FetchRateOptions extends FetchCallOptions {
  /** Calls of a key that leave, at constant spacing: a rate such as `'10/s'`. */
  readonly drain: string
  /** How many calls of a key at once are taken: a whole number from 1. One more is rejected with a `QueueFullError`. */
  readonly capacity: number
  /** What keeps the queues apart from others on the same store. Default `'fetch'`, but on a store of yours it has to be said. */
  readonly name?: string
  /** Where the queues are, for several processes that share a rate. Default: in this process. */
  readonly store?: SyncStore | AsyncStore
  /** What happens when the store does not answer, as in `createShaper`, which also says what it is by default. */
  readonly onFailure?: OnFailure
  /**
   * Hosts that are called faster or slower than others, as they are written in URLs. A dot at the end of a name counts for
   * nothing.
   */
  readonly hosts?: Readonly<Record<string, FetchHostOptions>>
  readonly shaper?: undefined
}

/** Outbound calls in the queues of a shaper that others use too. It is not closed with them. */
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
