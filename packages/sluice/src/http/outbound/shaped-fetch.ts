import { checkOptions } from '../../checks/check-options.js'
import { checkKey, checkValue } from '../../checks/check-value.js'
import { ClosedError } from '../../errors.js'
import type { CloseOptions, Shaper } from '../../shaper/index.js'
import { atOnce } from '../mapped.js'
import { parseRateLimit } from '../parse-rate-limit.js'
import { type Destination, Destinations } from './destinations.js'
import { type FetchArguments, type FetchCall, readFetchCall } from './fetch-call.js'
import { type CallOptions, checkShapedFetchOptions, type ShapedFetchOptions } from './shaped-fetch-options.js'
import { hostOf, type ShapersByHost, shapersByHost } from './shapers-by-host.js'
import { WaitingCalls } from './waiting-calls.js'

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

/** A wait that a server asks for is stretched by up to this share, so that its clients do not all come back together. */
const JITTER = 0.1

/** Methods that have the same effect if they are repeated (RFC 9110). */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])
/** Failures that often pass. The server may have carried out the request nevertheless. */
const PASSING: ReadonlySet<number> = new Set([502, 503, 504])
const SHORTEST_MS = 100
const LONGEST_MS = 10_000

/** A call, and where it goes. */
interface RoutedCall extends FetchCall {
  readonly key: string
  /** The shaper in whose queue of this key the call waits. */
  readonly shaper: Shaper
  readonly destination: Destination
}

/** Makes the calls of one `shapedFetch`: each attempt in its turn, and a retry where it may help. */
class Outbound {
  readonly #options: CallOptions
  readonly #shapers: ShapersByHost
  readonly #destinations: Destinations
  readonly #waiting: WaitingCalls
  readonly #underWay = new Set<Promise<Response>>()
  #isClosed = false

  constructor(options: CallOptions, shapers: ShapersByHost) {
    this.#options = options
    this.#shapers = shapers
    this.#destinations = new Destinations(options.budget)
    this.#waiting = new WaitingCalls(options.clock)
  }

  get size(): number {
    return this.#waiting.size
  }

  async fetch(...args: FetchArguments): Promise<Response> {
    if (this.#isClosed) throw new ClosedError('this shapedFetch is closed and makes no more calls')
    const call = readFetchCall(...args)
    const { fetch, keyOf } = this.#options
    const { url } = call.request
    const { protocol } = new URL(url)
    // `data:`, `blob:` and the like call no server.
    if (protocol !== 'http:' && protocol !== 'https:') return fetch(call.input, call.init)
    if (call.signal?.aborted) throw call.signal.reason
    const host = hostOf(url)
    const key = keyOf === undefined ? host : atOnce('keyOf', keyOf(call.request))
    checkKey(key, 'the result of keyOf')
    const destination = this.#destinations.enter(key)
    const response = this.#callWithRetries({ ...call, key, destination, shaper: this.#shapers.shaperOf(host) })
    this.#underWay.add(response)
    try {
      return await response
    } finally {
      this.#underWay.delete(response)
      this.#destinations.leave(key, destination)
    }
  }

  async close(options: CloseOptions = {}): Promise<void> {
    const { waiting = 'leave' } = checkOptions('close', options, ['waiting'])
    checkValue('waiting', waiting, ['leave', 'reject'])
    this.#isClosed = true
    if (waiting === 'reject')
      this.#waiting.rejectAll(new ClosedError('this shapedFetch was closed while the call waited'))
    // Shapers are closed last, because a call that is not over may be retried.
    await Promise.allSettled(this.#underWay)
    await Promise.all(this.#shapers.ownShapers.map((shaper) => shaper.close()))
  }

  async #callWithRetries(call: RoutedCall): Promise<Response> {
    for (let retries = 0; ; retries++) {
      const { response, error, refusalsThen } = await this.#attempt(call)
      const pausedMs = response === undefined ? 0 : this.#obey(response, refusalsThen, call)
      const mayRetry = retries < this.#options.retries && this.#mayRepeat(call, pausedMs, response)
      if (!mayRetry || !call.destination.takeRetry()) {
        if (response === undefined) throw error
        return response
      }
      // A body that is not read would keep its connection open.
      response?.body?.cancel().catch(() => {})
      // Only the jitter. The wait that the server asked for is waited in the queue, which is paused for all calls.
      await this.#waiting.sleep(backoffMs(retries, this.#options.random), call.signal)
    }
  }

  /** Returns the response or the error, and the refusals in a row when the call left. Rejects only if it gets no turn. */
  #attempt({ input, init, signal, key, shaper, destination }: RoutedCall) {
    const { fetch, maxWaitMs } = this.#options
    return this.#waiting.during(signal, (stopped, waited) => {
      const send = async () => {
        waited()
        const refusalsThen = destination.refusals
        try {
          return { response: await fetch(input, init), refusalsThen }
        } catch (error) {
          return { error, refusalsThen }
        }
      }
      return shaper.run(send, { key, signal: stopped, maxWaitMs })
    })
  }

  /**
   * Pauses the key for as long as the server asks or, if it refuses without saying how long, for longer each time. Returns the
   * pause that it asked for, in milliseconds: 0 if it asked for none, `Infinity` if it asked for more than is waited.
   */
  #obey(response: Response, refusalsThen: number, { key, shaper, destination }: RoutedCall): number {
    const { clock, random, longestRetryAfterMs } = this.#options
    const askedMs = askedWaitMs(response, clock.now())
    if (askedMs > 0) {
      const pausedMs = Math.min(askedMs, longestRetryAfterMs) * (1 + JITTER * random())
      shaper.pause({ key, durationMs: pausedMs })
      return askedMs <= longestRetryAfterMs ? pausedMs : Infinity
    }
    if (response.status !== 429) {
      destination.answered(refusalsThen)
    } else if (destination.refused(refusalsThen)) {
      shaper.pause({ key, durationMs: Math.min(longestRetryAfterMs, backoffMs(refusalsThen, random)) })
    }
    return 0
  }

  #mayRepeat({ request, signal, isRepeatable }: FetchCall, pausedMs: number, response?: Response): boolean {
    return (
      isRepeatable &&
      signal?.aborted !== true &&
      !this.#waiting.isOver &&
      pausedMs < Infinity &&
      pausedMs <= this.#options.maxWaitMs &&
      isWorthRetrying(request.method, response?.status)
    )
  }
}

/**
 * How long a server asks to be left alone, in milliseconds; 0 if it does not ask. `Retry-After` counts on a 429 or 503 and
 * overrides quotas. A quota with nothing left counts on every response.
 */
export function askedWaitMs({ status, headers }: Pick<Response, 'status' | 'headers'>, nowMs: number): number {
  const { retryAfterMs, quotas } = parseRateLimit(headers, { nowMs })
  if (retryAfterMs !== undefined && (status === 429 || status === 503)) return retryAfterMs
  const used = quotas.filter(({ remaining }) => remaining === 0)
  return Math.max(0, ...used.map(({ resetAfterMs }) => resetAfterMs ?? 0))
}

/** Whether a retry may help and does no harm. Without a status, no response came at all. */
export function isWorthRetrying(method: string, status: number | undefined): boolean {
  // A server that answers 429 has not carried out the request.
  if (status === 429) return true
  return IDEMPOTENT.has(method) && (status === undefined || PASSING.has(status))
}

/** Full jitter: a random wait from 0 to min(10 s, 100 ms · 2^retries), so that calls that failed together come back apart. */
export function backoffMs(retries: number, random: () => number): number {
  return random() * Math.min(LONGEST_MS, SHORTEST_MS * 2 ** retries)
}
