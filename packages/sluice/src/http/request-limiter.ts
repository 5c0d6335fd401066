import { InvalidTypeError, invalidType, invalidValue } from '../errors.js'
import {
  type AsyncLimiter,
  type AsyncReservation,
  type CostOptions,
  createLimiter,
  type Limiter,
  type Reservation,
  type SharedStoreOptions,
} from '../limiter/index.js'
import { type Decision, isConcurrency, type Limit, quotaOf } from '../limits/index.js'
import type { AsyncPolicyReservation, PolicyReservation, Verdict } from '../policy/index.js'
import type { AsyncStore, Awaitable, SyncStore } from '../stores/index.js'
import { type RequestClient, type RequestReader, requestClient } from './client-address.js'
import {
  atOnce,
  type GuardOptions,
  type LimiterOptions,
  type LimitOptions,
  type PolicyOptions,
} from './guard-options.js'
import { isAbsent, requestAttributes } from './request-attributes.js'

/** The decision of a limit, or the verdict of a policy. */
export type Answer = Decision | Verdict

/** Units that a limit or a policy has taken for a request, and that can be settled or given back. */
export type RequestReservation = Reservation | AsyncReservation | PolicyReservation | AsyncPolicyReservation

/** Asks a limit or a policy about requests. */
export interface RequestLimiter<Request> {
  check(request: Request, cost: CostOptions | undefined): Awaitable<Answer>
  reserve(request: Request, cost: CostOptions | undefined): Awaitable<RequestReservation>
  /** The address of the client, for `skip`. `undefined` if the adapter cannot tell it. */
  addressOf(request: Request): string | undefined
  /** The limit, if there is one and not a policy. */
  readonly only: { readonly name: string; readonly limit: Limit } | undefined
  /** Whether a request may have to wait for its turn. Then its units are given back if the client does not wait. */
  readonly queues: boolean
  /** Whether a request may hold a place of a concurrency limit. An override of a policy can change this at any time. */
  readonly leases: boolean
}

/** Makes the limiter or takes the policy that the options name. */
export function requestLimiter<Request>(
  options: GuardOptions<Request, never>,
  reader: RequestReader<Request>,
): RequestLimiter<Request> {
  return options.policy === undefined ? byLimit(options, reader) : byPolicy(options, reader)
}

function byLimit<Request>(
  options: LimitOptions<Request, never> | LimiterOptions<Request, never>,
  reader: RequestReader<Request>,
): RequestLimiter<Request> {
  const limiter = options.limiter ?? limiterOf(options)
  const { limit } = limiter
  const leases = isConcurrency(limit)
  if (typeof options.cost === 'number' && options.cost > quotaOf(limit))
    throw invalidValue('cost', 'no more than the quota of the limit, or every request is denied', options.cost)
  if (leases && options.settle !== undefined)
    throw invalidType(
      'settle',
      'left out beside a concurrency limit, which gets its places back anyway',
      options.settle,
    )
  const client = requestClient(reader, options)
  if (client === undefined && options.key === undefined) unknownAddress()
  const keyOf = keyFunction(options, client)
  return {
    addressOf: addressFunction(options, client),
    check: (request, cost) => limiter.tryAcquire(keyOf(request), cost),
    reserve: (request, cost) => limiter.reserve(keyOf(request), cost),
    only: { name: limiter.name, limit },
    queues: limit.algorithm === 'leaky-bucket',
    leases,
  }
}

function limiterOf<Request>(options: LimitOptions<Request, never>): Limiter | AsyncLimiter {
  const { limit, name, store, clock, onFailure, blockFor } = options
  const given = { limit, name, store, clock, onFailure, blockFor }
  return createLimiter(given as SharedStoreOptions<SyncStore | AsyncStore>)
}

function keyFunction<Request>(
  { key }: LimitOptions<Request, never> | LimiterOptions<Request, never>,
  client: RequestClient<Request> = NO_CLIENT,
): (request: Request) => string {
  const byAddress = (request: Request, found = client.key(request)) => {
    client.notice(request)
    return found ?? unknownAddress()
  }
  if (key === undefined) return (request) => byAddress(request)
  return (request) => {
    const found = client.key(request)
    if (key.length > 1) client.notice(request)
    const given = atOnce('key', key(request, found as string))
    return isAbsent(given) ? BY_ADDRESS + byAddress(request, found) : given
  }
}

/** The address that `skip` gets. */
function addressFunction<Request>(
  { skip }: GuardOptions<Request, never>,
  client: RequestClient<Request> = NO_CLIENT,
): (request: Request) => string | undefined {
  return (request) => {
    if (skip !== undefined && skip.length > 1) client.notice(request)
    return client.address(request)
  }
}

/** For frameworks that never tell addresses. */
const NO_CLIENT: RequestClient<unknown> = {
  origin: () => undefined,
  address: () => undefined,
  key: () => undefined,
  notice: () => {},
}

/** Keeps clients without a key apart from keys that look like their addresses. No header field can contain it. */
const BY_ADDRESS = '\0'

function byPolicy<Request>(
  options: PolicyOptions<Request, never>,
  reader: RequestReader<Request>,
): RequestLimiter<Request> {
  const { policy } = options
  const client = requestClient(reader, options)
  const ipOf =
    client &&
    ((request: Request) => {
      client.notice(request)
      return client.origin(request) ?? unknownAddress()
    })
  if (ipOf === undefined && options.attributes === undefined && policy.attributes.includes('ip')) unknownAddress()
  const attributesOf = requestAttributes(options, reader, ipOf)
  return {
    addressOf: addressFunction(options, client),
    check: (request, cost) => policy.check(attributesOf(request), cost),
    reserve: (request, cost) => policy.reserve(attributesOf(request), cost),
    only: undefined,
    queues: policy.queues,
    get leases() {
      return policy.leases
    },
  }
}

function unknownAddress(): never {
  throw new InvalidTypeError(
    'rateLimit cannot tell here where a request comes from; give it a key, or address: a function that returns the address of the connection',
    { option: 'address' },
  )
}

/** Applies `to` to a value, now or when its promise resolves. */
export function mapped<From, To>(value: Awaitable<From>, to: (value: From) => Awaitable<To>): Awaitable<To> {
  return value instanceof Promise ? value.then(to) : to(value as From)
}
