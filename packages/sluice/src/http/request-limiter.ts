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
import { madeWith } from '../limiter/made-with.js'
import { type Decision, isConcurrency, type Limit, quotaOf } from '../limits/index.js'
import type { AsyncPolicyReservation, PolicyReservation, Verdict } from '../policy/index.js'
import type { AsyncStore, Awaitable, SyncStore } from '../stores/index.js'
import { AddressKeys } from './address-keys.js'
import type { AnyPolicy } from './attributes-option.js'
import { ChosenLimiters } from './chosen-limiters.js'
import { IPV6_PREFIX, type RequestClient, type RequestReader, requestClient } from './client-address.js'
import { verdictOfOne } from './describe.js'
import type { GuardOptions, LimiterOptions, LimitOptions, PolicyOptions } from './guard-options.js'
import { type Later, mapped } from './mapped.js'
import { isAbsent, requestAttributes } from './request-attributes.js'

/** The decision of a limit, or the verdict of a policy. */
export type Answer = Decision | Verdict

/** Units that a limit or a policy has taken for a request, and that can be settled or given back. */
export type RequestReservation =
  | Reservation
  | AsyncReservation
  | PolicyReservation
  | AsyncPolicyReservation
  | (Omit<Reservation | AsyncReservation, 'decision'> & { readonly verdict: Verdict })

/** Asks a limit or a policy about requests. A question is a key, a key and its limit, or attributes. */
export interface RequestLimiter<Request, Question> {
  question(request: Request): Awaitable<Question>
  check(question: Question, cost: CostOptions | undefined): Awaitable<Answer>
  reserve(question: Question, cost: CostOptions | undefined): Awaitable<RequestReservation>
  /** The quotas as they stand. Takes nothing. */
  peek(question: Question): Awaitable<Answer>
  /**
   * Whether a request may have to wait for its turn, or hold a place of a concurrency limit: then its units are given back
   * if the client does not wait, or when the response is over. An override of a policy can change this at any time.
   */
  holds(question: Question): boolean
  /** The text by which questions are compared: the key, or all attributes. */
  textOf(question: Question): string
  /** What counts. Two limiters with one source and one name count the same units, perhaps by different rules. */
  readonly source: object
  readonly name: string
  /** The limits that apply to a question, and what happens when they are exceeded, as a text to compare. */
  rulesOf(question: Question): string
  /** The address of the client, for `skip`. `undefined` if the adapter cannot tell it. */
  addressOf(request: Request): string | undefined
  /** The limit, if there is one limit for all requests. */
  readonly only: { readonly name: string; readonly limit: Limit } | undefined
}

/** Makes the limiter or takes the policy that the options name. */
export function requestLimiter<Request>(
  options: GuardOptions<Request, never>,
  reader: RequestReader<Request>,
): RequestLimiter<Request, unknown> {
  if (options.policy !== undefined) return byPolicy(options, reader)
  return typeof options.limit === 'function' ? byChosenLimit(options, options.limit, reader) : byLimit(options, reader)
}

function byLimit<Request>(
  options: KeyedOptions<Request>,
  reader: RequestReader<Request>,
): RequestLimiter<Request, string> {
  const limiter = options.limiter ?? limiterOf(options)
  const { limit } = limiter
  if (typeof options.cost === 'number' && options.cost > quotaOf(limit) && quotaOf(limit) > 0)
    throw invalidValue('cost', 'no more than the quota of the limit, or every request is denied', options.cost)
  if (isConcurrency(limit) && options.settle !== undefined)
    throw invalidType(
      'settle',
      'left out beside a concurrency limit, which gets its places back anyway',
      options.settle,
    )
  const client = clientOf(options, reader)
  const isHolding = holdsUnits(limit)
  return {
    addressOf: addressFunction(options, client),
    question: keyFunction(options, client),
    check: (key, cost) => limiter.tryAcquire(key, cost),
    reserve: (key, cost) => limiter.reserve(key, cost),
    peek: (key) => limiter.peek(key),
    holds: () => isHolding,
    textOf: (key) => key,
    rulesOf: () => rulesOf(limiter),
    source: madeWith(limiter)?.store ?? limiter,
    name: limiter.name,
    only: { name: limiter.name, limit },
  }
}

function rulesOf(limiter: Limiter | AsyncLimiter): string {
  return madeWith(limiter)?.rules ?? JSON.stringify([limiter.limit])
}

function holdsUnits({ algorithm }: Limit): boolean {
  return algorithm === 'leaky-bucket' || algorithm === 'concurrency'
}

interface ChosenQuestion {
  readonly key: string
  readonly limiter: Limiter | AsyncLimiter
}

function byChosenLimit<Request>(
  options: LimitOptions<Request, never>,
  limitOf: (request: Request) => Later<Limit>,
  reader: RequestReader<Request>,
): RequestLimiter<Request, ChosenQuestion> {
  const limiters = new ChosenLimiters(options)
  const client = clientOf(options, reader)
  const keyOf = keyFunction(options, client)
  const verdictOf = ({ name, limit }: Limiter | AsyncLimiter, decision: Decision) =>
    verdictOfOne({ name, limit, decision })
  return {
    addressOf: addressFunction(options, client),
    question: (request) =>
      mapped(keyOf(request), (key) => mapped(limitOf(request), (limit) => ({ key, limiter: limiters.of(limit) }))),
    check: ({ key, limiter }, cost) =>
      mapped(limiter.tryAcquire(key, cost), (decision) => verdictOf(limiter, decision)),
    reserve: ({ key, limiter }, cost) =>
      mapped<Reservation | AsyncReservation, RequestReservation>(
        limiter.reserve(key, cost),
        ({ decision, settle, cancel }) => ({ verdict: verdictOf(limiter, decision), settle, cancel }),
      ),
    peek: ({ key, limiter }) => mapped(limiter.peek(key), (decision) => verdictOf(limiter, decision)),
    holds: ({ limiter }) => holdsUnits(limiter.limit),
    textOf: ({ key }) => key,
    rulesOf: ({ limiter }) => rulesOf(limiter),
    source: limiters.store,
    name: options.name ?? 'default',
    only: undefined,
  }
}

type KeyedOptions<Request> = LimitOptions<Request, never> | LimiterOptions<Request, never>

function limiterOf<Request>(options: LimitOptions<Request, never>): Limiter | AsyncLimiter {
  const { limit, name, store, clock, onFailure, blockFor } = options
  const given = { limit, name, store, clock, onFailure, blockFor }
  return createLimiter(given as SharedStoreOptions<SyncStore | AsyncStore>)
}

function keyFunction<Request>(
  { key, ipv6Prefix, name, limiter }: KeyedOptions<Request>,
  client: RequestClient<Request>,
): (request: Request) => Awaitable<string> {
  const byAddress = (request: Request, found = client.key(request)) => {
    client.notice(request)
    return found ?? unknownAddress()
  }
  if (key === undefined) return (request) => byAddress(request)
  const addresses = new AddressKeys(
    client,
    'a key or a part of it',
    'Let key return its second argument, the client, or its network',
  )
  return (request) => {
    const found = client.key(request)
    if (key.length > 1) client.notice(request)
    return mapped(key(request, found as string), (given) =>
      isAbsent(given)
        ? BY_ADDRESS + byAddress(request, found)
        : addresses.keyOf(checkText(given, limiter?.name ?? name), request, found, ipv6Prefix ?? IPV6_PREFIX),
    )
  }
}

/** What the function `key` returned, if it is a text. */
function checkText(given: unknown, name = 'default'): string {
  if (typeof given === 'string') return given
  const wanted = "a text, or nothing for the client's address"
  const advice = typeof given === 'number' || typeof given === 'bigint' ? 'write String(id)' : undefined
  throw invalidType(`what the function key of rateLimit returns, for the limit '${name}',`, wanted, given, advice)
}

/** The client of a request. Throws if there is neither an address nor a key. */
function clientOf<Request>(options: KeyedOptions<Request>, reader: RequestReader<Request>): RequestClient<Request> {
  const client = requestClient(reader, options)
  if (client === undefined && options.key === undefined) unknownAddress()
  return client ?? NO_CLIENT
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
): RequestLimiter<Request, object> {
  const { policy } = options
  const client = requestClient(reader, options)
  const ipOf =
    client &&
    ((request: Request) => {
      client.notice(request)
      return client.origin(request) ?? unknownAddress()
    })
  if (ipOf === undefined && options.attributes === undefined && policy.attributes.includes('ip')) unknownAddress()
  return {
    addressOf: addressFunction(options, client),
    question: noticingAddresses(policy, requestAttributes(options, reader, ipOf), client),
    check: (attributes, cost) => policy.check(attributes, cost),
    reserve: (attributes, cost) => policy.reserve(attributes, cost),
    peek: (attributes) => policy.peek(attributes),
    holds: () => policy.queues || policy.leases,
    textOf: (attributes) => JSON.stringify(attributes),
    rulesOf: () => madeWith(policy)?.rules ?? '',
    source: madeWith(policy)?.store ?? policy,
    name: policy.name,
    only: undefined,
  }
}

/** Attributes that the adapter knows. The policy counts an `ip` by its network. */
const KNOWN = ['ip', 'method', 'path']

/** Warns once if an attribute of a key is an IPv6 address, which only `ip` may be. */
function noticingAddresses<Request, Attributes extends Record<string, unknown>>(
  policy: AnyPolicy,
  attributesOf: (request: Request) => Awaitable<Attributes>,
  client: RequestClient<Request> = NO_CLIENT,
): (request: Request) => Awaitable<Attributes> {
  const names = madeWith(policy)?.keyAttributes?.filter((name) => !KNOWN.includes(name)) ?? []
  if (names.length === 0) return attributesOf
  const addresses = new AddressKeys(
    client,
    `an attribute of a key, ${names.join(' or ')},`,
    "Write 'ip' in the key of the level: the policy counts it by its network",
  )
  return (request) =>
    mapped(attributesOf(request), (attributes) => {
      for (const name of names) addresses.check(attributes[name], request)
      return attributes
    })
}

function unknownAddress(): never {
  throw new InvalidTypeError(
    'rateLimit cannot tell here where a request comes from; give it a key, or address: a function that returns the address of the connection',
    { option: 'address' },
  )
}
