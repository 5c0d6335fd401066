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
import { clientKey, originOf, type RequestReader, requestAddress } from './client-address.js'
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
  const keyOf = keyFunction(options, reader)
  return {
    check: (request, cost) => limiter.tryAcquire(keyOf(request), cost),
    reserve: (request, cost) => limiter.reserve(keyOf(request), cost),
    only: { name: limiter.name, limit },
    queues: limit.algorithm === 'leaky-bucket',
    leases,
  }
}

function limiterOf<Request>({ limit, name, store, onFailure }: LimitOptions<Request, never>): Limiter | AsyncLimiter {
  return createLimiter({ limit, name, store, onFailure } as SharedStoreOptions<SyncStore | AsyncStore>)
}

function keyFunction<Request>(
  options: LimitOptions<Request, never> | LimiterOptions<Request, never>,
  reader: RequestReader<Request>,
): (request: Request) => string {
  const { key } = options
  const client = requestAddress(reader, options, clientKey(options))
  if (key === undefined) return client ?? unknownAddress()
  return (request) => {
    const given = atOnce('key', key(request))
    if (!isAbsent(given)) return given
    return BY_ADDRESS + (client === undefined ? unknownAddress() : client(request))
  }
}

/** Keeps clients without a key apart from keys that look like their addresses. No header field can contain it. */
const BY_ADDRESS = '\0'

function byPolicy<Request>(
  options: PolicyOptions<Request, never>,
  reader: RequestReader<Request>,
): RequestLimiter<Request> {
  const { policy } = options
  const ipOf = requestAddress(reader, options, originOf(options))
  if (ipOf === undefined && options.attributes === undefined && policy.attributes.includes('ip')) unknownAddress()
  const attributesOf = requestAttributes(options, reader, ipOf)
  return {
    check: (request, cost) => policy.check(attributesOf(request), cost),
    reserve: (request, cost) => policy.reserve(attributesOf(request), cost),
    only: undefined,
    queues: policy.queues,
    get leases() {
      return policy.leases
    },
  }
}

export function unknownAddress(): never {
  throw new InvalidTypeError(
    'rateLimit cannot tell here where a request comes from; give it a key, or address: a function that returns the address of the connection',
    { option: 'address' },
  )
}

/** Applies `to` to a value, now or when its promise resolves. */
export function mapped<From, To>(value: Awaitable<From>, to: (value: From) => Awaitable<To>): Awaitable<To> {
  return value instanceof Promise ? value.then(to) : to(value as From)
}
