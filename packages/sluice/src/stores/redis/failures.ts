import { channel } from 'node:diagnostics_channel'
import { StoreUnavailableError, warn } from '../../errors.js'
import type { ScriptRunner } from './clients/script-runner.js'

/** Why a request was answered without Redis. */
export type FailureReason =
  /** Redis did not answer in time. */
  | 'deadline'
  /** The client or Redis answered with an error. */
  | 'error'
  /** Redis had not answered shortly before, and was not asked. */
  | 'breaker'
  /** Too many requests were waiting. */
  | 'overload'
  /** The key in Redis holds a value that no limit wrote. */
  | 'foreign'

/** Published on the channel `sluice:redis:degraded`. */
export interface DegradedEvent {
  readonly store: object
  readonly reason: FailureReason
  readonly error: unknown
}

/** Published on the channel `sluice:redis:breaker` when a breaker opens or closes. */
export interface BreakerEvent {
  readonly store: object
  readonly state: 'open' | 'closed'
  /** The latest failure, if the breaker opened. */
  readonly error: unknown
}

/** Published on the channel `sluice:redis:reconnect` when a connection was silent for so long that it was dropped. */
export interface ReconnectEvent {
  readonly store: object
}

const degradedChannel = channel('sluice:redis:degraded')
const breakerChannel = channel('sluice:redis:breaker')
const reconnectChannel = channel('sluice:redis:reconnect')

/** Counts and publishes the failures of one store, and warns once of what its owner should change. */
export class Failures {
  readonly #store: object
  /** The rule that the warning of a long outage names. */
  readonly #onFailure: string
  /** The codes of warnings that were given. */
  readonly #warned = new Set<string>()
  readonly counts: Record<FailureReason, number> = { deadline: 0, error: 0, breaker: 0, overload: 0, foreign: 0 }
  /** How many silent connections were dropped. */
  reconnects = 0

  constructor(store: object, onFailure: string) {
    this.#store = store
    this.#onFailure = onFailure
  }

  /** A call was answered without Redis. */
  count(reason: FailureReason, error: unknown): void {
    this.counts[reason]++
    if (degradedChannel.hasSubscribers) degradedChannel.publish({ store: this.#store, reason, error })
  }

  breaker(state: BreakerEvent['state'], error: unknown): void {
    if (breakerChannel.hasSubscribers) breakerChannel.publish({ store: this.#store, state, error })
  }

  reconnect(): void {
    this.reconnects++
    if (reconnectChannel.hasSubscribers) reconnectChannel.publish({ store: this.#store })
  }

  /** A server has not answered for long. May be called often. */
  longOutage(): void {
    this.#warnOnce(
      'SLUICE_REDIS_UNAVAILABLE',
      `Redis has not answered for a while. Until it does, limits answer '${this.#onFailure}' where nothing else was said. ` +
        'Is the client connected?',
    )
  }

  /** A server redirected a call, and the client did not follow. May be called often. */
  redirection(): void {
    this.#warnOnce(
      'SLUICE_REDIS_NOT_A_CLUSTER_CLIENT',
      'This Redis server is part of a cluster, and redirects. Pass a cluster client, or limits of other servers are lost.',
    )
  }

  #warnOnce(code: string, message: string): void {
    if (!this.#warned.has(code)) warn(message, code)
    this.#warned.add(code)
  }
}

/** The key in Redis holds a value that no limit wrote. */
export class ForeignState extends Error {
  constructor(keys: readonly string[]) {
    super(`the Redis key ${keys.join(' or ')} holds a value that no limit wrote`)
  }
}

/** The error of a call that no fallback can answer. `consequence` says what may not have happened. */
export function unavailable(consequence: string, reason: FailureReason, cause: unknown): StoreUnavailableError {
  return new StoreUnavailableError(`Redis did not answer (${reason}); ${consequence}`, { cause })
}

const warnedOf = new WeakSet<object>()

/** Warns once for each client if its options let a call wait or be sent twice in an outage. */
export function warnOfOptions(client: object, { unsafeOptions, safeOptions }: ScriptRunner): void {
  if (unsafeOptions.length === 0 || warnedOf.has(client)) return
  warnedOf.add(client)
  warn(
    'In an outage this Redis client may keep decisions waiting or send them twice. ' +
      `Give it ${safeOptions} of sluice/redis: ${unsafeOptions.join(', ')}.`,
    'SLUICE_REDIS_CLIENT_OPTIONS',
  )
}
