import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Connection } from './connection.js'
import { Problem } from './problem.js'

/** An error of Node's HTTP parser. */
interface ParserError extends Error {
  readonly code?: string
  /** What the parser found, such as `Invalid character in Content-Length`. */
  readonly reason?: string
}

/**
 * Answers bytes that are no valid HTTP request, and closes the connection: nothing that follows them can be trusted to be
 * a request. If an earlier answer is still due on the connection, it closes without an answer.
 */
export function answerBadHttp(error: ParserError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !Connection.of(socket).isOpenForAnswer) {
    socket.destroy()
    return
  }
  const { status, body } = problemOfHttp(error)
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  )
  socket.destroySoon()
}

function problemOfHttp({ code, reason }: ParserError): Problem {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem(431, 'The header fields are too large', 'all header fields together must have less than 16 KiB')
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new Problem(413, 'The body is too large', 'the extensions of a chunk must have less than 16 KiB')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem(
      408,
      'The request took too long',
      'a client has 10 seconds for the header fields and 30 for the whole request',
    )
  return new Problem(400, 'The request is not valid HTTP', `the request is not valid HTTP/1.1: ${reason ?? code}`)
}
