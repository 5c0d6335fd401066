import type { Socket } from 'node:net'
import { FRAME_HEAD_BYTES, FrameFlag, FrameType } from './frame-type.js'

/** What a connection collects before it writes. Frames larger than it do not exist. */
const BUFFER_BYTES = 65_536

/** Buffers that no socket holds at the moment. All connections take from here, so that an idle one needs none. */
const free: Buffer[] = []
const MOST_FREE = 8

/**
 * Collects the frames for a client, and writes them together: at the end of a read all answers to it, otherwise all that was
 * collected when the promises of this turn have been handled.
 */
export class FrameWriter {
  readonly #socket: Socket
  /** An encrypted socket holds what it is given for a while, so it gets a copy of the right size. */
  readonly #copies: boolean
  #bytes: Buffer | undefined
  #length = 0
  #isHeld = false
  #isFlushPlanned = false

  constructor(socket: Socket, copies: boolean) {
    this.#socket = socket
    this.#copies = copies
  }

  /** The bytes that the socket has taken, and that the client has not. */
  get queuedBytes(): number {
    return this.#socket.writableLength
  }

  /** The buffer into which the caller writes after `reserve`. */
  get bytes(): Buffer {
    return this.#bytes as Buffer
  }

  /** Makes room for so many bytes. Returns where they begin in `bytes`; the caller writes all of them. */
  reserve(length: number): number {
    if (this.#bytes !== undefined && this.#length + length > BUFFER_BYTES) this.flush()
    if (this.#bytes === undefined) {
      this.#bytes = free.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
      if (!this.#isHeld) this.#planFlush()
    }
    const at = this.#length
    this.#length += length
    return at
  }

  /** Collects until `release`. */
  hold(): void {
    this.#isHeld = true
  }

  release(): void {
    this.#isHeld = false
    this.flush()
  }

  flush(): void {
    const bytes = this.#bytes
    if (bytes === undefined) return
    const length = this.#length
    this.#bytes = undefined
    this.#length = 0
    const socket = this.#socket
    if (!socket.writable) {
      keep(bytes)
      return
    }
    if (this.#copies) {
      socket.write(Buffer.from(bytes.subarray(0, length)))
      keep(bytes)
    } else {
      socket.write(bytes.subarray(0, length))
      // Nothing is queued: the system has taken all of it, and the buffer is free again.
      if (socket.writableLength === 0) keep(bytes)
    }
  }

  rstStream(streamId: number, code: number): void {
    const at = this.#frame(4, FrameType.rstStream, 0, streamId)
    writeUint32(this.bytes, at, code)
  }

  settings(settings: readonly (readonly [setting: number, value: number])[]): void {
    let at = this.#frame(6 * settings.length, FrameType.settings, 0, 0)
    for (const [setting, value] of settings) {
      this.bytes.writeUInt16BE(setting, at)
      writeUint32(this.bytes, at + 2, value)
      at += 6
    }
  }

  settingsAck(): void {
    this.#frame(0, FrameType.settings, FrameFlag.ack, 0)
  }

  /** `data` has eight bytes. */
  ping(flags: number, data: Uint8Array): void {
    const at = this.#frame(8, FrameType.ping, flags, 0)
    this.bytes.set(data, at)
  }

  goaway(lastStreamId: number, code: number, text: string): void {
    const debug = Buffer.from(text)
    const at = this.#frame(8 + debug.length, FrameType.goaway, 0, 0)
    writeUint32(this.bytes, at, lastStreamId)
    writeUint32(this.bytes, at + 4, code)
    this.bytes.set(debug, at + 8)
  }

  windowUpdate(streamId: number, increment: number): void {
    const at = this.#frame(4, FrameType.windowUpdate, 0, streamId)
    writeUint32(this.bytes, at, increment)
  }

  /** A frame with a payload that exists. */
  frame(type: number, flags: number, streamId: number, payload: Uint8Array): void {
    const at = this.#frame(payload.length, type, flags, streamId)
    this.bytes.set(payload, at)
  }

  /** Writes the head of a frame, and returns where its payload begins. */
  #frame(length: number, type: number, flags: number, streamId: number): number {
    const at = this.reserve(FRAME_HEAD_BYTES + length)
    return writeFrameHead(this.bytes, at, length, type, flags, streamId)
  }

  #planFlush(): void {
    if (this.#isFlushPlanned) return
    this.#isFlushPlanned = true
    // Runs after all promises that are settled now: a store that answers many calls at once gets one write.
    process.nextTick(() => {
      this.#isFlushPlanned = false
      this.flush()
    })
  }
}

/** Returns where the payload begins. */
export function writeFrameHead(
  bytes: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): number {
  bytes[at] = length >> 16
  bytes[at + 1] = length >> 8
  bytes[at + 2] = length
  bytes[at + 3] = type
  bytes[at + 4] = flags
  writeUint32(bytes, at + 5, streamId)
  return at + FRAME_HEAD_BYTES
}

export function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >> 16
  bytes[at + 2] = value >> 8
  bytes[at + 3] = value
}

function keep(bytes: Buffer): void {
  if (free.length < MOST_FREE) free.push(bytes)
}
