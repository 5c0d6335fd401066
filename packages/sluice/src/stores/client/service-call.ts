import type { Decision, Limit, Taken } from '../../limits/index.js'
import type { Fallback } from '../fallback.js'
import type { Answer, Awaitable, Demand, LimitedKey } from '../store.js'
import { type CallsBody, readAnswer, readDecision } from './calls-body.js'
import { type ServiceFailureReason, serviceUnavailable } from './service-failures.js'

/** One call to the service, for `ServiceLink.ask`. */
export interface ServiceCall<T> {
  /** The names and keys that it adds to a body. */
  readonly keys: readonly NamedKey[]
  /** Adds itself to the body of a request. */
  readonly write: (body: CallsBody) => void
  /** Reads the service's answer. Throws if it is malformed. */
  readonly read: (answer: unknown) => T
  /** Answers without the service. */
  readonly fail: (reason: ServiceFailureReason, error: unknown) => Awaitable<T>
  /** A refund is sent even if too many calls are pending. */
  readonly isUrgent?: boolean
}

/** A key under a name. */
interface NamedKey {
  readonly name: string
  readonly key: string
}

export function decideCall(demands: readonly Demand[], fallback: Fallback): ServiceCall<Answer> {
  return {
    keys: demands,
    write: (body) => body.decide(demands),
    read: (given) => {
      const answer = readAnswer(given, demands)
      fallback.keepBlocks(demands, answer)
      return answer
    },
    fail: () => fallback.decide(demands),
  }
}

export function peekCall(demands: readonly Demand[], fallback: Fallback): ServiceCall<Answer> {
  return {
    keys: demands,
    write: (body) => body.peek(demands),
    read: (given) => readAnswer(given, demands),
    fail: () => fallback.peek(demands),
  }
}

export function chargeCall(demand: Demand, fallback: Fallback): ServiceCall<Decision> {
  return {
    keys: [demand],
    write: (body) => body.charge(demand),
    read: (given) => readDecision(given, demand),
    fail: () => fallback.charge(demand),
  }
}

/** Gives back the cost of a demand: the units of `taken`, or the newest. */
export function refundCall(demand: Demand, taken: Taken | undefined, fallback: Fallback): ServiceCall<Decision> {
  return {
    keys: [demand],
    write: (body) => body.refund(demand, taken),
    read: (given) => readDecision(given, demand),
    fail: () => fallback.refund(demand, taken),
    isUrgent: true,
  }
}

/** Leaves a key `remaining` units. Rejects if the service does not answer. */
export function setCall(limited: LimitedKey, remaining: number): ServiceCall<Decision> {
  return {
    keys: [limited],
    write: (body) => body.set(limited, remaining),
    read: (given) => readDecision(given, limited),
    fail: (reason, error) => Promise.reject(serviceUnavailable('the key may not have been set', reason, error)),
  }
}

/**
 * Forgets the states of a key, or blocks them for `blockUs`. `limits` are those that this process uses under the name.
 * Rejects if the service does not answer.
 */
export function resetOrBlockCall(
  named: NamedKey,
  limits: Iterable<Limit>,
  blockUs: number | undefined,
): ServiceCall<void> {
  const verb = blockUs === undefined ? 'reset' : 'blocked'
  return {
    keys: [named],
    write: (body) => body.resetOrBlock(named, limits, blockUs),
    read: (answer) => {
      if (typeof answer !== 'object' || answer === null) throw new Error('the service did not answer with an object')
    },
    fail: (reason, error) => Promise.reject(serviceUnavailable(`the key may not have been ${verb}`, reason, error)),
  }
}
