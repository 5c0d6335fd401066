import { channel } from 'node:diagnostics_channel'
import { reasonOf, StoreUnavailableError, warn } from '../../errors.js'

/** Why a call was answered without the service. */
export type ServiceFailureReason =
  /** The service did not answer in time. */
  | 'deadline'
  /** The connection failed, or the answer was an error or malformed. */
  | 'error'
  /** The service had not answered shortly before, and was not asked. */
  | 'breaker'
  /** Too many calls were waiting. */
  | 'overload'

/** Published on the channel `sluice:client:degraded`. */
export interface ServiceDegradedEvent {
  readonly store: object
  readonly reason: ServiceFailureReason
  readonly error: unknown
}

/** Published on the channel `sluice:client:breaker` when the breaker opens or closes. */
export interface ServiceBreakerEvent {
  readonly store: object
  readonly state: 'open' | 'closed'
  /** The latest failure, if the breaker opened. */
  readonly error: unknown
}

const degradedChannel = channel('sluice:client:degraded')
const breakerChannel = channel('sluice:client:breaker')

/** Counts and publishes the failures of one service store, and warns once of a long outage. */
export class ServiceFailures {
  readonly #store: object
  /** The service and the rule that the warning names. */
  readonly #origin: string
  readonly #onFailure: string
  readonly counts: Record<ServiceFailureReason, number> = { deadline: 0, error: 0, breaker: 0, overload: 0 }
  #hasWarned = false

  constructor(store: object, origin: string, onFailure: string) {
    this.#store = store
    this.#origin = origin
    this.#onFailure = onFailure
  }

  /** A call was answered without the service. */
  count(reason: ServiceFailureReason, error: unknown): void {
    this.counts[reason]++
    if (degradedChannel.hasSubscribers) degradedChannel.publish({ store: this.#store, reason, error })
  }

  breaker(state: ServiceBreakerEvent['state'], error: unknown): void {
    if (breakerChannel.hasSubscribers) breakerChannel.publish({ store: this.#store, state, error })
  }

  /** The service has not answered for long. May be called often. */
  longOutage(error: unknown): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    warn(
      `the service at ${this.#origin} has not answered for a while (${reasonOf(error)}). Until it does, limits answer ` +
        `'${this.#onFailure}' where nothing else was said.`,
      'SLUICE_SERVICE_UNAVAILABLE',
    )
  }
}

/** The error of a call that no fallback can answer. `consequence` says what may not have happened. */
export function serviceUnavailable(
  consequence: string,
  reason: ServiceFailureReason,
  cause: unknown,
): StoreUnavailableError {
  const why = cause === undefined ? reason : `${reason}: ${reasonOf(cause)}`
  return new StoreUnavailableError(`the service did not answer (${why}); ${consequence}`, { cause })
}
