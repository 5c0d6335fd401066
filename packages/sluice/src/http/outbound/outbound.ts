import { checkOptions } from '../../checks/check-options.js'
import { checkKey } from '../../checks/check-value.js'
import { ClosedError, invalidValue } from '../../errors.js'
import type { CloseOptions, Shaper } from '../../shaper/index.js'
import { atOnce } from '../guard-options.js'
import { askedWaitMs } from './asked-wait.js'
import { type Call, type FetchArguments, readCall } from './call.js'
import type { CheckedOptions } from './check-options.js'
import type { Destination } from './destination.js'
import { Destinations } from './destinations.js'
import { hostOf } from './host-of.js'
import { Patience } from './patience.js'
import { backoffMs, isWorthRetrying } from './retrying.js'

/** What the other side asks for is stretched by up to so much, or else all that were told the same come back together. */
const JITTER = 0.1

/** Whom a call goes to, and in whose queue it waits. */
interface Route {
  readonly key: string
  readonly shaper: Shaper
  readonly destination: Destination
}

/** How an attempt has ended, and how often the other side had refused when it began. */
interface Attempt {
  readonly response?: Response
  readonly error?: unknown
  readonly refusalsThen: number
}

/** Makes the calls of one `shapedFetch`: each attempt in its turn, and another one where that may help. */
export class Outbound {
  readonly #options: CheckedOptions
  readonly #destinations: Destinations
  readonly #patience: Patience
  #calls = 0
  #isClosed = false
  #onIdle: (() => void)[] = []

  constructor(options: CheckedOptions) {
    this.#options = options
    this.#destinations = new Destinations(options.budget)
    this.#patience = new Patience(options.clock)
  }

  /** How many calls wait: for their turn, or to be made again. */
  get size(): number {
    return this.#patience.size
  }

  async fetch(...args: FetchArguments): Promise<Response> {
    if (this.#isClosed) throw new ClosedError('this shapedFetch is closed and makes no calls any more')
    const call = readCall(...args)
    const { fetch, keyOf, shaperOf } = this.#options
    const { url } = call.request
    const { protocol } = new URL(url)
    // What is in the URL itself, or in this process, is nobody's to protect.
    if (protocol !== 'http:' && protocol !== 'https:') return fetch(call.input, call.init)
    if (call.signal?.aborted) throw call.signal.reason
    const key = atOnce('keyOf', keyOf(call.request))
    checkKey(key, 'what keyOf gives')
    const destination = this.#destinations.enter(key)
    this.#calls++
    try {
      return await this.#persist(call, { key, destination, shaper: shaperOf(hostOf(url)) })
    } finally {
      this.#destinations.leave(key, destination)
      if (--this.#calls === 0) for (const resolve of this.#onIdle.splice(0)) resolve()
    }
  }

  async close(options: CloseOptions = {}): Promise<void> {
    const { waiting = 'leave' } = checkOptions('close', options, ['waiting'])
    if (waiting !== 'leave' && waiting !== 'reject') throw invalidValue('waiting', "'leave' or 'reject'", waiting)
    this.#isClosed = true
    if (waiting === 'reject')
      this.#patience.sendAway(new ClosedError('this shapedFetch was closed while the call waited'))
    // Shapers are closed last: a call that is not over may be made again.
    if (this.#calls > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve))
    await Promise.all(this.#options.ownShapers.map((shaper) => shaper.close()))
  }

  async #persist(call: Call, route: Route): Promise<Response> {
    for (let retries = 0; ; retries++) {
      const attempt = await this.#attempt(call, route)
      const { response, error } = attempt
      const pausedMs = response === undefined ? 0 : this.#obey(response, attempt, route)
      if (!this.#mayRetry(call, route, { retries, pausedMs, status: response?.status })) {
        if (response === undefined) throw error
        return response
      }
      if (response !== undefined) discard(response)
      // What was asked for is waited for in the queue, which is paused for all.
      await this.#patience.sleep(backoffMs(retries, this.#options.random), call.signal)
    }
  }

  /** Fails only if there was no turn. */
  #attempt({ input, init, signal }: Call, { key, shaper, destination }: Route): Promise<Attempt> {
    const { fetch, maxWaitMs } = this.#options
    return this.#patience.during(signal, (stopped, waited) => {
      const send = async (): Promise<Attempt> => {
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
   * Leaves the other side alone for as long as it asks, or, where it only says no, for longer each time. Gives for how long
   * it asked and is left alone, which is for ever if it asks for more than anybody waits.
   */
  #obey(response: Response, { refusalsThen }: Attempt, { key, shaper, destination }: Route): number {
    const { clock, random, longestRetryAfterMs } = this.#options
    const askedMs = askedWaitMs(response, clock.now())
    if (askedMs > 0) {
      const pausedMs = Math.min(askedMs, longestRetryAfterMs) * (1 + JITTER * random())
      shaper.pause(pausedMs, { key })
      return askedMs <= longestRetryAfterMs ? pausedMs : Infinity
    }
    if (response.status !== 429) {
      destination.answered(refusalsThen)
    } else if (destination.refused(refusalsThen)) {
      shaper.pause(Math.min(longestRetryAfterMs, backoffMs(refusalsThen, random)), { key })
    }
    return 0
  }

  #mayRetry(
    { request, signal, isRepeatable }: Call,
    { destination }: Route,
    { retries, pausedMs, status }: { retries: number; pausedMs: number; status: number | undefined },
  ): boolean {
    const { retries: most, maxWaitMs } = this.#options
    return (
      retries < most &&
      isRepeatable &&
      signal?.aborted !== true &&
      !this.#patience.isOver &&
      pausedMs < Infinity &&
      pausedMs <= maxWaitMs &&
      isWorthRetrying(request.method, status) &&
      destination.budget.spend()
    )
  }
}

/** Nobody reads it, and until somebody has, its connection is taken. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => {})
}
