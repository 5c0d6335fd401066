import { StoreUnavailableError } from '../../errors.js'
import type { Decision, Taken } from '../../limits/index.js'
import type { Fallback } from '../fallback.js'
import type { Answer, Demand } from '../store.js'
import { type FailureReason, publishDegraded } from './diagnostics.js'

/** Answers calls that Redis did not, and counts why. */
export class Failures {
  readonly #store: object
  readonly #fallback: Fallback
  readonly counts: Record<FailureReason, number> = { deadline: 0, error: 0, breaker: 0, overload: 0, foreign: 0 }

  constructor(store: object, fallback: Fallback) {
    this.#store = store
    this.#fallback = fallback
  }

  decide(demands: readonly Demand[], reason: FailureReason, error: unknown): Answer {
    this.#count(reason, error)
    return this.#fallback.decide(demands)
  }

  charge(demand: Demand, reason: FailureReason, error: unknown): Decision {
    this.#count(reason, error)
    return this.#fallback.charge(demand)
  }

  refund(demand: Demand, taken: Taken | undefined, reason: FailureReason, error: unknown): Decision {
    this.#count(reason, error)
    return this.#fallback.refund(demand, taken)
  }

  /** For what nobody else can do: the error to reject with. */
  unavailable(what: string, reason: FailureReason, cause: unknown): StoreUnavailableError {
    this.#count(reason, cause)
    return new StoreUnavailableError(`Redis did not answer (${reason}); ${what}`, { cause })
  }

  #count(reason: FailureReason, error: unknown): void {
    this.counts[reason]++
    publishDegraded({ store: this.#store, reason, error })
  }
}
