/**
 * Answers of stores that are not ours. A malformed answer is an error of the store, which `onFailure` answers if it is
 * stated; taken as it is, it could lose a limit, or throw where nothing catches it.
 */
import { InvalidTypeError, shown } from '../errors.js'
import { LONGEST_DURATION_US } from '../limits/duration.js'
import type { Decision } from '../limits/index.js'
import { type Awaitable, isPromiseLike } from './awaitable.js'
import type { Answer, Demand } from './store.js'

/** The store has answered, but not with an answer. */
export class MalformedAnswerError extends InvalidTypeError {}

/** Numbers from 0. Only a wait may be infinite, and a turn must be one that a timer can wait for. */
const COUNTS = ['quota', 'remaining'] as const
const WAITS = ['retryAfterMs', 'nextUnitAfterMs', 'resetAfterMs'] as const
const LONGEST_DELAY_MS = LONGEST_DURATION_US / 1_000

/** An answer to these demands; anything else throws a `MalformedAnswerError`. */
export function checkAnswer(answer: Answer, demands: readonly Demand[]): Answer {
  const { allowed, decisions, takenUs } = (answer ?? {}) as Partial<Answer>
  const isWhole =
    typeof allowed === 'boolean' &&
    Array.isArray(decisions) &&
    Array.isArray(takenUs) &&
    decisions.length === demands.length &&
    takenUs.length === demands.length &&
    decisions.every(isDecision) &&
    takenUs.every(Number.isFinite)
  if (!isWhole) return refuse(answer, 'allowed, decisions and takenUs, one for each demand')
  const isMet = demands.every(({ shadow }, i) => shadow === true || decisions[i].allowed)
  return isMet === allowed ? answer : refuse(answer, 'allowed if every demand that is no shadow is met, and else not')
}

/** A decision; anything else throws a `MalformedAnswerError`. */
export function checkDecision(decision: Decision): Decision {
  return isDecision(decision) ? decision : refuse(decision, 'a decision')
}

function isDecision(value: unknown): value is Decision {
  if (typeof value !== 'object' || value === null) return false
  const decision = value as Partial<Decision>
  return (
    typeof decision.allowed === 'boolean' &&
    COUNTS.every((name) => isFrom0(decision[name]) && decision[name] < Infinity) &&
    WAITS.every((name) => isFrom0(decision[name])) &&
    isFrom0(decision.delayMs) &&
    decision.delayMs <= LONGEST_DELAY_MS
  )
}

function isFrom0(value: unknown): value is number {
  return typeof value === 'number' && value >= 0
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
