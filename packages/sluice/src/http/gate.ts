import { InvalidTypeError, invalidType, invalidValue, shown } from '../errors.js'
import {
  type AsyncReservation,
  createLimiter,
  type Limiter,
  type Reservation,
  type SharedStoreOptions,
} from '../limiter/index.js'
import { SyncLimiter } from '../limiter/sync-limiter.js'
import { type Decision, isConcurrency } from '../limits/index.js'
import type { Verdict } from '../policy/index.js'
import type { AsyncStore, Awaitable, SyncStore } from '../stores/index.js'
import { atOnce, type GuardOptions, type LimitOptions, type PolicyOptions } from './guard-options.js'
import { quotaPolicyOf } from './quota-policy.js'
import type { RequestFacts } from './request-facts.js'
import { verdictOfOne } from './verdict-of-one.js'

/** Units that were taken, and may be settled. */
export interface Held {
  readonly verdict: Verdict
  settle(actual: number | Readonly<Record<string, number>>): Awaitable<void>
  cancel(): Awaitable<void>
  /** Gives back what is in flight, when it is over. */
  release(): Awaitable<void>
}

/** What stands before a handler and decides: a limit or a policy. */
export interface Gate<Request> {
  check(request: Request, cost: number): Awaitable<Verdict>
  reserve(request: Request, cost: number): Awaitable<Held>
  /** May a request have to wait for its turn? Then what it holds is given back if the client does not wait. */
  readonly queues: boolean
  /** May a request hold places that are to be given back when it is over? */
  readonly leases: boolean
  /** The limit itself, if it answers at once. */
  readonly atOnce?: LimitAtOnce<Request>
}

/** A limit that answers at once. */
export interface LimitAtOnce<Request> {
  readonly limiter: Limiter
  readonly keyOf: (request: Request) => string
  readonly verdictOf: (decision: Decision) => Verdict
}

export function gateOf<Request>(options: GuardOptions<Request>, facts: RequestFacts<Request>): Gate<Request> {
  return options.policy === undefined ? limitGate(options, facts) : policyGate(options, facts)
}

function limitGate<Request>(options: LimitOptions<Request>, facts: RequestFacts<Request>): Gate<Request> {
  const { name, limit, store, onFailure } = options
  const limiter = createLimiter(
    definedOnly({ limit, name, store, onFailure }) as SharedStoreOptions<SyncStore | AsyncStore>,
  )
  const { cost } = options
  if (typeof cost === 'number' && cost > quotaPolicyOf(limiter.limit).quota)
    throw invalidValue('cost', 'no more than the quota of the limit, or nobody passes', cost)
  const keyOf = keyWith(options.key, facts.client)
  const { name: label, limit: used } = limiter
  const verdictOf = (decision: Decision): Verdict => verdictOfOne({ name: label, limit: used, decision })
  const leases = isConcurrency(limiter.limit)
  if (leases && options.settle !== undefined)
    throw invalidType('settle', 'left out beside a concurrency limit, of which all is given back', options.settle)
  const held = (reservation: Reservation | AsyncReservation): Held => ({
    verdict: verdictOf(reservation.decision),
    settle: (actual) => reservation.settle(actual as number),
    cancel: () => reservation.cancel(),
    release: () => (leases ? reservation.cancel() : undefined),
  })
  return {
    check: (request, cost) => mapped(limiter.tryAcquire(keyOf(request), { cost }), verdictOf),
    reserve: (request, cost) => mapped(limiter.reserve(keyOf(request), { cost }), held),
    queues: limit.algorithm === 'leaky-bucket',
    leases,
    ...(limiter instanceof SyncLimiter && { atOnce: { limiter, keyOf, verdictOf } }),
  }
}

function keyWith<Request>(
  key: LimitOptions<Request>['key'],
  client: RequestFacts<Request>['client'],
): (request: Request) => string {
  if (key === undefined) return client ?? unknownAddress()
  return (request) => {
    const given = atOnce('key', key(request))
    if (!isNothing(given)) return given
    return BY_ADDRESS + (client === undefined ? unknownAddress() : client(request))
  }
}

/**
 * Clients may send a header field or a parameter empty, or send it twice, which frameworks read as a list. Neither is a
 * value: an empty key would be one bucket for all who send it, and an error would be a 500 that clients make at will.
 */
function isNothing(value: unknown): value is null | undefined {
  return value === undefined || value === null || value === '' || Array.isArray(value)
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

/** Keeps clients that have no key apart from keys that read like their addresses. No header field can hold it. */
const BY_ADDRESS = '\0'

function policyGate<Request>(options: PolicyOptions<Request>, facts: RequestFacts<Request>): Gate<Request> {
  const { policy, attributes } = options
  const known = facts.ip === undefined ? ['method', 'path'] : ['method', 'path', 'ip']
  const asked = policy.attributes.filter((name) => !known.includes(name))
  if (asked.length > 0 && attributes === undefined) throw asked[0] === 'ip' ? unknownAddress() : unsaid(asked[0])
  const attributesOf = (request: Request) => {
    const given = attributes && (atOnce('attributes', attributes(request)) as { readonly ip?: unknown })
    const all: Record<string, unknown> = {
      method: facts.method(request),
      path: facts.path(request),
      ...(facts.ip && { ip: facts.ip(request) }),
      ...given,
    }
    // Attributes without an address do not say that there is none: only `ip: null` does. So it is with method and path.
    if (facts.ip !== undefined && isNothing(all.ip) && given?.ip !== null) all.ip = facts.ip(request)
    if (all.method === undefined || all.method === '') all.method = facts.method(request)
    if (all.path === undefined || all.path === '') all.path = facts.path(request)
    // A level whose attribute is forgotten or misspelt would match nobody.
    for (const name of asked) {
      if (!Object.hasOwn(all, name)) throw unsaid(name)
      // As Node.js joins fields that come twice. Taken for absent, a client could leave the levels that ask for it.
      if (isTexts(all[name])) all[name] = all[name].join(', ')
    }
    return all
  }
  return {
    check: (request, cost) => policy.check(attributesOf(request), { cost }),
    reserve: (request, cost) => policy.reserve(attributesOf(request), { cost }),
    queues: policy.queues,
    get leases() {
      return policy.leases
    },
  }
}

function unsaid(name: string): InvalidTypeError {
  const wanted = `(request) => ({ ${/^[a-z_$][\w$]*$/i.test(name) ? name : shown(name)}: … })`
  return new InvalidTypeError(
    `the policy asks about ${shown(name)}; give rateLimit attributes: ${wanted}, with null where a request has none`,
    { option: 'attributes' },
  )
}

export function unknownAddress(): never {
  throw new InvalidTypeError(
    'rateLimit does not know here where a request comes from; give it a key, or address: a function that says the address of the connection',
    { option: 'address' },
  )
}

/** What was left out is not there, rather than undefined. */
function definedOnly(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

/** What a value comes to, now or when it is there. */
export function mapped<From, To>(value: Awaitable<From>, to: (value: From) => To): Awaitable<To> {
  return value instanceof Promise ? value.then(to) : to(value as From)
}
