import type { CloseOptions } from '../../shaper/index.js'
import type { FetchArguments } from './call.js'
import { checkShapedFetchOptions } from './check-options.js'
import { Outbound } from './outbound.js'
import type { ShapedFetchOptions } from './shaped-fetch-options.js'

/** `fetch` for calls to somebody else's API. */
export interface ShapedFetch {
  /**
   * Calls like `fetch`, when it is the call's turn. Rejects with a `QueueFullError` or a `WaitTooLongError` if there is none,
   * with the signal's reason if that was aborted, and with a `ClosedError` after `close`.
   */
  (...args: FetchArguments): Promise<Response>
  /** How many calls wait: for their turn, or to be made again. */
  readonly size: number
  /**
   * Takes no calls any more. Those that wait are still made, retries too, or are rejected at once with `waiting: 'reject'`.
   * Resolves when all are over.
   */
  close(options?: CloseOptions): Promise<void>
}

/**
 * A `fetch` that calls somebody else's API politely: each host at a constant rate, as the other side asks by `Retry-After`
 * and `RateLimit`, and again, with jitter and within a budget, where that may help.
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
  const outbound = new Outbound(checkShapedFetchOptions(options))
  const call = (...args: FetchArguments) => outbound.fetch(...args)
  const close = (options?: CloseOptions) => outbound.close(options)
  return Object.defineProperties(call, {
    size: { get: () => outbound.size, enumerable: true },
    close: { value: close, enumerable: true },
  }) as ShapedFetch
}
