/** What those are told who cannot wait. */
import { QueueFullError, WaitTooLongError } from '../errors.js'

export function queueFull(name: string, capacity: number, cost: number, retryAfterMs: number): QueueFullError {
  const message =
    retryAfterMs === Infinity
      ? `a cost of ${cost} is more than the queue of the shaper '${name}' holds (capacity ${capacity})`
      : `the queue of the shaper '${name}' is full (capacity ${capacity}); come back in ${retryAfterMs} ms`
  return new QueueFullError(message, retryAfterMs)
}

export function tooLong(maxWaitMs: number, waitMs: number): WaitTooLongError {
  const ms = Math.max(1, Math.ceil(waitMs))
  return new WaitTooLongError(`a turn would take ${ms} ms more, and was not to take longer than ${maxWaitMs} ms`, ms)
}
