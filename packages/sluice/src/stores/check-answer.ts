/**
 * Third-party stores may return malformed answers. Such an answer could lose a limit, or throw where nothing catches it. So
 * it counts as a failure of the store, and `onFailure` answers it.
 */
import { InvalidTypeError, shown } from '../errors.js'
import { LONGEST_DURATION_US } from '../limits/duration.js'
import { arithmeticOf, type Decision, isUnlimited, type Limit } from '../limits/index.js'
import { type Answer, type Awaitable, type Demand, isPromiseLike, type OnFailure } from './store.js'

/** The store returned something that is not an answer. */
export class MalformedAnswerError extends InvalidTypeError {}

/** All are numbers from 0. A wait may be infinite, a count only without a limit; a timer must be able to wait for a delay. */
const COUNTS = ['quota', 'remaining'] as const
const WAITS = ['retryAfterMs', 'nextUnitAfterMs', 'resetAfterMs'] as const
const RULES: readonly OnFailure[] = ['open', 'closed', 'local']
const LONGEST_DELAY_MS = LONGEST_DURATION_US / 1_000

/** Returns a well-formed answer to these demands; throws a `MalformedAnswerError` for anything else. */
export function checkAnswer(answer: Answer, demands: readonly Demand[]): Answer {
  const { allowed, decisions, takenUs } = (answer ?? {}) as Partial<Answer>
  const isWhole =
    typeof allowed === 'boolean' &&
    Array.isArray(decisions) &&
    Array.isArray(takenUs) &&
    decisions.length === demands.length &&
    takenUs.length === demands.length &&
    decisions.every((decision, i) => isDecision(decision, demands[i].limit)) &&
    takenUs.every(Number.isFinite)
  if (!isWhole) return refuse(answer, 'allowed, decisions and takenUs, one for each demand')
  const isMet = demands.every((demand, i) => decisions[i].allowed || isShadow(demand, demands))
  return isMet === allowed
    ? answer
    : refuse(answer, 'allowed if, and only if, every demand that is not a shadow is allowed')
}

/** Is every demand for the state of this one a shadow? */
function isShadow({ name, key, limit, shadow }: Demand, demands: readonly Demand[]): boolean {
  if (shadow !== true) return false
  const { stateId } = arithmeticOf(limit)
  return demands.every(
    (other) =>
      other.shadow === true ||
      other.name !== name ||
      other.key !== key ||
      arithmeticOf(other.limit).stateId !== stateId,
  )
}

/** Returns a well-formed decision; throws a `MalformedAnswerError` for anything else. */
export function checkDecision(decision: Decision, { limit }: Pick<Demand, 'limit'>): Decision {
  return isDecision(decision, limit) ? decision : refuse(decision, 'a decision')
}

function isDecision(value: unknown, limit: Limit): value is Decision {
  if (typeof value !== 'object' || value === null) return false
  const decision = value as Partial<Decision>
  return (
    typeof decision.allowed === 'boolean' &&
    COUNTS.every((name) => isFrom0(decision[name]) && (decision[name] < Infinity || isUnlimited(limit))) &&
    WAITS.every((name) => isFrom0(decision[name])) &&
    isFrom0(decision.delayMs) &&
    decision.delayMs <= LONGEST_DELAY_MS &&
    (decision.degraded === undefined || RULES.includes(decision.degraded))
  )
}

function isFrom0(value: unknown): value is number {
  return typeof value === 'number' && value >= 0
}

/** Returns a value of a synchronous store; throws a `MalformedAnswerError` for a promise. */
export function checkAtOnce<T>(answer: Awaitable<T>): T {
  if (!isPromiseLike(answer)) return answer
  // Nothing waits for the promise, so a rejection of it would end the process.
  Promise.resolve(answer).catch(() => {})
  return refuse(answer, 'a value, because the store says that it is synchronous')
}

function refuse(answer: unknown, wanted: string): never {
  throw new MalformedAnswerError(`the answer of the store must be ${wanted}, got ${shown(answer)}`)
}
