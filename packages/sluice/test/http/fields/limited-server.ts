import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type Clock, type Limit, memoryStore } from 'sluice'
import type { Dialect } from 'sluice/http'
import { rateLimit } from 'sluice/node'
import { serve } from '../adapters/servers.js'

/** A request: when it came, and its answer. */
export interface Seen {
  readonly atMs: number
  readonly epochMs: number
  readonly status: number
  readonly headers: OutgoingHttpHeaders
}

export interface LimitedServer extends AsyncDisposable {
  readonly origin: string
  readonly seen: readonly Seen[]
  /** Takes what there is, so that the next request is denied. */
  exhaust(): Promise<void>
}

export interface LimitedOptions {
  readonly limit: Limit
  readonly status?: 429 | 503
  readonly dialect?: Dialect | readonly Dialect[]
}

/** Stands still until the first denial, so that a client is denied however long its first requests take. */
class ClockFromDenial implements Clock {
  #startMs: number | undefined

  start(): void {
    this.#startMs ??= performance.now()
  }

  now(): number {
    return Date.UTC(2026, 0, 1) + (this.#startMs === undefined ? 0 : performance.now() - this.#startMs)
  }
}

/** `node:http` with a limit in front of `/ok`. */
export async function startLimited(options: LimitedOptions): Promise<LimitedServer> {
  const clock = new ClockFromDenial()
  const limited = rateLimit<IncomingMessage, ServerResponse>({ ...options, name: 'ok', store: memoryStore({ clock }) })
  const seen: Seen[] = []
  const { origin, close } = await serve((request, response) => {
    const [atMs, epochMs] = [performance.now(), Date.now()]
    response.once('finish', () => {
      const { statusCode: status } = response
      if (status !== 200) clock.start()
      seen.push({ atMs, epochMs, status, headers: response.getHeaders() })
    })
    limited(request, response, () => {
      response.statusCode = 200
      response.setHeader('Content-Type', 'text/plain')
      response.end('ok')
    })
  })
  return {
    origin,
    seen,
    async exhaust() {
      await (await fetch(`${origin}/ok`)).text()
      seen.length = 0
    },
    [Symbol.asyncDispose]: close,
  }
}
