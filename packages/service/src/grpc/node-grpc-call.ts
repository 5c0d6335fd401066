import { constants, type ServerHttp2Stream } from 'node:http2'
import type { CallHead } from './call-head.js'
import { deadlineExceeded, encodeGrpcMessage, GRPC_STATUS, GrpcError } from './grpc-error.js'
import { framed, MessageReader, MOST_MESSAGE_BYTES, type PartialBytes } from './message-reader.js'

/** A client that reads no answers is cut when so many bytes wait for it. */
const MOST_QUEUED_BYTES = 1024 * 1024

const FIELDS = { ':status': 200, 'content-type': 'application/grpc' }
const OK_TRAILERS = { 'grpc-status': '0' }
const WITH_TRAILERS = { waitForTrailers: true, sendDate: false }
const WITHOUT_BODY = { endStream: true, sendDate: false }

/**
 * Ends a stream whose answer is complete, if the client has not sent all of its request: the rest is of no use. Not at once: some
 * versions of `nghttp2` would drop an answer that has not left yet.
 */
export function closeSoon(stream: ServerHttp2Stream): void {
  if (stream.readableEnded || stream.endAfterHeaders) return
  setImmediate(() => {
    if (!stream.destroyed) stream.close(constants.NGHTTP2_NO_ERROR)
  })
}

/** What the calls of a server share. */
export interface CallHost {
  /** What all calls hold of messages of which a part has come. */
  readonly partial: PartialBytes
  /** Calls whose stream is open. */
  readonly open: Set<NodeGrpcCall>
  /** How long a client may take to send the message of a unary call, and to read an answer. */
  readonly slowestMs: number
  fault(error: unknown): void
  answered?: ((path: string, status: number, ms: number) => void) | undefined
}

/** One call on a stream of `node:http2`. It ends once, whatever happens at the same time. */
export abstract class NodeGrpcCall {
  readonly startMs: number
  /** Fields behind the answer. */
  trailers: object = OK_TRAILERS
  protected isOver = false
  readonly #reader: MessageReader
  readonly #stream: ServerHttp2Stream
  readonly #host: CallHost
  readonly #path: string
  /** When the client stops waiting. After the call, when it must have read the answer. */
  #deadlineMs: number

  constructor(host: CallHost, stream: ServerHttp2Stream, { path, startMs, timeoutMs, encoding }: CallHead) {
    this.#host = host
    this.#stream = stream
    this.#path = path
    this.startMs = startMs
    this.#deadlineMs = startMs + timeoutMs
    this.#reader = new MessageReader(host.partial, MOST_MESSAGE_BYTES, encoding)
    host.open.add(this)
  }

  /** Is the time of the call over, or the time to read its answer? */
  isLate(nowMs: number): boolean {
    return nowMs > this.#deadlineMs
  }

  /** Ends a call that is late. */
  expire(): void {
    if (this.isOver) this.#stream.close(constants.NGHTTP2_CANCEL)
    else this.fail(deadlineExceeded())
  }

  /** The client sent bytes. */
  take(part: Buffer): void {
    if (this.isOver) return
    try {
      for (let at = 0; at < part.length; )
        at = this.#reader.read(part, at, part.length, (message) => this.hear(message))
    } catch (error) {
      this.fail(error)
    }
  }

  /** A message has come. */
  protected abstract hear(message: Uint8Array): void
  /** The client sends no more. */
  abstract clientEnded(): void

  /** The stream is closed: the call was answered, or the client is gone. */
  closed(): void {
    if (!this.isOver) this.finish(GRPC_STATUS.cancelled)
    this.#host.open.delete(this)
  }

  /** Has a message begun that has not ended? */
  protected get isWithinMessage(): boolean {
    return this.#reader.isInsideMessage
  }

  /** Answers with an error, whatever it is. */
  fail(error: unknown): void {
    if (this.isOver) return
    const { code, message } = this.#told(error)
    this.#endWith({ 'grpc-status': `${code}`, 'grpc-message': encodeGrpcMessage(message) }, code)
  }

  /** Sends the only message, and OK. */
  protected succeed(message: Uint8Array): void {
    if (this.isOver) return
    this.finish(GRPC_STATUS.ok)
    if (this.#stream.destroyed) return
    this.#stream.respond(FIELDS, WITH_TRAILERS)
    this.#stream.end(framed(message))
  }

  /** Sends one of several messages. */
  protected write(message: Uint8Array): void {
    const stream = this.#stream
    if (this.isOver || stream.destroyed) return
    if (!stream.headersSent) stream.respond(FIELDS, WITH_TRAILERS)
    stream.write(framed(message))
    if (stream.writableLength <= MOST_QUEUED_BYTES) return
    this.finish(GRPC_STATUS.resourceExhausted)
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
  }

  /** Ends a call of several messages with OK. */
  protected complete(): void {
    if (!this.isOver) this.#endWith(OK_TRAILERS, GRPC_STATUS.ok)
  }

  /** The call is over. */
  protected finish(status: number): void {
    this.isOver = true
    this.#reader.clear()
    const nowMs = performance.now()
    this.#deadlineMs = nowMs + this.#host.slowestMs
    this.#host.answered?.(this.#path, status, nowMs - this.startMs)
  }

  #endWith(fields: object, status: number): void {
    this.finish(status)
    const stream = this.#stream
    if (stream.destroyed) return
    this.trailers = fields
    if (stream.headersSent) stream.end()
    else {
      stream.respond({ ...FIELDS, ...fields }, WITHOUT_BODY)
      closeSoon(stream)
    }
  }

  #told(error: unknown): { readonly code: number; readonly message: string } {
    if (error instanceof GrpcError) return error
    this.#host.fault(error)
    return { code: GRPC_STATUS.internal, message: 'the service could not answer this call; its log says why' }
  }
}
