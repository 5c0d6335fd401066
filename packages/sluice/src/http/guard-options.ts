import { checkOptions } from '../checks/check-options.js'
import { checkCost } from '../checks/check-value.js'
import type { Clock } from '../clock.js'
import { InvalidTypeError, invalidType, invalidValue, shown } from '../errors.js'
import type { Limit } from '../limits/index.js'
import type { AsyncPolicy, Policy } from '../policy/index.js'
import type { AsyncStore, OnFailure, SyncStore } from '../stores/index.js'
import type { ClientAddressOptions } from './client-address.js'
import { checkStatus, type DescribeOptions } from './describe.js'
import type { Dialect } from './dialect.js'

/** The outcome of a request, known when its response is over. */
export interface Outcome {
  /** The status that was sent, or would have been sent. */
  readonly status: number
  /** Bytes of the body that were sent. */
  readonly length: number
  /** Whether the client received the whole response. */
  readonly completed: boolean
  /** The units that were taken before the handler ran. */
  readonly taken: number
  /** The units that the handler reported with `setCost`, if it did. */
  readonly cost: number | undefined
}

/**
 * Options that limits and policies have in common, in every framework. `Address` includes `undefined` if the framework may not
 * tell where a request comes from.
 */
export interface HandlerOptions<Request, Address extends string | undefined = string>
  extends ClientAddressOptions,
    Omit<DescribeOptions, 'nowMs'> {
  /** How quotas are written in header fields: one dialect or several. Default `'draft'`; `[]` writes none. */
  readonly dialect?: Dialect | readonly Dialect[]
  /** Units that a request takes before the handler runs: a number, or a function of the request. Default 1. */
  readonly cost?: number | ((request: Request) => number)
  /**
   * Returns the real cost of a request when its response is over; the difference is refunded or charged. If levels of a
   * policy take their costs from attributes, it returns those attributes.
   */
  readonly settle?: (outcome: Outcome) => number | Readonly<Record<string, number>>
  /**
   * Returns true for requests that are not limited at all. The second argument is the client's address, found by
   * `trustedProxies`: `'192.0.2.7'`, `'2001:db8::7'`, or `'unknown'` for a Unix socket.
   */
  readonly skip?: (request: Request, address: Address) => boolean
}

/** One limit for each client, or for each `key`. */
export interface LimitOptions<Request, Address extends string | undefined = string>
  extends HandlerOptions<Request, Address> {
  readonly limit: Limit
  /**
   * Returns the key of a request. The second argument is the client as it is counted without a `key`: its IPv4 address, or
   * the network of its IPv6 address, `'2001:db8::/56'`. If it is left out, or returns nothing, an empty text or a list (the field is empty or came
   * twice), the client's address is the key.
   */
  readonly key?: (request: Request, client: Address) => string | null | undefined
  /**
   * The limit's name in header fields, which also keeps it apart from other limits on the same store. Default `'default'`;
   * required with a `store`.
   */
  readonly name?: string
  /** Where states are kept. Default: a memory store of its own. */
  readonly store?: SyncStore | AsyncStore
  /** Tells the time, for tests: a `ManualClock` of `sluice/testing`. Only for a limit without a `store`. */
  readonly clock?: Clock
  /** How a request is answered if the store does not answer. */
  readonly onFailure?: OnFailure
  readonly policy?: undefined
  readonly attributes?: undefined
}

/** A policy, which has its own store and its own answer to failures of the store. */
export interface PolicyOptions<Request, Address extends string | undefined = string>
  extends HandlerOptions<Request, Address> {
  readonly policy: Policy<string, string> | AsyncPolicy<string, string>
  /**
   * Returns the attributes that the policy asks about. `method`, `path` and `ip` are known already and may be replaced. Every
   * other attribute must be there, with `null` if the request has no such attribute.
   */
  readonly attributes?: (request: Request) => object
  readonly limit?: undefined
  readonly key?: undefined
  readonly name?: undefined
  readonly store?: undefined
  readonly clock?: undefined
  readonly onFailure?: undefined
}

/** See {@link LimitOptions} and {@link PolicyOptions}. */
export type GuardOptions<Request, Address extends string | undefined = string> =
  | LimitOptions<Request, Address>
  | PolicyOptions<Request, Address>

const OF_LIMITS = ['limit', 'key', 'name', 'store', 'clock', 'onFailure']
const OF_POLICIES = ['policy', 'attributes']
const OF_BOTH = [
  ...['cost', 'settle', 'skip', 'dialect', 'status', 'expose', 'jitterMs'],
  ...['trustedProxies', 'forwardedIn', 'ipv6Prefix'],
]
const LIMIT_ADVICE = "give it a limit, such as limit: fixedWindow({ quota: 100, window: '1m' })"

/** Advice for callers who write options of other libraries. */
const HABITS = new Map([
  ...['windowMs', 'max', 'points', 'duration'].map((name) => [name, LIMIT_ADVICE] as const),
  ['keyGenerator', 'did you mean key?'],
])
const NAME = /^[\w.-]{1,64}$/

/** Checks everything that can be checked before the first request. `more` are the names of the adapter's own options. */
export function checkGuardOptions<Options>(options: Options, more: readonly string[]): Options {
  checkIsOptions(options)
  const given = checkOptions('rateLimit', options, [...OF_LIMITS, ...OF_POLICIES, ...OF_BOTH, ...more], HABITS)
  checkFunctions(given, ['key', 'attributes', 'settle', 'skip', 'onDenied', 'address'])
  checkLimitOrPolicy(given)
  const { name, cost, forwardedIn, trustedProxies, status, expose, jitterMs } = given
  if (name !== undefined && !(typeof name === 'string' && NAME.test(name)))
    throw invalidValue('name', 'text of letters, digits, dots, dashes and underscores, at most 64 of them', name)
  if (cost !== undefined && typeof cost !== 'function') checkCost(cost)
  if (forwardedIn !== undefined && trustedProxies === undefined)
    throw invalidType('forwardedIn', 'beside trustedProxies, because only trusted proxies are believed', forwardedIn)
  checkStatus(status)
  if (expose !== undefined && typeof expose !== 'boolean') throw invalidType('expose', 'true or false', expose)
  if (jitterMs !== undefined && !(Number.isFinite(jitterMs) && (jitterMs as number) >= 0))
    throw invalidValue('jitterMs', 'a number of milliseconds from 0', jitterMs)
  return options
}

/** Usual mistakes: no options, passing `rateLimit` itself to the framework, and passing a limit instead of `{ limit }`. */
function checkIsOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null)
    throw new InvalidTypeError(`rateLimit takes { limit } or { policy }, and other options, got ${shown(options)}`)
  const prototype = Object.getPrototypeOf(options)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new InvalidTypeError(
      'rateLimit makes the middleware: call it with options and pass on what it returns, as in use(rateLimit({ limit })); ' +
        `it was called with ${shown(options)} that is not an object of options`,
    )
  }
  if (Object.hasOwn(options, 'algorithm'))
    throw new InvalidTypeError('rateLimit takes an object with the limit in it: rateLimit({ limit })', {
      option: 'limit',
    })
}

function checkLimitOrPolicy(given: Readonly<Record<string, unknown>>): void {
  const { limit, policy } = given
  if ((limit === undefined) === (policy === undefined)) {
    const got = limit === undefined ? 'neither' : 'both'
    throw new InvalidTypeError(`rateLimit takes either a limit or a policy, got ${got}`, { option: 'limit' })
  }
  if (policy !== undefined && given.clock !== undefined)
    throw invalidType('clock', 'given to the policy, as in createPolicy({ levels, clock })', given.clock)
  const [kind, others] = limit === undefined ? ['a policy', [...OF_LIMITS, 'ipv6Prefix']] : ['a limit', OF_POLICIES]
  for (const name of others)
    if (given[name] !== undefined) throw invalidType(name, `left out beside ${kind}`, given[name])
  if (policy !== undefined && typeof (policy as Policy | null)?.check !== 'function')
    throw invalidType('policy', 'a policy made by createPolicy', policy)
}

/** Checks that the options of these names are functions, if they are set. */
export function checkFunctions(given: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  for (const name of names) {
    if (given[name] !== undefined && typeof given[name] !== 'function')
      throw invalidType(name, 'a function', given[name])
  }
}

/** Checks that a function among the options did not return a promise, which would count as true or as a value. */
export function atOnce<T>(option: string, answer: T): T {
  if (typeof (answer as { then?: unknown } | undefined | null)?.then !== 'function') return answer
  // The result is not used, so its rejection must not end the process.
  Promise.resolve(answer).catch(() => {})
  throw new InvalidTypeError(`${option} must be a synchronous function, got one that returns a promise`, { option })
}
