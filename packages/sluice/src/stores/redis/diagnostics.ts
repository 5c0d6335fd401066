import { channel } from 'node:diagnostics_channel'

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
  /** The key in Redis holds what no limit wrote. */
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
  /** What failed last, if it opened. */
  readonly error: unknown
}

/** Published on the channel `sluice:redis:reconnect` when a connection was silent for so long that it was dropped. */
export interface ReconnectEvent {
  readonly store: object
}

const degradedChannel = channel('sluice:redis:degraded')
const breakerChannel = channel('sluice:redis:breaker')
const reconnectChannel = channel('sluice:redis:reconnect')

export function publishDegraded(event: DegradedEvent): void {
  if (degradedChannel.hasSubscribers) degradedChannel.publish(event)
}

export function publishBreaker(event: BreakerEvent): void {
  if (breakerChannel.hasSubscribers) breakerChannel.publish(event)
}

export function publishReconnect(event: ReconnectEvent): void {
  if (reconnectChannel.hasSubscribers) reconnectChannel.publish(event)
}
