import type { ServerResponse } from 'node:http'
import type { Exchange } from '../server/exchange.js'
import { badRequest, Problem } from '../server/problem.js'

const MOST_STREAMS = 32
/** A client that leaves more than this unread is dropped. That is about four minutes of summaries. */
const MOST_UNREAD_BYTES = 256 * 1024
/** A client that has not read its first events when so many more have come is dropped. That is about two minutes. */
const MOST_WAITING = 120
/** After a broken connection, a client comes back after this long. */
const RETRY_MS = 2_000

/** Sends the text of an event to one client. */
export type SendEvent = (event: string) => void

/** An event as a client reads it. `json` is one line. */
export function eventText(name: string, json: string): string {
  return `event: ${name}\ndata: ${json}\n\n`
}

/**
 * Answers that stay open: server-sent events. At most 32 clients listen, so that streams cannot use up the connections, and
 * a client that does not read is dropped, so that events do not pile up.
 */
export class EventStreams {
  readonly #open = new Set<EventStream>()
  #isClosed = false

  /**
   * Begins a stream with the texts of `first`, which are made while the client reads them. Calls `ended` when it is over.
   * Throws a `Problem` if there are too many.
   */
  begin({ request, response }: Exchange, ended: () => void, first: Iterable<string> = []): SendEvent {
    if (this.#isClosed) throw refusal('the service is shutting down')
    if (this.#open.size >= MOST_STREAMS) throw refusal(`${MOST_STREAMS} clients listen already; end one of them`)
    // It would wait behind the earlier answer, and Node would not tell that its connection has ended.
    if (response.socket === null)
      throw badRequest('an earlier answer is still due on this connection; a stream needs a connection of its own')
    const stream = new EventStream(response)
    this.#open.add(stream)
    response.on('close', () => {
      this.#open.delete(stream)
      ended()
    })
    response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      // nginx would wait for a full buffer.
      'X-Accel-Buffering': 'no',
      // The connection ends with the stream, also during a shutdown.
      Connection: 'close',
    })
    if (request.method === 'HEAD') response.end()
    else stream.begin(first)
    return (event) => stream.send(event)
  }

  /** Ends every stream, and refuses others. */
  close(): void {
    this.#isClosed = true
    for (const stream of this.#open) stream.end(eventText('end', JSON.stringify({ reason: 'the service shuts down' })))
  }
}

/** One open answer. */
class EventStream {
  readonly #response: ServerResponse
  /** Events that came while the client has not read the first ones. */
  #waiting: string[] | undefined

  constructor(response: ServerResponse) {
    this.#response = response
  }

  begin(first: Iterable<string>): void {
    this.#waiting = []
    this.#response.write(`retry: ${RETRY_MS}\n\n`)
    this.#writeFirst(first[Symbol.iterator]())
  }

  send(event: string): void {
    const response = this.#response
    if (response.writableEnded || response.destroyed) return
    if (this.#waiting !== undefined) {
      // These are texts that all clients share, so they take no room.
      if (this.#waiting.push(event) > MOST_WAITING) response.destroy()
    } else if (response.writableLength > MOST_UNREAD_BYTES) response.destroy()
    else response.write(event)
  }

  end(event: string): void {
    this.send(event)
    // A client that still reads its first events has lost the rest.
    this.#response.end()
  }

  /** Goes on when the client has read what was written. */
  #writeFirst(first: Iterator<string>): void {
    for (;;) {
      if (this.#response.writableEnded || this.#response.destroyed) return
      const { value, done } = first.next()
      if (done === true) break
      if (!this.#response.write(value)) {
        this.#response.once('drain', () => this.#writeFirst(first))
        return
      }
    }
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const event of waiting) this.send(event)
  }
}

function refusal(detail: string): Problem {
  return new Problem(503, 'The service gives no further stream', detail, { 'Retry-After': '5' })
}
