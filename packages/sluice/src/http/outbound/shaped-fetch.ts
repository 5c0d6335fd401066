import type { CloseOptions } from '../../shaper/index.js'
import type { FetchArguments } from './fetch-call.js'
import { Outbound } from './outbound.js'
import { checkShapedFetchOptions, type ShapedFetchOptions } from './shaped-fetch-options.js'
import { shapersByHost } from './shapers-by-host.js'

/** `fetch` for calls to the API of another server. */
export interface ShapedFetch {
  /**
   * Calls like `fetch`, when it is the call's turn. Rejects with a `QueueFullError` if the queue is full, with a
   * `WaitTooLongError` if the turn is too far away, with the signal's reason if that is aborted, and with a `ClosedError`
   * after `close`.
   */
  (...args: FetchArguments): Promise<Response>
  /** How many calls wait for their turn or for a retry. */
  readonly size: number
  /**
   * Takes no more calls. Waiting calls are still made, including retries; with `waiting: 'reject'` they are rejected at once.
   * Resolves when all calls are over.
   */
  close(options?: CloseOptions): Promise<void>
}

/**
 * Makes a `fetch` that calls other servers politely: each host at a constant rate, slower when the server asks for it by
 * `Retry-After` and `RateLimit`, and with retries, with jitter and within a budget, where they may help.
 *
 * @example
 * ```ts
 * import { shapedFetch } from 'sluice/http'
 *
 * const fetch = shapedFetch({ drain: '10/s', capacity: 100 })
 * const load = async (id: number) => (await fetch(`https://api.example.com/users/${id}`)).json()
 * ```
 */
export function shapedFetch(options: ShapedFetchOptions): ShapedFetch {
  const outbound = new Outbound(checkShapedFetchOptions(options), shapersByHost(options))
  const call = (...args: FetchArguments) => outbound.fetch(...args)
  const close = (options?: CloseOptions) => outbound.close(options)
  return Object.defineProperties(call, {
    size: { get: () => outbound.size, enumerable: true },
    close: { value: close, enumerable: true },
  }) as ShapedFetch
}
