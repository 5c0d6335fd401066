/**
 * Answers of stores that are not ours. A malformed answer is an error of the store, which `onFailure` answers if it is
 * stated; taken as it is, it could lose a limit, or throw where nothing catches it.
 */
import { InvalidTypeError, shown } from '../errors.js'
import type { Decision } from '../limits/index.js'
import { type Awaitable, isPromiseLike } from './awaitable.js'
import type { Answer } from './store.js'

/** The store has answered, but not with an answer. */
export class MalformedAnswerError extends InvalidTypeError {}

const NUMBERS = ['quota', 'remaining', 'retryAfterMs', 'nextUnitAfterMs', 'resetAfterMs', 'delayMs'] as const

/** An answer to so many demands; anything else throws a `MalformedAnswerError`. */
export function checkAnswer(answer: Answer, demands: number): Answer {
  const { allowed, decisions, takenUs } = (answer ?? {}) as Partial<Answer>
  const isWhole =
    typeof allowed === 'boolean' &&
    Array.isArray(decisions) &&
    Array.isArray(takenUs) &&
    decisions.length === demands &&
    takenUs.length === demands &&
    decisions.every(isDecision) &&
    takenUs.every((us) => typeof us === 'number')
  return isWhole ? answer : refuse(answer, 'allowed, decisions and takenUs, one for each demand')
}

/** A decision; anything else throws a `MalformedAnswerError`. */
export function checkDecision(decision: Decision): Decision {
  return isDecision(decision) ? decision : refuse(decision, 'a decision')
}

function isDecision(value: unknown): value is Decision {
  if (typeof value !== 'object' || value === null) return false
  const decision = value as Partial<Decision>
  return typeof decision.allowed === 'boolean' && NUMBERS.every((name) => typeof decision[name] === 'number')
}

/** What a synchronous store returned; a promise throws a `MalformedAnswerError`. */
export function checkAtOnce<T>(answer: Awaitable<T>): T {
  if (!isPromiseLike(answer)) return answer
  // Nothing waits for the promise, so a rejection of it would end the process.
  Promise.resolve(answer).catch(() => {})
  return refuse(answer, 'a value, because the store says that it is synchronous')
}

function refuse(answer: unknown, wanted: string): never {
  throw new MalformedAnswerError(`the answer of the store must be ${wanted}, got ${shown(answer)}`)
}
