import { PREFIX_BYTES } from '../grpc/message-reader.js'
import type { CallStream } from './call-stream.js'
import { FRAME_HEAD_BYTES, FrameFlag, FrameType, MAX_FRAME_BYTES, MAX_WINDOW } from './frame-type.js'
import { type FrameWriter, writeFrameHead, writeUint32 } from './frame-writer.js'
import { ErrorCode, Http2Error } from './http2-error.js'
import type { PeerSettings } from './peer-settings.js'
import { ResponseHeaders } from './response-headers.js'

const END = FrameFlag.endHeaders | FrameFlag.endStream

/**
 * Writes the answers of a connection, as far as the client's windows allow. What they do not allow waits in its stream.
 * `sent` is called when an answer is complete.
 */
export class AnswerWriter {
  readonly headers = new ResponseHeaders()
  /** The bytes of answers that wait for a window. */
  waitingBytes = 0
  readonly #writer: FrameWriter
  readonly #settings: PeerSettings
  readonly #sent: (stream: CallStream) => void
  readonly #waiting = new Set<CallStream>()
  /** The window of the connection. */
  #window = 65_535
  nowMs = 0

  constructor(writer: FrameWriter, settings: PeerSettings, sent: (stream: CallStream) => void) {
    this.#writer = writer
    this.#settings = settings
    this.#sent = sent
  }

  /** Answers a unary call with OK. The usual answer is three frames that are written at once. */
  answer(stream: CallStream, message: Uint8Array): void {
    const length = PREFIX_BYTES + message.length
    if (length > MAX_FRAME_BYTES || length > this.#window || length > this.#windowOf(stream) || stream.hasHead) {
      this.send(stream, message)
      this.end(stream, { status: 0, message: '' })
      return
    }
    this.#window -= length
    // Trailers are encoded after the head, as they are written: see ResponseHeaders.
    const head = this.headers.okHead()
    const trailers = this.headers.okTrailers()
    let at = this.#writer.reserve(3 * FRAME_HEAD_BYTES + head.length + length + trailers.length)
    const bytes = this.#writer.bytes
    at = writeFrameHead(bytes, at, head.length, FrameType.headers, FrameFlag.endHeaders, stream.id)
    at = write(bytes, at, head)
    at = writeFrameHead(bytes, at, length, FrameType.data, 0, stream.id)
    bytes[at] = 0
    writeUint32(bytes, at + 1, message.length)
    at = write(bytes, at + PREFIX_BYTES, message)
    at = writeFrameHead(bytes, at, trailers.length, FrameType.headers, END, stream.id)
    write(bytes, at, trailers)
    stream.hasHead = true
    this.#sent(stream)
  }

  /** Sends a message of a call, after the head of the answer if that was not sent yet. */
  send(stream: CallStream, message: Uint8Array): void {
    if (!stream.hasHead) {
      stream.hasHead = true
      this.#writer.frame(FrameType.headers, FrameFlag.endHeaders, stream.id, this.headers.okHead())
    }
    const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
    bytes[0] = 0
    writeUint32(bytes, 1, message.length)
    bytes.set(message, PREFIX_BYTES)
    this.#wait(stream, bytes)
  }

  /** Ends a call when all of its messages are sent. */
  end(stream: CallStream, ending: { readonly status: number; readonly message: string }): void {
    stream.ending = ending
    this.#proceed(stream)
  }

  /** Answers a request that is no call of gRPC. */
  plain(stream: CallStream, status: number, text: string): void {
    const bytes = Buffer.from(`${text}\n`)
    stream.hasHead = true
    stream.ending = 'plain'
    this.#writer.frame(FrameType.headers, FrameFlag.endHeaders, stream.id, this.headers.plainHead(status, bytes.length))
    this.#wait(stream, bytes)
  }

  /** Forgets what waits for a stream that is closed. */
  forget(stream: CallStream): void {
    if (stream.waiting === undefined) return
    this.waitingBytes -= stream.waitingBytes
    stream.waiting = undefined
    this.#waiting.delete(stream)
  }

  /** The client takes more bytes on the connection. */
  widen(increment: number): void {
    if (this.#window + increment > MAX_WINDOW)
      throw new Http2Error(ErrorCode.flowControlError, 'the window of the connection exceeds 2147483647')
    this.#window += increment
    this.proceedAll()
  }

  /** The client takes more bytes on a stream. False if its window exceeds the largest that is allowed. */
  widenStream(stream: CallStream, increment: number): boolean {
    if (this.#windowOf(stream) + increment > MAX_WINDOW) return false
    stream.windowChange += increment
    this.#proceed(stream)
    return true
  }

  /** The initial window has changed, so the windows of these streams have. */
  checkWindows(streams: Iterable<CallStream>): void {
    for (const stream of streams)
      if (this.#windowOf(stream) > MAX_WINDOW)
        throw new Http2Error(ErrorCode.flowControlError, `the window of stream ${stream.id} exceeds 2147483647`)
    this.proceedAll()
  }

  proceedAll(): void {
    for (const stream of this.#waiting) {
      if (this.#window <= 0) return
      this.#proceed(stream)
    }
  }

  #windowOf(stream: CallStream): number {
    return this.#settings.initialWindow + stream.windowChange
  }

  #wait(stream: CallStream, bytes: Buffer): void {
    if (stream.waiting === undefined) {
      stream.waiting = []
      stream.waitingBytes = 0
      stream.progressMs = this.nowMs
      this.#waiting.add(stream)
    }
    stream.waiting.push(bytes)
    stream.waitingBytes += bytes.length
    this.waitingBytes += bytes.length
    this.#proceed(stream)
  }

  /** Writes what the windows allow of what waits. If nothing waits any more, ends the stream if it is to end. */
  #proceed(stream: CallStream): void {
    const { waiting } = stream
    if (waiting !== undefined) {
      let bytes = waiting[0]
      while (bytes !== undefined) {
        const length = Math.min(bytes.length, MAX_FRAME_BYTES, this.#window, this.#windowOf(stream))
        if (length <= 0) return
        this.#data(stream, bytes.subarray(0, length))
        if (length === bytes.length) waiting.shift()
        else waiting[0] = bytes.subarray(length)
        bytes = waiting[0]
      }
      stream.waiting = undefined
      this.#waiting.delete(stream)
    }
    if (stream.ending !== undefined) this.#finish(stream)
  }

  #data(stream: CallStream, bytes: Buffer): void {
    const isEnd = stream.ending === 'plain' && bytes.length === stream.waitingBytes
    this.#writer.frame(FrameType.data, isEnd ? FrameFlag.endStream : 0, stream.id, bytes)
    this.#window -= bytes.length
    stream.windowChange -= bytes.length
    stream.waitingBytes -= bytes.length
    this.waitingBytes -= bytes.length
    stream.progressMs = this.nowMs
  }

  #finish(stream: CallStream): void {
    const { ending } = stream
    if (ending !== 'plain' && ending !== undefined) {
      const trailers = stream.hasHead ? this.#trailers(ending) : this.headers.errorHead(ending.status, ending.message)
      stream.hasHead = true
      this.#writer.frame(FrameType.headers, END, stream.id, trailers)
    }
    this.#sent(stream)
  }

  #trailers({ status, message }: { readonly status: number; readonly message: string }): Buffer {
    return status === 0 ? this.headers.okTrailers() : this.headers.errorTrailers(status, message)
  }
}

/** Faster than `set` for the few bytes of a usual answer. */
function write(bytes: Uint8Array, at: number, from: Uint8Array): number {
  const { length } = from
  if (length > 64) bytes.set(from, at)
  else for (let i = 0; i < length; i++) bytes[at + i] = from[i] as number
  return at + length
}
