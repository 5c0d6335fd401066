import { deadlineExceeded, GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'
import type { StreamMethod, UnaryMethod } from '../grpc/grpc-method.js'
import type { GrpcServerOptions } from '../grpc/grpc-server.js'
import { MessageReader, PartialBytes, PREFIX_BYTES } from '../grpc/message-reader.js'
import type { AnswerWriter } from './answer-writer.js'
import type { Bounds } from './bounds.js'
import type { CallStream } from './call-stream.js'
import { GrpcStreamCall, type StreamedAnswers } from './grpc-stream-call.js'
import { ErrorCode } from './http2-error.js'

const MOST_TIMER_MS = 2 ** 31 - 1

/** What the connections of a server share. */
export interface CallHost {
  readonly methods: GrpcServerOptions['methods']
  readonly bounds: Bounds
  /** What all calls hold of messages of which a part has come. */
  readonly partial: PartialBytes
  /** The server has made an error. */
  fault(error: unknown): void
  /** A call has ended. */
  readonly answered: GrpcServerOptions['answered']
}

/** What the calls of a connection need of their streams. */
export interface CallStreams {
  /** Ends a stream at once, whatever waits on it. */
  resetStream(stream: CallStream, code: number): void
  /** The method of a stream that was closed meanwhile has answered: the record is free. */
  settled(stream: CallStream): void
}

/** The calls of one connection: what comes on a stream goes to a method, and what the method answers goes back. */
export class GrpcCalls implements StreamedAnswers {
  readonly #answers: AnswerWriter
  readonly #streams: CallStreams
  readonly #host: CallHost
  readonly #partial: PartialBytes

  constructor(answers: AnswerWriter, streams: CallStreams, host: CallHost) {
    this.#answers = answers
    this.#streams = streams
    this.#host = host
    this.#partial = new PartialBytes(host.bounds.partialBytes, host.partial)
  }

  /** A call begins. Its stream may be closed when this returns. */
  begin(stream: CallStream): void {
    const { refusal, method, timeoutMs } = stream.head
    if (refusal?.kind === 'grpc') this.fail(stream, refusal.error)
    else if (refusal !== undefined) {
      if (stream.clientEnded) this.clientEnded(stream)
    } else if (timeoutMs <= 0) this.expire(stream)
    else if (method?.kind === 'stream') this.#open(stream, method)
    else if (stream.clientEnded) this.clientEnded(stream)
  }

  /** Bytes of the request. `isLast` says that the client has ended the stream. */
  data(stream: CallStream, bytes: Buffer, at: number, end: number, isLast: boolean): void {
    const { method } = stream.head
    if (method === undefined) {
      if (isLast) this.clientEnded(stream)
    } else if (method.kind === 'unary' && isLast && stream.reader === undefined && isOneMessage(bytes, at, end))
      this.#answer(stream, method, bytes.subarray(at + PREFIX_BYTES, end))
    else {
      this.#read(stream, bytes, at, end)
      if (isLast && stream.isOpen) this.clientEnded(stream)
    }
  }

  /** The client has ended the stream, and no bytes came with that. */
  clientEnded(stream: CallStream): void {
    const { refusal, method } = stream.head
    if (stream.ending !== undefined) return
    if (refusal?.kind === 'http') this.#answers.plain(stream, refusal.status, refusal.text)
    else if (stream.reader?.isInsideMessage)
      this.fail(stream, new GrpcError(GRPC_STATUS.internal, 'the call ends within a message'))
    else if (method?.kind === 'stream') this.#tell(stream, () => stream.handler?.clientEnded())
    else if (stream.message === undefined)
      this.fail(stream, new GrpcError(GRPC_STATUS.unimplemented, 'the method takes one message, got none'))
    else if (method?.kind === 'unary') {
      const { message } = stream
      stream.message = undefined
      this.#answer(stream, method, message)
    }
  }

  /** Begins to count down the time of a call that is not answered yet. */
  watchDeadline(stream: CallStream): void {
    const { timeoutMs } = stream.head
    if (timeoutMs > MOST_TIMER_MS || stream.deadline !== undefined) return
    stream.deadline = setTimeout(() => this.expire(stream), Math.ceil(timeoutMs))
  }

  /** The call has taken longer than its client allows. */
  expire(stream: CallStream): void {
    if (stream.ending !== undefined) {
      this.#streams.resetStream(stream, ErrorCode.cancel)
      return
    }
    this.#letGo(stream)
    this.fail(stream, deadlineExceeded())
  }

  fail(stream: CallStream, { code, message }: GrpcError): void {
    this.#report(stream, code)
    this.#answers.end(stream, { status: code, message })
  }

  /** The stream is closed. Whatever the call holds is released, and its handler is told. */
  closed(stream: CallStream): void {
    clearTimeout(stream.deadline)
    stream.deadline = undefined
    stream.reader?.clear()
    stream.reader = undefined
    stream.message = undefined
    this.#letGo(stream)
    if (stream.head.method !== undefined) this.#report(stream, GRPC_STATUS.cancelled)
  }

  /** The server takes no more calls. A stream of messages may have no end of its own. */
  shutDown(stream: CallStream): void {
    if (stream.head.method?.kind !== 'stream' || stream.ending !== undefined) return
    this.#letGo(stream)
    this.fail(stream, new GrpcError(GRPC_STATUS.unavailable, 'the service is shutting down'))
  }

  sendOn(stream: CallStream, message: Uint8Array): void {
    this.#answers.send(stream, message)
    this.#boundWaiting(stream, message)
  }

  endWith(stream: CallStream, error: GrpcError | undefined): void {
    this.#letGo(stream)
    if (error !== undefined) {
      this.fail(stream, error)
      return
    }
    this.#report(stream, GRPC_STATUS.ok)
    this.#answers.end(stream, { status: GRPC_STATUS.ok, message: '' })
  }

  #open(stream: CallStream, method: StreamMethod): void {
    const call = new GrpcStreamCall(this, stream)
    stream.call = call
    try {
      const handler = method.open(call)
      if (stream.call === call) stream.handler = handler
      else return
    } catch (error) {
      this.#failBy(stream, error)
      return
    }
    if (stream.clientEnded) this.clientEnded(stream)
  }

  #read(stream: CallStream, bytes: Buffer, at: number, end: number): void {
    stream.reader ??= new MessageReader(this.#partial, this.#host.bounds.messageBytes, stream.head.encoding)
    const { reader } = stream
    const whole = (message: Buffer) => this.#message(stream, reader, message)
    try {
      for (let next = at; next < end && stream.isOpen && stream.ending === undefined; )
        next = reader.read(bytes, next, end, whole)
    } catch (error) {
      this.#letGo(stream)
      this.#failBy(stream, error)
    }
  }

  #message(stream: CallStream, reader: MessageReader, message: Buffer): void {
    if (stream.head.method?.kind === 'stream') stream.handler?.message(Buffer.from(message))
    else if (stream.message === undefined) stream.message = reader.keep(message)
    else throw new GrpcError(GRPC_STATUS.unimplemented, 'the method takes one message, got several')
  }

  #answer(stream: CallStream, method: UnaryMethod, message: Buffer): void {
    // A client that has stopped waiting believes that nothing was taken.
    const { timeoutMs } = stream.head
    if (timeoutMs < Infinity && performance.now() - stream.beganMs > timeoutMs) {
      this.expire(stream)
      return
    }
    let answer: Uint8Array | Promise<Uint8Array>
    try {
      answer = method.answer(message)
    } catch (error) {
      this.#failBy(stream, error)
      return
    }
    if (answer instanceof Uint8Array) this.#succeed(stream, answer)
    else {
      stream.isWorking = true
      answer.then(
        (bytes) => this.#settle(stream, () => this.#succeed(stream, bytes)),
        (error: unknown) => this.#settle(stream, () => this.#failBy(stream, error), error),
      )
    }
  }

  /** The record still belongs to this call, because `isWorking` kept it. */
  #settle(stream: CallStream, answer: () => void, error?: unknown): void {
    stream.isWorking = false
    if (stream.isOpen && stream.ending === undefined) answer()
    else {
      if (error !== undefined && !(error instanceof GrpcError)) this.#host.fault(error)
      if (!stream.isOpen) this.#streams.settled(stream)
    }
  }

  #succeed(stream: CallStream, answer: Uint8Array): void {
    this.#report(stream, GRPC_STATUS.ok)
    this.#answers.answer(stream, answer)
    if (stream.waiting !== undefined) this.#boundWaiting(stream, answer)
  }

  /** A message may have any size, but none waits if too much waits before it. */
  #boundWaiting(stream: CallStream, message: Uint8Array): void {
    const before = this.#answers.waitingBytes - message.length
    if (stream.waiting !== undefined && before > this.#host.bounds.queuedBytes)
      this.#streams.resetStream(stream, ErrorCode.enhanceYourCalm)
  }

  /** Runs a handler. What it throws ends its call. */
  #tell(stream: CallStream, run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#letGo(stream)
      this.#failBy(stream, error)
    }
  }

  #failBy(stream: CallStream, error: unknown): void {
    if (!stream.isOpen || stream.ending !== undefined) return
    if (error instanceof GrpcError) {
      this.fail(stream, error)
      return
    }
    this.#host.fault(error)
    this.fail(stream, new GrpcError(GRPC_STATUS.internal, 'the service could not answer this call; its log says why'))
  }

  /** Tells the handler of a streaming call that it is over, once. */
  #letGo(stream: CallStream): void {
    const { call, handler } = stream
    call?.detach()
    stream.call = undefined
    stream.handler = undefined
    try {
      handler?.closed()
    } catch (error) {
      this.#host.fault(error)
    }
  }

  #report(stream: CallStream, status: number): void {
    const { answered } = this.#host
    if (answered === undefined || stream.isReported) return
    stream.isReported = true
    answered(stream.head.path, status, performance.now() - stream.beganMs)
  }
}

/** True for the usual request: one message that is not compressed, and nothing else. */
function isOneMessage(bytes: Buffer, at: number, end: number): boolean {
  const length = end - at - PREFIX_BYTES
  return length >= 0 && bytes[at] === 0 && bytes.readUInt32BE(at + 1) === length
}
