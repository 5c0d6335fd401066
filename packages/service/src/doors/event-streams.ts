import type { ServerResponse } from 'node:http'
import type { Exchange } from '../server/exchange.js'
import { Problem } from '../server/problem.js'

const MOST_STREAMS = 32
/** A client that leaves more than this unread is dropped. That is about four minutes of summaries. */
const MOST_UNREAD_BYTES = 256 * 1024
/** After a broken connection, a client comes back after this long. */
const RETRY_MS = 2_000

/** Sends an event to one client. */
export type SendEvent = (name: string, data: object) => void

/**
 * Answers that stay open: server-sent events. At most 32 clients listen, so that streams cannot use up the connections, and
 * a client that does not read is dropped, so that events do not pile up.
 */
export class EventStreams {
  readonly #open = new Set<ServerResponse>()
  #isClosed = false

  get size(): number {
    return this.#open.size
  }

  /** Begins a stream. Calls `ended` when it is over. Throws a `Problem` if there are too many. */
  begin({ request, response }: Exchange, ended: () => void): SendEvent {
    if (this.#isClosed) throw refusal('the service is shutting down')
    if (this.#open.size >= MOST_STREAMS) throw refusal(`${MOST_STREAMS} clients listen already; end one of them`)
    this.#open.add(response)
    response.on('close', () => {
      this.#open.delete(response)
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
    else response.write(`retry: ${RETRY_MS}\n\n`)
    return (name, data) => send(response, name, data)
  }

  /** Ends every stream, and refuses others. */
  close(): void {
    this.#isClosed = true
    for (const response of this.#open) {
      send(response, 'end', { reason: 'the service shuts down' })
      response.end()
    }
  }
}

function send(response: ServerResponse, name: string, data: object): void {
  if (response.writableEnded || response.destroyed) return
  if (response.writableLength > MOST_UNREAD_BYTES) response.destroy()
  else response.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
}

function refusal(detail: string): Problem {
  return new Problem(503, 'The service gives no further stream', detail, { 'Retry-After': '5' })
}
