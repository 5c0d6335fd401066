import { AnswerWriter } from './answer-writer.js'
import type { Bounds } from './bounds.js'
import { CallHeadReader } from './call-head-reader.js'
import { CallStream } from './call-stream.js'
import type { ClientConduct } from './client-conduct.js'
import { ClosedStreams } from './closed-streams.js'
import { readUint31 } from './frame-reader.js'
import { FrameFlag } from './frame-type.js'
import type { FrameWriter } from './frame-writer.js'
import { type CallHost, type CallStreams, GrpcCalls } from './grpc-calls.js'
import { HeaderBlocks } from './header-blocks.js'
import { ErrorCode, Http2Error } from './http2-error.js'
import type { PeerSettings } from './peer-settings.js'
import { ReceiveWindow, STREAM_WINDOW } from './receive-window.js'

/** Records of streams that are closed, for the next streams of any connection. */
const free: CallStream[] = []
const MOST_FREE = 4_096

/**
 * The streams of one connection: RFC 9113, section 5. Each frame of a stream comes here; the calls get what it means. A
 * fault that concerns one stream resets it; a fault of the connection throws.
 */
export class StreamTable implements CallStreams {
  readonly blocks: HeaderBlocks
  readonly answers: AnswerWriter
  /** The highest stream that the client has opened. */
  lastId = 0
  /** When that was. */
  lastCallMs = 0
  /** True when the client was told that the connection takes no more calls. */
  isClosing = false
  /** Called when the last open stream is closed. */
  emptied: () => void = () => {}
  readonly #open = new Map<number, CallStream>()
  readonly #closed = new ClosedStreams()
  readonly #calls: GrpcCalls
  readonly #writer: FrameWriter
  readonly #conduct: ClientConduct
  readonly #bounds: Bounds
  readonly #window = new ReceiveWindow()
  /** Calls with a deadline that began in this read: most are answered before its end, and need no timer. */
  readonly #begun: CallStream[] = []
  /** Streams that are closed, and whose methods have not answered. */
  #unsettled = 0

  constructor(writer: FrameWriter, settings: PeerSettings, conduct: ClientConduct, host: CallHost) {
    this.#writer = writer
    this.#conduct = conduct
    const { bounds, methods } = host
    this.#bounds = bounds
    this.blocks = new HeaderBlocks(new CallHeadReader(methods, bounds.headerBytes), bounds)
    this.answers = new AnswerWriter(writer, settings, (stream) => this.#sent(stream))
    this.#calls = new GrpcCalls(this.answers, this, host)
  }

  get size(): number {
    return this.#open.size
  }

  streams(): Iterable<CallStream> {
    return this.#open.values()
  }

  headers(flags: number, streamId: number, bytes: Buffer, at: number, end: number): void {
    let from = at
    let to = end
    if (flags & FrameFlag.padded) {
      to -= paddingOf(bytes, at, end)
      from++
    }
    if (flags & FrameFlag.priority) {
      if (to - from < 5) throw new Http2Error(ErrorCode.frameSizeError, 'a HEADERS frame ends inside its priority')
      if (readUint31(bytes, from) === streamId) throw dependsOnItself(streamId)
      from += 5
    }
    if (to < from) throw new Http2Error(ErrorCode.protocolError, 'a HEADERS frame has more padding than bytes')
    const endsStream = (flags & FrameFlag.endStream) !== 0
    if (flags & FrameFlag.endHeaders) this.#block(streamId, endsStream, bytes, from, to)
    else this.blocks.begin(streamId, endsStream, bytes, from, to)
  }

  continuation(flags: number, bytes: Buffer, at: number, end: number): void {
    this.#conduct.idleFrame()
    const block = this.blocks.proceed(bytes, at, end, (flags & FrameFlag.endHeaders) !== 0)
    if (block !== undefined) this.#block(block.streamId, block.endsStream, block.bytes, 0, block.bytes.length)
  }

  data(flags: number, streamId: number, bytes: Buffer, at: number, end: number): void {
    const taken = end - at
    this.#window.take(taken)
    let from = at
    let to = end
    if (flags & FrameFlag.padded) {
      to -= paddingOf(bytes, at, end)
      if (to < ++from) throw new Http2Error(ErrorCode.protocolError, 'a DATA frame has more padding than bytes')
    }
    const stream = this.#open.get(streamId)
    if (stream === undefined) {
      this.#lateFrame(streamId, 'DATA')
      return
    }
    if (stream.clientEnded) {
      this.#fault(stream, ErrorCode.streamClosed)
      return
    }
    stream.uncreditedBytes += taken
    stream.bodyBytes += to - from
    const isLast = (flags & FrameFlag.endStream) !== 0
    if (isLast) {
      if (!this.#ended(stream)) return
    } else if (to === from) this.#conduct.idleFrame()
    this.#calls.data(stream, bytes, from, to, isLast)
    if (stream.uncreditedBytes >= STREAM_WINDOW / 2 && stream.isOpen && !isLast) this.#credit(stream)
  }

  rstStream(streamId: number): void {
    const stream = this.#open.get(streamId)
    if (stream === undefined) {
      if (streamId > this.lastId) throw idle(streamId, 'RST_STREAM')
      this.#conduct.idleFrame()
      return
    }
    const isRapid = this.#conduct.nowMs - stream.beganMs < this.#bounds.rapidResetMs
    // A proxy resets complete calls when its own clients go away. Such a call cost no more than any other, and others share the connection.
    if (stream.clientEnded) this.#conduct.idleFrame()
    this.#closed.addEnded(streamId)
    this.#close(stream)
    if (isRapid && !stream.clientEnded) this.#conduct.reset()
  }

  windowUpdate(streamId: number, increment: number): void {
    this.#conduct.idleFrame()
    const stream = this.#open.get(streamId)
    if (stream === undefined) {
      if (streamId > this.lastId) throw idle(streamId, 'WINDOW_UPDATE')
    } else if (increment === 0) this.#fault(stream, ErrorCode.protocolError)
    else if (!this.answers.widenStream(stream, increment)) this.#fault(stream, ErrorCode.flowControlError)
  }

  /** All frames of a read are handled. */
  endRead(): void {
    for (const stream of this.#begun) if (stream.isOpen) this.#calls.watchDeadline(stream)
    this.#begun.length = 0
    const bytes = this.#window.credit()
    if (bytes > 0) this.#writer.windowUpdate(0, bytes)
  }

  /** Ends calls whose client neither completes its request nor takes its answer. */
  sweep(nowMs: number): void {
    for (const stream of this.#open.values()) {
      if (stream.waiting !== undefined) {
        if (nowMs - stream.progressMs >= this.#bounds.stalledMs) this.resetStream(stream, ErrorCode.cancel)
      } else if (
        !stream.clientEnded &&
        stream.head.method?.kind !== 'stream' &&
        nowMs - stream.beganMs >= this.#bounds.requestMs
      )
        this.#giveUp(stream)
    }
  }

  /** Ends calls that have no end of their own: the server takes no more. */
  shutDown(): void {
    for (const stream of this.#open.values()) this.#calls.shutDown(stream)
  }

  /** The connection is gone. */
  cancelAll(): void {
    for (const stream of this.#open.values()) this.#close(stream)
  }

  resetStream(stream: CallStream, code: number): void {
    this.#writer.rstStream(stream.id, code)
    if (stream.clientEnded) this.#closed.addEnded(stream.id)
    else this.#closed.addReset(stream.id)
    this.#close(stream)
  }

  settled(stream: CallStream): void {
    this.#unsettled--
    recycle(stream)
  }

  #block(streamId: number, endsStream: boolean, bytes: Buffer, at: number, end: number): void {
    const known = this.#open.get(streamId)
    if (known !== undefined) {
      this.#trailers(known, endsStream, bytes, at, end)
      return
    }
    if (streamId <= this.lastId) {
      this.#lateBlock(streamId, bytes, at, end)
      return
    }
    if ((streamId & 1) === 0) throw new Http2Error(ErrorCode.protocolError, `a client cannot open stream ${streamId}`)
    this.lastId = streamId
    this.lastCallMs = this.#conduct.nowMs
    const head = this.blocks.readHead(bytes, at, end)
    if (this.isClosing || this.#open.size + this.#unsettled >= this.#bounds.streams) {
      this.#refuse(streamId, endsStream)
      return
    }
    const stream = free.pop() ?? new CallStream()
    stream.begin(streamId, head, endsStream, this.#conduct.nowMs)
    this.#open.set(streamId, stream)
    if (head.refusal?.kind === 'malformed') {
      this.#fault(stream, ErrorCode.protocolError)
      return
    }
    if (endsStream && !this.#ended(stream)) return
    this.#calls.begin(stream)
    if (stream.isOpen && head.timeoutMs < Infinity) this.#begun.push(stream)
  }

  /** The client has ended a stream. False if its request is not as long as it said. */
  #ended(stream: CallStream): boolean {
    const { contentLength } = stream.head
    stream.clientEnded = true
    if (contentLength >= 0 && contentLength !== stream.bodyBytes) {
      this.#fault(stream, ErrorCode.protocolError)
      return false
    }
    this.#conduct.progress()
    return true
  }

  /** A second block of a stream ends it. What it says does not matter. */
  #trailers(stream: CallStream, endsStream: boolean, bytes: Buffer, at: number, end: number): void {
    const isRight = this.blocks.readTrailers(bytes, at, end)
    if (stream.clientEnded) {
      this.#fault(stream, ErrorCode.streamClosed)
      return
    }
    if (!isRight || !endsStream) {
      this.#fault(stream, ErrorCode.protocolError)
      return
    }
    if (this.#ended(stream)) this.#calls.clientEnded(stream)
  }

  #lateBlock(streamId: number, bytes: Buffer, at: number, end: number): void {
    // The table of the client changes with each block, also with one that is ignored.
    if (this.#closed.wasReset(streamId)) this.blocks.readTrailers(bytes, at, end)
    else if (!this.#closed.wasEnded(streamId))
      throw new Http2Error(ErrorCode.protocolError, `stream ${streamId} is opened after stream ${this.lastId}`)
    this.#lateFrame(streamId, 'HEADERS')
  }

  /** A frame of a stream that is not open: on its way when the server closed the stream, or a fault. */
  #lateFrame(streamId: number, type: string): void {
    if (streamId > this.lastId || (streamId & 1) === 0) throw idle(streamId, type)
    if (!this.#closed.wasReset(streamId))
      throw new Http2Error(ErrorCode.streamClosed, `a ${type} frame for stream ${streamId}, which is closed`)
    this.#conduct.idleFrame()
  }

  #refuse(streamId: number, endsStream: boolean): void {
    this.#conduct.idleFrame()
    this.#writer.rstStream(streamId, ErrorCode.refusedStream)
    if (endsStream) this.#closed.addEnded(streamId)
    else this.#closed.addReset(streamId)
  }

  #giveUp(stream: CallStream): void {
    if (stream.head.method === undefined) this.resetStream(stream, ErrorCode.cancel)
    else this.#calls.expire(stream)
  }

  /** Lets a call go on. A request that is no call has shown enough of itself, and is answered before its end. */
  #credit(stream: CallStream): void {
    if (stream.head.method === undefined) this.#calls.clientEnded(stream)
    else this.#writer.windowUpdate(stream.id, stream.uncreditedBytes)
    stream.uncreditedBytes = 0
  }

  /** The client has made the server reset a stream. */
  #fault(stream: CallStream, code: number): void {
    this.resetStream(stream, code)
    this.#conduct.reset()
  }

  /** The answer is complete. A client that still sends is told that nothing more is read. */
  #sent(stream: CallStream): void {
    if (stream.clientEnded) {
      this.#closed.addEnded(stream.id)
      this.#close(stream)
    } else this.resetStream(stream, ErrorCode.noError)
  }

  #close(stream: CallStream): void {
    stream.isOpen = false
    this.#open.delete(stream.id)
    this.answers.forget(stream)
    this.#calls.closed(stream)
    if (stream.isWorking) this.#unsettled++
    else recycle(stream)
    if (this.#open.size === 0) this.emptied()
  }
}

function recycle(stream: CallStream): void {
  if (free.length < MOST_FREE) free.push(stream)
}

/** The length of the padding, which a byte at the beginning says. */
function paddingOf(bytes: Buffer, at: number, end: number): number {
  if (at === end) throw new Http2Error(ErrorCode.frameSizeError, 'a padded frame has no length of its padding')
  return bytes[at] as number
}

function dependsOnItself(streamId: number): Http2Error {
  return new Http2Error(ErrorCode.protocolError, `stream ${streamId} depends on itself`)
}

function idle(streamId: number, type: string): Http2Error {
  return new Http2Error(ErrorCode.protocolError, `a ${type} frame for stream ${streamId}, which was never opened`)
}
