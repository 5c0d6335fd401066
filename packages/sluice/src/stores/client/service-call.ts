import type { Decision, Limit, Taken } from '../../limits/index.js'
import type { Fallback } from '../fallback.js'
import type { Answer, Demand } from '../store.js'
import { type CallsBody, readAnswer, readDecision } from './calls-body.js'
import { type ServiceFailureReason, serviceUnavailable } from './service-failures.js'

/** Calls that were made in one turn of the event loop and share a deadline. */
export interface CallTurn {
  calls: ServiceCall[]
  /** How many calls have no answer yet. */
  open: number
  /** The deadline, by `performance.now()`. */
  endsMs: number
}

/** One call to the service. Its functions answer the caller that waits. `ServiceLink` calls `read` or `fail` to answer. */
export interface ServiceCall {
  /** How many demands, and how many characters of names and keys, it adds to a body. */
  readonly demands: number
  readonly characters: number
  /** A refund is sent even if too many calls are pending. */
  readonly isUrgent: boolean
  /** Adds itself to the body of a request. */
  readonly write: (body: CallsBody) => void
  /** Reads the service's answer and answers the caller. Throws, and does not answer, if it is malformed. */
  readonly read: (answer: unknown) => void
  /** Answers the caller without the service. */
  readonly fail: (reason: ServiceFailureReason, error: unknown) => void
  /** Set by `ServiceLink`, like the fields below. */
  isAnswered: boolean
  turn: CallTurn | undefined
  /** The HTTP request that it was sent with, once it has been sent. */
  sent: { open: number; readonly giveUp: () => void } | undefined
}

type CallFunctions = Pick<ServiceCall, 'write' | 'read' | 'fail'>

function serviceCall(demands: readonly NamedKey[], functions: CallFunctions, isUrgent = false): ServiceCall {
  const { write, read, fail } = functions
  let characters = 0
  for (const { name, key } of demands) characters += name.length + key.length
  return {
    demands: demands.length,
    characters,
    isUrgent,
    write,
    read,
    fail,
    isAnswered: false,
    turn: undefined,
    sent: undefined,
  }
}

/** A key under a name, and the limits that this process uses under that name. */
export interface NamedKey {
  readonly name: string
  readonly key: string
  readonly limits?: Iterable<Limit>
}

export function decideCall(
  demands: readonly Demand[],
  resolve: (answer: Answer) => void,
  fallback: Fallback,
): ServiceCall {
  return serviceCall(demands, {
    write: (body) => body.decide(demands),
    read: (answer) => resolve(readAnswer(answer, demands)),
    fail: () => resolve(fallback.decide(demands)),
  })
}

export function chargeCall(demand: Demand, resolve: (decision: Decision) => void, fallback: Fallback): ServiceCall {
  return serviceCall([demand], {
    write: (body) => body.charge(demand),
    read: (answer) => resolve(readDecision(answer)),
    fail: () => resolve(fallback.charge(demand)),
  })
}

export function refundCall(
  demand: Demand,
  taken: Taken | undefined,
  resolve: (decision: Decision) => void,
  fallback: Fallback,
): ServiceCall {
  const functions: CallFunctions = {
    write: (body) => body.refund(demand, taken),
    read: (answer) => resolve(readDecision(answer)),
    fail: () => resolve(fallback.refund(demand, taken)),
  }
  return serviceCall([demand], functions, true)
}

/** Forgets the states of a key, or blocks it for `blockUs`. Rejects if the service does not answer. */
export function resetOrBlockCall(
  { name, key, limits = [] }: NamedKey,
  blockUs: number | undefined,
  resolve: () => void,
  reject: (error: unknown) => void,
): ServiceCall {
  return serviceCall([{ name, key }], {
    write: (body) => (blockUs === undefined ? body.reset(name, key, limits) : body.block(name, key, limits, blockUs)),
    read: (answer) => {
      if (typeof answer !== 'object' || answer === null) throw new Error('the service did not answer with an object')
      resolve()
    },
    fail: (reason, error) => {
      const verb = blockUs === undefined ? 'reset' : 'blocked'
      reject(serviceUnavailable(`the key may not have been ${verb}`, reason, error))
    },
  })
}
