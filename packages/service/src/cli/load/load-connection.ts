import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** What a connection reports to its run. */
export interface LoadListener {
  /** The connection can send. */
  ready(connection: LoadConnection): void
  answered(connection: LoadConnection, answer: LoadAnswer): void
  /** The connection is gone, with the request that it sent. It has no more events. */
  lost(connection: LoadConnection, reason: string): void
}

/** One answer. The object is reused: it is valid during the call only. */
export interface LoadAnswer {
  status: number
  allowed: number
  denied: number
  /** The body, if the status is not 200. */
  text: string
}

const HEAD_END = '\r\n\r\n'
const LENGTH = /\r\ncontent-length: *(\d+)/i
const CHUNKED = /\r\ntransfer-encoding: *chunked/i
const CHUNKS_END = '\r\n0\r\n\r\n'
const CLOSES = /\r\nconnection: *close/i

/**
 * A connection that sends one request at a time. It reads only what a load needs of HTTP: status, length and the verdicts. A
 * client of `node:http` takes three times as long for a request, and would measure itself.
 */
export class LoadConnection {
  /** When the request in flight was due; `undefined` between requests. */
  dueMs: number | undefined
  readonly #socket: Socket
  readonly #listener: LoadListener
  readonly #answer: LoadAnswer = { status: 0, allowed: 0, denied: 0, text: '' }
  #received = ''
  /** How long the answer is; 0 until its head is there, and Infinity for one that comes in chunks. */
  #length = 0
  #isOver = false

  constructor(url: string, listener: LoadListener) {
    const { hostname, port, protocol } = new URL(url)
    const isTls = protocol === 'https:'
    const host = hostname.replace(/^\[|\]$/g, '')
    const options = { host, port: Number(port) || (isTls ? 443 : 80), noDelay: true }
    this.#listener = listener
    this.#socket = isTls ? connectTls({ ...options, servername: host }) : connect(options)
    this.#socket.once(isTls ? 'secureConnect' : 'connect', () => listener.ready(this))
    this.#socket.on('data', (chunk: Buffer) => this.#read(chunk))
    this.#socket.once('error', ({ message }: Error) => this.#lose(message))
    this.#socket.once('close', () => this.#lose('the service ended the connection'))
  }

  send(text: string, dueMs: number): void {
    this.dueMs = dueMs
    this.#socket.write(text, 'latin1')
  }

  close(): void {
    this.#isOver = true
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#received += chunk.toString('latin1')
    if (this.#length === 0) {
      const end = this.#received.indexOf(HEAD_END)
      if (end < 0) return
      const length = LENGTH.exec(this.#received)?.[1]
      const isChunked = length === undefined && CHUNKED.test(this.#received.slice(0, end))
      if ((length === undefined && !isChunked) || !this.#received.startsWith('HTTP/1.')) {
        this.#lose('an answer is not HTTP with a known length')
        return
      }
      this.#length = isChunked ? Infinity : end + HEAD_END.length + Number(length)
    }
    const isChunked = this.#length === Infinity
    // The JSON of a service has no line breaks, so this cannot come earlier.
    if (isChunked ? !this.#received.endsWith(CHUNKS_END) : this.#received.length < this.#length) return
    const text = this.#received
    this.#received = ''
    this.#length = 0
    this.#finish(isChunked ? withoutChunks(text) : text)
  }

  #finish(text: string): void {
    const answer = this.#answer
    const bodyAt = text.indexOf(HEAD_END) + HEAD_END.length
    answer.status = Number(text.slice(9, 12))
    answer.text = answer.status === 200 ? '' : text.slice(bodyAt)
    answer.allowed = answer.status === 200 ? countIn(text, '{"allowed":true', bodyAt) : 0
    answer.denied = answer.status === 200 ? countIn(text, '{"allowed":false', bodyAt) : 0
    this.#listener.answered(this, answer)
    if (CLOSES.test(text.slice(0, bodyAt))) this.#lose('the service ended the connection')
  }

  #lose(reason: string): void {
    if (this.#isOver) return
    this.close()
    this.#listener.lost(this, reason)
  }
}

/** A verdict begins with `allowed`, and its levels do not: they begin with their name. */
function countIn(text: string, part: string, from: number): number {
  let count = 0
  for (let at = text.indexOf(part, from); at >= 0; at = text.indexOf(part, at + part.length)) count++
  return count
}

/** The answer with its body in one piece: proxies may cut it into chunks, each after a line with its length. */
function withoutChunks(text: string): string {
  const bodyAt = text.indexOf(HEAD_END) + HEAD_END.length
  let whole = text.slice(0, bodyAt)
  for (let at = bodyAt; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    const length = Number.parseInt(text.slice(at, lineEnd), 16)
    if (!(length > 0)) return whole
    whole += text.slice(lineEnd + 2, lineEnd + 2 + length)
    at = lineEnd + 2 + length + 2
  }
}
