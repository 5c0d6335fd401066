import { checkOptions } from '../checks/check-options.js'
import { checkCost } from '../checks/check-value.js'
import { InvalidTypeError, invalidType, invalidValue, shown } from '../errors.js'
import type { Limit } from '../limits/index.js'
import type { AsyncPolicy, Policy } from '../policy/index.js'
import type { AsyncStore, OnFailure, SyncStore } from '../stores/index.js'
import type { ClientAddressOptions } from './client-address.js'
import type { DescribeOptions } from './describe.js'
import type { Dialect } from './dialects.js'

/** What is known of a response when it is over. */
export interface Outcome {
  /** The status that was sent, or would have been. */
  readonly status: number
  /** Bytes of the body that were sent. */
  readonly length: number
  /** Did the client get all of it? */
  readonly completed: boolean
  /** The units that were taken before the handler. */
  readonly taken: number
  /** What the handler said it cost, by `setCost`, if it did. */
  readonly cost: number | undefined
}

/** What an adapter knows of a response. */
export type Ending = Omit<Outcome, 'taken' | 'cost'>

/** What can be said in front of every handler, whatever the framework. */
export interface HandlerOptions<Request> extends ClientAddressOptions, Omit<DescribeOptions, 'nowMs'> {
  /** How quotas are written in header fields. Default `'draft'`; several may be, and `[]` is none. */
  readonly dialect?: Dialect | readonly Dialect[]
  /** Units that a request takes before the handler: a number, or what a function makes of the request. Default 1. */
  readonly cost?: number | ((request: Request) => number)
  /**
   * What a request has cost, when its response is over: the difference is given back or charged. Where levels of a policy
   * take their costs from attributes, those attributes.
   */
  readonly settle?: (outcome: Outcome) => number | Readonly<Record<string, number>>
  /** Requests that are not limited at all. */
  readonly skip?: (request: Request) => boolean
}

/** One limit for each client, or for whatever else is the `key`. */
export interface LimitOptions<Request> extends HandlerOptions<Request> {
  readonly limit: Limit
  /**
   * Who is limited: text. Default, and for requests of which it returns nothing, an empty text or a list (a field that is
   * empty or comes twice): the client's address.
   */
  readonly key?: (request: Request) => string | null | undefined
  /**
   * What the limit is called in header fields, and what keeps it apart from others on the same store. Default `'default'`,
   * but on a store of yours it has to be said.
   */
  readonly name?: string
  /** Where states are. Default: a memory store of its own. */
  readonly store?: SyncStore | AsyncStore
  /** What a request is told when the store does not answer. */
  readonly onFailure?: OnFailure
  readonly policy?: undefined
  readonly attributes?: undefined
}

/** A policy, which has a store and says for each level what becomes of a failure. */
export interface PolicyOptions<Request> extends HandlerOptions<Request> {
  readonly policy: Policy<string, string> | AsyncPolicy<string, string>
  /**
   * What the policy asks about besides `method`, `path` and `ip`, which are known; or in their place. Each has to be said,
   * if only as `null`.
   */
  readonly attributes?: (request: Request) => object
  readonly limit?: undefined
  readonly key?: undefined
  readonly name?: undefined
  readonly store?: undefined
  readonly onFailure?: undefined
}

/** See {@link LimitOptions} and {@link PolicyOptions}. */
export type GuardOptions<Request> = LimitOptions<Request> | PolicyOptions<Request>

const HANDLER = ['dialect', 'status', 'expose', 'jitterMs', 'trustedProxies', 'forwardedIn', 'ipv6Prefix']
const CALLED = ['cost', 'settle', 'skip']
const LIMIT = ['limit', 'key', 'name', 'store', 'onFailure']
const POLICY = ['policy', 'attributes']
const FUNCTIONS = ['key', 'attributes', 'settle', 'skip', 'onDenied', 'address']
const NAME = /^[\w.-]{1,64}$/

/** Checks what can be checked before the first request. `more` are the names that an adapter adds. */
export function checkGuardOptions<Options>(options: Options, more: readonly string[]): Options {
  checkIsOptions(options)
  const given = checkOptions('rateLimit', options, [...LIMIT, ...POLICY, ...CALLED, ...HANDLER, ...more])
  for (const name of FUNCTIONS) {
    if (given[name] !== undefined && typeof given[name] !== 'function')
      throw invalidType(name, 'a function', given[name])
  }
  if ((given.limit === undefined) === (given.policy === undefined)) {
    const got = given.limit === undefined ? 'neither' : 'both'
    throw new InvalidTypeError(`rateLimit takes either a limit or a policy, got ${got}`, { option: 'limit' })
  }
  const other = given.policy === undefined ? ['attributes'] : [...LIMIT, 'ipv6Prefix']
  for (const name of other) {
    if (given[name] !== undefined)
      throw invalidType(name, `left out beside ${given.policy === undefined ? 'a limit' : 'a policy'}`, given[name])
  }
  if (given.policy !== undefined && typeof (given.policy as Policy).check !== 'function')
    throw invalidType('policy', 'a policy made by createPolicy', given.policy)
  if (given.name !== undefined && !(typeof given.name === 'string' && NAME.test(given.name)))
    throw invalidValue('name', 'text of letters, digits, dots, dashes and underscores, at most 64 of them', given.name)
  if (given.cost !== undefined && typeof given.cost !== 'function') checkCost(given.cost)
  if (given.forwardedIn !== undefined && given.trustedProxies === undefined)
    throw invalidType('forwardedIn', 'beside trustedProxies, for nobody else is believed', given.forwardedIn)
  if (given.status !== undefined && given.status !== 429 && given.status !== 503)
    throw invalidValue('status', '429 or 503', given.status)
  if (given.expose !== undefined && typeof given.expose !== 'boolean')
    throw invalidType('expose', 'true or false', given.expose)
  if (given.jitterMs !== undefined && !(Number.isFinite(given.jitterMs) && (given.jitterMs as number) >= 0))
    throw invalidValue('jitterMs', 'a number of milliseconds from 0', given.jitterMs)
  return options
}

/** People hand over the function itself, or the limit itself. */
function checkIsOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null) return
  const prototype = Object.getPrototypeOf(options)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new InvalidTypeError(
      'rateLimit makes what limits: call it with options and hand over what it gives, as in use(rateLimit({ limit })); ' +
        `it was called with ${shown(options)} that is none`,
    )
  }
  if (Object.hasOwn(options, 'algorithm'))
    throw new InvalidTypeError('rateLimit takes an object with the limit in it: rateLimit({ limit })', {
      option: 'limit',
    })
}

/** What a function of the options has answered. The promise of an answer is none, and could be taken for any. */
export function atOnce<T>(option: string, answer: T): T {
  if (typeof (answer as { then?: unknown } | undefined | null)?.then !== 'function') return answer
  // What it would have said, or why not, nobody asks any more.
  Promise.resolve(answer).catch(() => {})
  throw new InvalidTypeError(`${option} must be a function that answers at once, got one that returns a promise`, {
    option,
  })
}
