import type { LiveEvents } from '../../../service/src/live/live-events.js'
import { SseParser } from './sse-parser.js'

/** How the connection to the service is. A person reads it in the bar of the view. */
export type LinkState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  /** The service does not answer, or it ended the stream. The link tries again at `retryAtMs`. */
  | { readonly kind: 'lost'; readonly why: string; readonly retryAtMs: number }
  /** The service refuses the token. The link waits for another one. */
  | { readonly kind: 'refused'; readonly why: string }

/** One event with its name. */
export type LiveEvent = {
  [Name in keyof LiveEvents]: { readonly name: Name; readonly data: LiveEvents[Name] }
}[keyof LiveEvents]

export interface StreamLinkOptions {
  /** Default: `/v1/live`, with all events. */
  readonly path?: string
  /** The header fields of a request: the admin token, if there is one. */
  readonly fields: () => Record<string, string>
  readonly onEvent: (event: LiveEvent) => void
  readonly onState: (state: LinkState) => void
  /** Waits grow from a second to this. Default: 15,000. */
  readonly longestWaitMs?: number
  /** A stream that is silent for so long is lost: the service sends a frame every second. Default: 10,000. */
  readonly longestSilenceMs?: number
  readonly request?: (path: string, init: RequestInit) => Promise<Response>
}

/**
 * Reads `GET /v1/live` from `start` until `close`, and connects again after a loss. It reads by `fetch` and not by `EventSource`,
 * which cannot send the token. It knows nothing of what the events mean, but that the first one ends a connection attempt and
 * `end` gives a reason.
 */
export class StreamLink {
  readonly #options: StreamLinkOptions
  #losses = 0
  /** How often an event could not be read. The first event does not end that: it comes before such an event, with a whole history. */
  #unreadable = 0
  /** Why the service ended the stream. It is said until the service answers again. */
  #endWhy: string | undefined
  #attempt = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: StreamLinkOptions) {
    this.#options = options
  }

  /** Connects now, with the token as it is now. An open connection is closed first. */
  start(): void {
    this.close()
    this.#attempt = new AbortController()
    // After a loss it stays lost until the service answers: what a person reads must not flicker with each attempt.
    if (this.#losses === 0) this.#options.onState({ kind: 'connecting' })
    void this.#read(this.#attempt)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#attempt.abort()
  }

  async #read(attempt: AbortController): Promise<void> {
    const { path = '/v1/live', request = fetchFrom, fields, onState } = this.#options
    let why = this.#endWhy ?? 'The service does not answer. Is it running?'
    try {
      this.#expectSoon(attempt)
      const init = { headers: fields(), signal: attempt.signal, cache: 'no-store' as const }
      const response = await request(path, init).catch(() => undefined)
      if (response?.ok && response.body !== null) why = await this.#readEvents(response.body, attempt)
      else if (response !== undefined) why = (await problemText(response)) ?? `The service answered ${response.status}.`
      if (attempt === this.#attempt && (response?.status === 401 || response?.status === 403)) {
        this.close()
        this.#losses = 0
        onState({ kind: 'refused', why })
      }
    } catch (error) {
      console.error(error)
      this.#unreadable += 1
      why = UNREADABLE
    }
    if (attempt === this.#attempt && !this.#isClosed(attempt)) this.#tryLater(why)
  }

  /** Reads until the stream ends, and returns why it did. */
  async #readEvents(body: ReadableStream<Uint8Array>, attempt: AbortController): Promise<string> {
    const parser = new SseParser()
    const decoder = new TextDecoder()
    const reader = body.getReader()
    let isFirst = true
    for (;;) {
      // A stream that breaks ends like one that the service ends.
      const piece = await reader.read().catch(() => undefined)
      if (piece === undefined || piece.done || attempt.signal.aborted) return this.#endWhy ?? 'The connection was lost.'
      this.#expectSoon(attempt)
      for (const { name, data } of parser.push(decoder.decode(piece.value, { stream: true }))) {
        const event = { name, data: JSON.parse(data) } as LiveEvent
        if (event.name === 'end') this.#endWhy = endText(event.data.reason)
        this.#options.onEvent(event)
        if (isFirst && event.name !== 'end') this.#begin()
        isFirst = false
      }
    }
  }

  #begin(): void {
    this.#losses = 0
    this.#endWhy = undefined
    this.#options.onState({ kind: 'live' })
  }

  /** If nothing comes in time, the attempt is given up. */
  #expectSoon(attempt: AbortController): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      // A reason of its own, because `close` aborts too and then nothing is to be tried again.
      attempt.abort(SILENCE)
    }, this.#options.longestSilenceMs ?? 10_000)
  }

  #isClosed(attempt: AbortController): boolean {
    return attempt.signal.aborted && attempt.signal.reason !== SILENCE
  }

  #tryLater(why: string): void {
    clearTimeout(this.#timer)
    const waitMs = Math.min(
      this.#options.longestWaitMs ?? 15_000,
      1_000 * 2 ** Math.max(this.#losses, this.#unreadable - 1),
    )
    this.#losses += 1
    this.#options.onState({ kind: 'lost', why, retryAtMs: Date.now() + waitMs })
    this.#timer = setTimeout(() => this.start(), waitMs)
  }
}

const UNREADABLE =
  'The page cannot read what the service sends. Reload the page: the service may have another version since.'

function fetchFrom(path: string, init: RequestInit): Promise<Response> {
  return fetch(path, init)
}

const SILENCE = new Error('The stream is silent')

function endText(reason: string): string {
  return reason === '' ? 'The service has stopped.' : `The service has stopped: ${reason}.`
}

async function problemText(response: Response): Promise<string | undefined> {
  try {
    const { detail } = (await response.json()) as { readonly detail?: unknown }
    return typeof detail === 'string' && detail !== '' ? `${detail[0].toUpperCase()}${detail.slice(1)}.` : undefined
  } catch {
    return undefined
  }
}
