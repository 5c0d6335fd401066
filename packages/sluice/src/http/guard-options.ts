import { checkOptions } from '../checks/check-options.js'
import { checkCost } from '../checks/check-value.js'
import type { Clock } from '../clock.js'
import { InvalidTypeError, invalidType, invalidValue, shown } from '../errors.js'
import type { Limiter } from '../limiter/index.js'
import { type BlockFor, type Limit, parseLimit } from '../limits/index.js'
import { isLimitFunction } from '../limits/limit-advice.js'
import type { Policy, Verdict } from '../policy/index.js'
import type { Awaitable, OnFailure } from '../stores/index.js'
import type {
  AnyLimiter,
  AnyPolicy,
  AnyStore,
  AttributeOf,
  AttributesOption,
  SettledCost,
} from './attributes-option.js'
import type { ClientAddressOptions } from './client-address.js'
import { checkStatus, type DescribeOptions } from './describe.js'
import type { Dialect } from './dialect.js'
import type { Later } from './mapped.js'

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
export interface HandlerOptions<Request, Response = unknown, Address extends string | undefined = string>
  extends ClientAddressOptions,
    Omit<DescribeOptions, 'nowMs'> {
  /** How quotas are written in header fields: one dialect or several. Default `'draft'`; `[]` writes none. */
  readonly dialect?: Dialect | readonly Dialect[]
  /** Units that a request takes before the handler runs: a number, or a function of the request. Default 1. */
  readonly cost?: number | ((request: Request) => Later<number>)
  /**
   * Returns the real cost of a request when its response is over; the difference is refunded or charged. If levels of a
   * policy take their costs from attributes, it returns those attributes. Request and response are those of the framework.
   * Example: `({ status, taken }) => (status === 401 ? taken : 0)` counts only failures.
   */
  readonly settle?: (
    outcome: Outcome,
    request: Request,
    response: Response,
  ) => number | Readonly<Record<string, number>>
  /**
   * Returns true for requests that are not limited at all. The second argument is the client's address, found by
   * `trustedProxies`: `'192.0.2.7'`, `'2001:db8::7'`, or `'unknown'` for a Unix socket.
   */
  readonly skip?: (request: Request, address: Address) => Later<boolean>
  /**
   * Called with every decision: allowed, denied, and with the levels that are only in shadow. For counters and logs; if it
   * fails, a process warning says so, and the request is answered as decided.
   */
  readonly onDecision?: (verdict: Verdict, request: Request) => Awaitable<void>
}

/** Options of everything that has keys. */
interface KeyOptions<Request, Response, Address extends string | undefined>
  extends HandlerOptions<Request, Response, Address> {
  /**
   * Returns the key of a request. The second argument is the client as it is counted without a `key`: its IPv4 address, or
   * the network of its IPv6 address, `'2001:db8::/56'`. If the option is left out, or returns nothing, an empty text or a list
   * (the field is empty or came twice), the client's address is the key.
   */
  readonly key?: (request: Request, client: Address) => Later<string | null | undefined>
  readonly policy?: undefined
  readonly attributes?: undefined
}

/** One limit for each client, or for each `key`. */
export type LimitOptions<Request, Response = unknown, Address extends string | undefined = string> =
  | OwnStoreLimitOptions<Request, Response, Address>
  | NamedLimitOptions<Request, Response, Address>

/** A limit with a memory store of its own. */
interface OwnStoreLimitOptions<Request, Response, Address extends string | undefined>
  extends LimitRuleOptions<Request, Response, Address> {
  /** See {@link NamedLimitOptions.name}. */
  readonly name?: string
  readonly store?: undefined
}

/** A limit in a call in which the compiler sees no store: there is none, or the call names its types itself. */
interface UnseenStoreLimitOptions<Request, Response, Address extends string | undefined>
  extends LimitRuleOptions<Request, Response, Address> {
  /** See {@link NamedLimitOptions.name}. */
  readonly name?: string
  /** See {@link NamedLimitOptions.store}. */
  readonly store?: AnyStore | undefined
}

/** A limit with a name, which may have any store. */
interface NamedLimitOptions<Request, Response, Address extends string | undefined>
  extends LimitRuleOptions<Request, Response, Address> {
  /**
   * The limit's name in header fields, which also keeps it apart from other limits on the same store. Default `'default'`;
   * required with a `store`.
   */
  readonly name: string
  /** Where states are kept. Default: a memory store of its own. */
  readonly store?: AnyStore | undefined
}

interface LimitRuleOptions<Request, Response, Address extends string | undefined>
  extends KeyOptions<Request, Response, Address> {
  /**
   * The limit, or a function of the request that returns one. States are kept under the limiter's `name`, so a key keeps its
   * state when the function returns other numbers for it.
   */
  readonly limit: Limit | ((request: Request) => Later<Limit>)
  /** Tells the time, for tests: a `ManualClock` of `sluice/testing`. Only for a limit without a `store`. */
  readonly clock?: Clock
  /** How a request is answered if the store does not answer. */
  readonly onFailure?: OnFailure
  /**
   * How long a key is denied everything once it exceeds: `'15m'`, or `{ first: '1m', factor: 2, most: '1d', forget: '1d' }`
   * to block longer each time. Default: not at all.
   */
  readonly blockFor?: BlockFor
  readonly limiter?: undefined
}

/** A limiter that exists already, with its own limit, name and store. Other parts of the application may use it too. */
export interface LimiterOptions<Request, Response = unknown, Address extends string | undefined = string>
  extends KeyOptions<Request, Response, Address> {
  readonly limiter: AnyLimiter
  readonly limit?: undefined
  readonly name?: undefined
  readonly store?: undefined
  readonly clock?: undefined
  readonly onFailure?: undefined
  readonly blockFor?: undefined
}

/** A policy, which has its own store and its own answer to failures of the store. */
export type PolicyOptions<
  Request,
  Response = unknown,
  Address extends string | undefined = string,
  P extends AnyPolicy = AnyPolicy,
> = PolicyRuleOptions<Request, Response, Address, P> & AttributesOption<Request, AttributeOf<P>>

interface PolicyRuleOptions<Request, Response, Address extends string | undefined, P extends AnyPolicy>
  extends Omit<HandlerOptions<Request, Response, Address>, 'settle'> {
  readonly policy: P
  /** See {@link HandlerOptions.settle}. */
  readonly settle?: (outcome: Outcome, request: Request, response: Response) => SettledCost<AttributeOf<P>>
  readonly limit?: undefined
  readonly limiter?: undefined
  readonly key?: undefined
  readonly name?: undefined
  readonly store?: undefined
  readonly clock?: undefined
  readonly onFailure?: undefined
  readonly blockFor?: undefined
}

/** See {@link LimitOptions}, {@link LimiterOptions} and {@link PolicyOptions}. */
export type GuardOptions<Request, Response = unknown, Address extends string | undefined = string> =
  | PolicyOptions<Request, Response, Address>
  | LimiterOptions<Request, Response, Address>
  | LimitOptions<Request, Response, Address>

/**
 * The options of one call, which has the policy `P`, or the limiter `L`, or otherwise a limit on the store `S`. The compiler
 * finds them in the call. So it knows the attributes that the policy asks about and whether the limit needs a name, and its
 * error is about the options that are meant. Without knowledge of the attributes, as for a variable of the type
 * `GuardOptions`, all options are accepted.
 */
export type RateLimitOptions<
  Request,
  Response,
  Address extends string | undefined,
  P extends AnyPolicy | undefined,
  L extends AnyLimiter | undefined,
  S extends AnyStore | undefined,
> = { readonly policy?: P; readonly limiter?: L; readonly store?: S | object } & (
  | CallWithPolicy<Request, Response, Address, NonNullable<P>>
  | (undefined extends P ? CallWithLimit<Request, Response, Address, L, S> : never)
)

/** `P` is a union if the policy is on one of several stores. */
type CallWithPolicy<Request, Response, Address extends string | undefined, P extends AnyPolicy> = [P] extends [never]
  ? never
  : string extends AttributeOf<P>
    ? GuardOptions<Request, Response, Address>
    : PolicyOptions<Request, Response, Address, P>

type CallWithLimit<
  Request,
  Response,
  Address extends string | undefined,
  L extends AnyLimiter | undefined,
  S extends AnyStore | undefined,
> = L extends AnyLimiter
  ? LimiterOptions<Request, Response, Address> | LimitOptions<Request, Response, Address>
  : [S] extends [undefined]
    ? UnseenStoreLimitOptions<Request, Response, Address>
    : LimitOptions<Request, Response, Address>

const RULES = ['limit', 'limiter', 'policy'] as const
/** Where a clock belongs, because the thing that keeps time reads it. */
const CLOCK_OF = { limiter: 'createLimiter({ limit, clock })', policy: 'createPolicy({ levels, clock })' }
/** Options that a limiter has been made with already. */
const OF_MADE_LIMITERS = ['name', 'store', 'clock', 'onFailure', 'blockFor']
/** Options that must be left out beside each of the rules. */
const LEFT_OUT = {
  limit: ['attributes'],
  limiter: ['attributes', ...OF_MADE_LIMITERS],
  policy: ['key', 'ipv6Prefix', ...OF_MADE_LIMITERS],
}
const OPTIONS = [
  ...[...RULES, 'key', 'attributes', ...OF_MADE_LIMITERS],
  ...['cost', 'settle', 'skip', 'onDecision', 'dialect', 'status', 'expose', 'jitterMs'],
  ...['trustedProxies', 'forwardedIn', 'ipv6Prefix'],
]
const NAME = /^[\w.-]{1,64}$/

/**
 * Checks everything that can be checked before the first request. `more` are the names of the adapter's own options, and
 * `what` is the function that takes the options.
 */
export function checkGuardOptions<Options>(options: Options, more: readonly string[], what: string): Options {
  checkIsOptions(what, options)
  const given = checkOptions(what, options, [...OPTIONS, ...more])
  checkFunctions(given, ['key', 'attributes', 'settle', 'skip', 'onDecision', 'onDenied', 'address'])
  checkRule(what, given)
  const { name, cost, forwardedIn, trustedProxies, status, jitterMs } = given
  if (name !== undefined && !(typeof name === 'string' && NAME.test(name)))
    throw invalidValue('name', 'text of letters, digits, dots, dashes and underscores, at most 64 of them', name)
  if (cost !== undefined && typeof cost !== 'function') checkCost(cost)
  if (forwardedIn !== undefined && trustedProxies === undefined)
    throw invalidType('forwardedIn', 'beside trustedProxies, because only trusted proxies are believed', forwardedIn)
  checkStatus(status)
  for (const each of ['expose', 'instead'])
    if (given[each] !== undefined && typeof given[each] !== 'boolean')
      throw invalidType(each, 'true or false', given[each])
  if (jitterMs !== undefined && !(Number.isFinite(jitterMs) && (jitterMs as number) >= 0))
    throw invalidValue('jitterMs', 'a number of milliseconds from 0', jitterMs)
  return options
}

/** Usual mistakes: no options, passing `rateLimit` itself to the framework, and passing a limit instead of `{ limit }`. */
function checkIsOptions(what: string, options: unknown): void {
  if (typeof options !== 'object' || options === null)
    throw new InvalidTypeError(
      `${what} takes { limit }, { limiter } or { policy }, and other options, got ${shown(options)}`,
    )
  const prototype = Object.getPrototypeOf(options)
  if (prototype !== Object.prototype && prototype !== null) {
    const takes =
      what === 'rateLimit'
        ? 'makes the middleware: call it with options and pass on what it returns, as in use(rateLimit({ limit }))'
        : `takes an object of options, as in ${what}({ limit })`
    throw new InvalidTypeError(
      `${what} ${takes}; it was called with ${shown(options)} that is not an object of options`,
    )
  }
  if (Object.hasOwn(options, 'algorithm'))
    throw new InvalidTypeError(`${what} takes an object with the limit in it: ${what}({ limit })`, {
      option: 'limit',
    })
}

function checkRule(what: string, given: Readonly<Record<string, unknown>>): void {
  const { limiter, policy } = given
  const [rule, ...others] = RULES.filter((name) => given[name] !== undefined)
  if (rule === undefined || others.length > 0) {
    const got = rule === undefined ? 'none of them' : [rule, ...others].join(' and ')
    throw new InvalidTypeError(`${what} takes a limit, a limiter or a policy, got ${got}`, { option: 'limit' })
  }
  // `limit: fixedWindow` would be taken for a function of the request, and fail with the first one.
  if (isLimitFunction(given.limit)) parseLimit(given.limit)
  if (rule !== 'limit' && given.clock !== undefined)
    throw invalidType('clock', `given to the ${rule}, as in ${CLOCK_OF[rule]}`, given.clock)
  for (const name of LEFT_OUT[rule])
    if (given[name] !== undefined) throw invalidType(name, `left out beside a ${rule}`, given[name])
  if (policy !== undefined && typeof (policy as Policy | null)?.check !== 'function')
    throw invalidType('policy', 'a policy made by createPolicy', policy)
  const { tryAcquire, reserve } = (limiter ?? {}) as Partial<Limiter>
  if (limiter !== undefined && !(typeof tryAcquire === 'function' && typeof reserve === 'function'))
    throw invalidType('limiter', 'a limiter made by createLimiter', limiter)
}

/** What is right for options that are often given as a text or a list. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  key: "left out for the client's address, or a function such as (request, client) => userOf(request) ?? client",
  skip: "a function such as (request, address) => address === '192.0.2.7'",
}

/** Checks that the options of these names are functions, if they are set. */
export function checkFunctions(given: Readonly<Record<string, unknown>>, names: readonly string[]): void {
  for (const name of names) {
    if (given[name] !== undefined && typeof given[name] !== 'function')
      throw invalidType(name, FUNCTIONS[name] ?? 'a function', given[name])
  }
}
