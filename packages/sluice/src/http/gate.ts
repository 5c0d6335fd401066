import { type AsyncReservation, createLimiter, type Reservation, type SharedStoreOptions } from '../limiter/index.js'
import type { Decision, Limit } from '../limits/index.js'
import type { Verdict } from '../policy/index.js'
import type { AsyncStore, Awaitable, SyncStore } from '../stores/index.js'
import type { GuardOptions, LimitOptions, PolicyOptions } from './guard-options.js'
import type { RequestFacts } from './request-facts.js'

/** Units that were taken, and may be settled. */
export interface Held {
  readonly verdict: Verdict
  settle(actual: number): Awaitable<void>
  cancel(): Awaitable<void>
}

/** What stands before a handler and decides: a limit or a policy. */
export interface Gate<Request> {
  check(request: Request, cost: number): Awaitable<Verdict>
  reserve(request: Request, cost: number): Awaitable<Held>
  /** May a request have to wait for its turn? Then what it holds is given back if the client does not wait. */
  readonly queues: boolean
}

export function gateOf<Request>(options: GuardOptions<Request>, facts: RequestFacts<Request>): Gate<Request> {
  return options.policy === undefined ? limitGate(options, facts) : policyGate(options, facts)
}

function limitGate<Request>(options: LimitOptions<Request>, facts: RequestFacts<Request>): Gate<Request> {
  const { name, limit, store, onFailure } = options
  const limiter = createLimiter(
    definedOnly({ limit, name, store, onFailure }) as SharedStoreOptions<SyncStore | AsyncStore>,
  )
  const keyOf = options.key ?? ((request: Request) => facts.client(request))
  const verdict = (decision: Decision) => verdictOfOne(limiter.name, limiter.limit, decision)
  const held = (reservation: Reservation | AsyncReservation): Held => ({
    verdict: verdict(reservation.decision),
    settle: (actual) => reservation.settle(actual),
    cancel: () => reservation.cancel(),
  })
  return {
    check: (request, cost) => mapped(limiter.tryAcquire(keyOf(request), { cost }), verdict),
    reserve: (request, cost) => mapped(limiter.reserve(keyOf(request), { cost }), held),
    queues: limit.algorithm === 'leaky-bucket',
  }
}

function policyGate<Request>(options: PolicyOptions<Request>, facts: RequestFacts<Request>): Gate<Request> {
  const { policy, attributes } = options
  const attributesOf = (request: Request) => ({
    method: facts.method(request),
    path: facts.path(request),
    ip: facts.ip(request),
    ...attributes?.(request),
  })
  return {
    check: (request, cost) => policy.check(attributesOf(request), { cost }),
    reserve: (request, cost) => policy.reserve(attributesOf(request), { cost }),
    queues: false,
  }
}

/** What was left out is not there, rather than undefined. */
function definedOnly(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

function verdictOfOne(name: string, limit: Limit, decision: Decision): Verdict {
  const { allowed, retryAfterMs, delayMs, degraded } = decision
  const verdict = {
    allowed,
    deniedBy: allowed ? [] : [name],
    levels: [{ name, limit, decision }],
    retryAfterMs,
    delayMs,
  }
  return degraded === undefined ? verdict : { ...verdict, degraded }
}

/** What a value comes to, now or when it is there. */
export function mapped<From, To>(value: Awaitable<From>, to: (value: From) => To): Awaitable<To> {
  return value instanceof Promise ? value.then(to) : to(value as From)
}
