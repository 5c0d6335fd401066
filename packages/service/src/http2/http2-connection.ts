import type { Socket } from 'node:net'
import type { Bounds } from './bounds.js'
import { ClientConduct } from './client-conduct.js'
import { FrameReader, type FrameSink, readUint31 } from './frame-reader.js'
import { FrameFlag, FrameType, MAX_WINDOW } from './frame-type.js'
import { FrameWriter } from './frame-writer.js'
import type { CallHost } from './grpc-calls.js'
import { ErrorCode, Http2Error } from './http2-error.js'
import { Patience } from './patience.js'
import { PeerSettings } from './peer-settings.js'
import { HTTP1_ANSWER, Http1Client, Preface } from './preface.js'
import { CONNECTION_WINDOW, STREAM_WINDOW, USUAL_WINDOW } from './receive-window.js'
import { StreamTable } from './stream-table.js'

const MAX_CONCURRENT_STREAMS = 0x3
const INITIAL_WINDOW_SIZE = 0x4
const MAX_HEADER_LIST_SIZE = 0x6
const HEADER_TABLE_SIZE = 0x1
/** What the server asks before it says which calls it still answers. Clients return it. */
const FAREWELL = Buffer.from('farewell')

/**
 * One connection: what comes from the socket is cut into frames, each frame is handled, and what they are answered with is
 * written together. Whichever side is at fault, the connection ends with GOAWAY.
 */
export class Http2Connection implements FrameSink {
  readonly #socket: Socket
  readonly #host: CallHost
  readonly #bounds: Bounds
  readonly #writer: FrameWriter
  readonly #reader: FrameReader = new FrameReader(this)
  readonly #preface = new Preface()
  readonly #settings = new PeerSettings()
  readonly #conduct: ClientConduct
  readonly #streams: StreamTable
  /** What was read, and waits until the client has taken what is queued for it. */
  #unread: Buffer | undefined
  readonly #patience: Patience
  #hasSettings = false
  #isReading = false
  #isLeaving = false
  #hasEnded = false

  constructor(socket: Socket, isSecure: boolean, host: CallHost) {
    const { bounds } = host
    this.#socket = socket
    this.#bounds = bounds
    this.#host = host
    this.#writer = new FrameWriter(socket, isSecure)
    this.#conduct = new ClientConduct(bounds)
    this.#streams = new StreamTable(this.#writer, this.#settings, this.#conduct, host)
    this.#streams.emptied = () => this.#endIfDone()
    this.#patience = new Patience(bounds, performance.now())
    socket.on('data', (chunk: Buffer) => this.#data(chunk))
    socket.on('drain', () => this.#drain())
    // An error is followed by 'close'.
    socket.on('error', () => {})
    socket.on('close', () => this.#closed())
  }

  /**
   * Takes no more calls, and ends when those in flight are answered. The client is told so twice: a call that it made
   * before it knew is still answered, so the last call that counts is named only when the client has returned a PING.
   */
  leave(): void {
    if (this.#isLeaving || this.#hasEnded) return
    this.#isLeaving = true
    if (!this.#hasSettings) {
      this.#end()
      return
    }
    this.#writer.goaway(MAX_WINDOW, ErrorCode.noError, '')
    this.#writer.ping(0, FAREWELL)
    this.#streams.shutDown()
  }

  /** The bytes that wait for the client to read, or to open its windows. */
  get unreadBytes(): number {
    return this.#writer.queuedBytes + this.#streams.answers.waitingBytes
  }

  /** Ends the connection without ado. */
  destroy(): void {
    this.#socket.destroy()
  }

  /** Ends what has taken too long. The server calls this from time to time. */
  sweep(nowMs: number): void {
    this.#conduct.nowMs = nowMs
    this.#streams.answers.nowMs = nowMs
    const { queuedBytes } = this.#writer
    const takenBytes = this.#socket.bytesWritten - queuedBytes
    const { size: calls, lastCallMs } = this.#streams
    const due = this.#patience.due(nowMs, { calls, lastCallMs, queuedBytes, takenBytes })
    if (due === 'cut') this.destroy()
    else if (due === 'leave') this.leave()
    else if (due === 'slow-block')
      this.#fail(new Http2Error(ErrorCode.enhanceYourCalm, 'a frame or header block took too long'))
    else this.#streams.sweep(nowMs)
  }

  frame(type: number, flags: number, streamId: number, bytes: Buffer, at: number, end: number): void {
    const { blocks } = this.#streams
    if (blocks.openStream !== 0 && (type !== FrameType.continuation || streamId !== blocks.openStream))
      throw protocolError('another frame comes inside a header block')
    if (!this.#hasSettings && (type !== FrameType.settings || flags & FrameFlag.ack))
      throw protocolError('the first frame is not SETTINGS')
    switch (type) {
      case FrameType.headers:
        this.#streams.headers(flags, onStream(streamId, 'HEADERS'), bytes, at, end)
        return
      case FrameType.data:
        this.#streams.data(flags, onStream(streamId, 'DATA'), bytes, at, end)
        return
      case FrameType.continuation:
        if (blocks.openStream === 0) throw protocolError('a CONTINUATION frame continues nothing')
        this.#streams.continuation(flags, bytes, at, end)
        return
      case FrameType.rstStream:
        checkLength(end - at, 4, 'RST_STREAM')
        this.#streams.rstStream(onStream(streamId, 'RST_STREAM'))
        return
      case FrameType.windowUpdate:
        checkLength(end - at, 4, 'WINDOW_UPDATE')
        this.#windowUpdate(streamId, readUint31(bytes, at))
        return
      default:
        this.#conduct.idleFrame()
        this.#other(type, flags, streamId, bytes, at, end)
        return
    }
  }

  #other(type: number, flags: number, streamId: number, bytes: Buffer, at: number, end: number): void {
    switch (type) {
      case FrameType.settings:
        onConnection(streamId, 'SETTINGS')
        this.#peerSettings(flags, bytes, at, end)
        return
      case FrameType.ping:
        onConnection(streamId, 'PING')
        checkLength(end - at, 8, 'PING')
        if ((flags & FrameFlag.ack) === 0) this.#writer.ping(FrameFlag.ack, bytes.subarray(at, end))
        else if (this.#isLeaving && bytes.compare(FAREWELL, 0, 8, at, end) === 0) this.#sayLast()
        return
      case FrameType.priority:
        checkLength(end - at, 5, 'PRIORITY')
        if (readUint31(bytes, at) === onStream(streamId, 'PRIORITY'))
          throw protocolError(`stream ${streamId} depends on itself`)
        return
      case FrameType.goaway:
        // The client makes no more calls, and closes the connection when it has its answers.
        onConnection(streamId, 'GOAWAY')
        if (end - at < 8) throw new Http2Error(ErrorCode.frameSizeError, 'a GOAWAY frame has at least 8 bytes')
        return
      case FrameType.pushPromise:
        throw protocolError('a client cannot push')
    }
  }

  #peerSettings(flags: number, bytes: Buffer, at: number, end: number): void {
    if (flags & FrameFlag.ack) {
      checkLength(end - at, 0, 'SETTINGS acknowledgement')
      return
    }
    if ((end - at) % 6 !== 0) throw new Http2Error(ErrorCode.frameSizeError, 'a SETTINGS frame ends inside a setting')
    this.#hasSettings = true
    this.#patience.greeted()
    const { answers } = this.#streams
    const before = this.#settings.initialWindow
    this.#settings.read(bytes, at, end)
    this.#writer.settingsAck()
    const tableBytes = this.#settings.takeTableBytes()
    if (tableBytes !== undefined) answers.headers.limitTable(tableBytes)
    if (this.#settings.initialWindow !== before) answers.checkWindows(this.#streams.streams())
  }

  #windowUpdate(streamId: number, increment: number): void {
    if (streamId !== 0) {
      this.#streams.windowUpdate(streamId, increment)
      return
    }
    this.#conduct.idleFrame()
    if (increment === 0) throw protocolError('a WINDOW_UPDATE adds nothing')
    this.#streams.answers.widen(increment)
  }

  #data(chunk: Buffer): void {
    // After the end nothing is read, but the socket is kept empty: a full one would make the system drop what was sent.
    if (this.#hasEnded) return
    if (this.#unread !== undefined) {
      this.#unread = Buffer.concat([this.#unread, chunk])
      return
    }
    const nowMs = performance.now()
    this.#conduct.nowMs = nowMs
    this.#streams.answers.nowMs = nowMs
    this.#isReading = true
    this.#writer.hold()
    try {
      this.#read(chunk)
    } catch (error) {
      this.#failBy(error)
    }
    this.#writer.release()
    this.#isReading = false
    this.#endIfDone()
  }

  #read(chunk: Buffer): void {
    const at = this.#preface.isComplete ? 0 : this.#begin(chunk)
    if (at === chunk.length) return
    const read = at + this.#reader.read(at === 0 ? chunk : chunk.subarray(at))
    if (read < chunk.length) {
      this.#unread = chunk.subarray(read)
      this.#socket.pause()
    }
    this.#streams.endRead()
    const isInside = this.#reader.isInsideFrame || this.#streams.blocks.openStream !== 0
    this.#patience.read(isInside, this.#conduct.nowMs)
  }

  /** Greets a client that speaks HTTP/2. Returns where its frames begin. */
  #begin(chunk: Buffer): number {
    const at = this.#preface.read(chunk)
    if (!this.#preface.isComplete) return at
    const { headerTableBytes, streams, headerBytes } = this.#bounds
    this.#writer.settings([
      [HEADER_TABLE_SIZE, headerTableBytes],
      [MAX_CONCURRENT_STREAMS, streams],
      [INITIAL_WINDOW_SIZE, STREAM_WINDOW],
      [MAX_HEADER_LIST_SIZE, headerBytes],
    ])
    this.#writer.windowUpdate(0, CONNECTION_WINDOW - USUAL_WINDOW)
    return at
  }

  /** True while the client has not taken what it was sent. Then no more frames are read. */
  get isFull(): boolean {
    return this.#writer.queuedBytes > Math.max(this.#bounds.queuedBytes, this.#socket.writableHighWaterMark)
  }

  #drain(): void {
    const chunk = this.#unread
    if (chunk === undefined) return
    this.#unread = undefined
    this.#data(chunk)
    if (this.#unread === undefined) this.#socket.resume()
  }

  /** Names the last call that counts. */
  #sayLast(): void {
    if (this.#streams.isClosing) return
    this.#streams.isClosing = true
    this.#writer.goaway(this.#streams.lastId, ErrorCode.noError, '')
  }

  #endIfDone(): void {
    if (this.#streams.isClosing && this.#streams.size === 0 && !this.#isReading) this.#end()
  }

  #failBy(error: unknown): void {
    if (error instanceof Http2Error) this.#fail(error)
    else if (error instanceof Http1Client) this.#end(HTTP1_ANSWER)
    else {
      this.#host.fault(error)
      this.#fail(new Http2Error(ErrorCode.internalError, 'the server has made an error'))
    }
  }

  #fail({ code, message }: Http2Error): void {
    this.#writer.goaway(this.#streams.lastId, code, message)
    this.#end()
  }

  /** Sends what is collected, and closes the connection when the client has it, or after a while. */
  #end(instead = ''): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#patience.ended(performance.now())
    this.#unread = undefined
    this.#streams.cancelAll()
    this.#writer.flush()
    this.#socket.end(instead)
    this.#socket.resume()
  }

  #closed(): void {
    this.#hasEnded = true
    this.#unread = undefined
    this.#streams.cancelAll()
  }
}

function onStream(streamId: number, type: string): number {
  if (streamId === 0) throw protocolError(`a ${type} frame belongs to a stream`)
  return streamId
}

function onConnection(streamId: number, type: string): number {
  if (streamId !== 0) throw protocolError(`a ${type} frame belongs to the connection`)
  return streamId
}

function checkLength(length: number, right: number, type: string): void {
  if (length !== right)
    throw new Http2Error(ErrorCode.frameSizeError, `a ${type} frame has ${right} bytes, and this one has ${length}`)
}

function protocolError(what: string): Http2Error {
  return new Http2Error(ErrorCode.protocolError, what)
}
