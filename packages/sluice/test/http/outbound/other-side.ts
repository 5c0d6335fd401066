import { ManualClock } from 'sluice/testing'

/** An answer of the server: a status, header fields, or no answer at all. */
export type Reply = { readonly status?: number; readonly headers?: Record<string, string> } | 'unreachable'

/** A call as it reached the other side. */
export interface Seen {
  /** From the start, to the millisecond. */
  readonly atMs: number
  readonly url: URL
  readonly method: string
  readonly body: unknown
}

/** A server on a clock that stands still. It records calls and gives the replies in order, and 200 after the last. */
export class OtherSide {
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1))
  readonly seen: Seen[] = []
  readonly responses: Response[] = []
  replies: Reply[] = []
  /** For calls beyond the replies. */
  otherwise: Reply = {}
  readonly #startMs = this.clock.now()

  readonly fetch = async (...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const request = input instanceof Request ? input : new Request(input, { method: init?.method ?? 'GET' })
    const [url, { method }] = [new URL(request.url), request]
    this.seen.push({ atMs: Math.round(this.clock.now() - this.#startMs), url, method, body: init?.body })
    const reply = this.replies.shift() ?? this.otherwise
    await Promise.resolve()
    init?.signal?.throwIfAborted()
    if (reply === 'unreachable') throw new TypeError('fetch failed')
    const response = new Response(`reply ${this.seen.length}`, { status: 200, ...reply })
    this.responses.push(response)
    return response
  }

  /** When its calls came. */
  get times(): readonly number[] {
    return this.seen.map(({ atMs }) => atMs)
  }

  /** Moves the clock from alarm to alarm until the promise is settled. */
  async during<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const settle = () => {
      isSettled = true
    }
    promise.then(settle, settle)
    for (await turn(); !isSettled; await turn()) {
      const { nextAlarmMs } = this.clock
      if (nextAlarmMs === undefined) throw new Error('it waits for nothing')
      this.clock.advance(nextAlarmMs - this.clock.now())
    }
    return promise
  }
}

/** Lets all go on that need not wait for the clock. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
