import { ErrorCode, Http2Error } from './http2-error.js'

/** What a client of HTTP/2 sends first: RFC 9113, section 3.4. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const otherMethod = /^(?:GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE) /
const EXPLANATION = 'This port speaks HTTP/2 with prior knowledge (h2c), for gRPC.\n'

/** The answer to a client of HTTP/1. */
export const HTTP1_ANSWER = [
  'HTTP/1.1 505 HTTP Version Not Supported',
  'Connection: close',
  'Content-Type: text/plain; charset=utf-8',
  `Content-Length: ${EXPLANATION.length}`,
  '',
  EXPLANATION,
].join('\r\n')

/** The client speaks HTTP/1. */
export class Http1Client extends Error {}

/** Compares the first bytes of a connection with the preface. */
export class Preface {
  #seen = 0

  get isComplete(): boolean {
    return this.#seen === PREFACE.length
  }

  /** Returns where the frames begin in this chunk. Throws if the client speaks something else than HTTP/2. */
  read(chunk: Buffer): number {
    const end = Math.min(chunk.length, PREFACE.length - this.#seen)
    if (chunk.compare(PREFACE, this.#seen, this.#seen + end, 0, end) !== 0) {
      if (this.#seen === 0 && otherMethod.test(chunk.toString('latin1', 0, 8))) throw new Http1Client()
      throw new Http2Error(ErrorCode.protocolError, 'the connection does not begin with the preface of HTTP/2')
    }
    this.#seen += end
    return end
  }
}
