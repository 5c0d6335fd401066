import { FRAME_HEAD_BYTES, MAX_FRAME_BYTES } from './frame-type.js'
import { ErrorCode, Http2Error } from './http2-error.js'

/** Takes frames one by one. The payload is bytes[at, end), and is valid until this returns. */
export interface FrameSink {
  /** True if no more frames must be given for now. */
  readonly isFull: boolean
  frame(type: number, flags: number, streamId: number, bytes: Buffer, at: number, end: number): void
}

/**
 * Cuts the chunks of a connection into frames. A frame that lies in one chunk is read where it lies. Otherwise its parts are
 * put together in a buffer of its own, which grows with what has come, and not with what the head of the frame promises.
 */
export class FrameReader {
  readonly #sink: FrameSink
  #partial: Buffer | undefined
  #partialBytes = 0

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** True while a part of a frame has come, and the rest has not. */
  get isInsideFrame(): boolean {
    return this.#partialBytes > 0
  }

  /** Returns how many bytes it has read: all of them, unless the sink became full. */
  read(chunk: Buffer): number {
    let at = this.#partialBytes > 0 ? this.#complete(chunk) : 0
    while (chunk.length - at >= FRAME_HEAD_BYTES) {
      if (this.#sink.isFull) return at
      const end = at + FRAME_HEAD_BYTES + payloadBytes(chunk, at)
      if (end > chunk.length) break
      this.#give(chunk, at, end)
      at = end
    }
    if (at < chunk.length) this.#hold(chunk, at, chunk.length)
    return chunk.length
  }

  /** Completes the frame that the chunks before began, as far as this chunk goes. Returns where the next frame begins. */
  #complete(chunk: Buffer): number {
    let at = 0
    if (this.#partialBytes < FRAME_HEAD_BYTES) {
      at = Math.min(chunk.length, FRAME_HEAD_BYTES - this.#partialBytes)
      this.#hold(chunk, 0, at)
      if (this.#partialBytes < FRAME_HEAD_BYTES) return at
    }
    const wanted = FRAME_HEAD_BYTES + payloadBytes(this.#partial as Buffer, 0)
    const end = Math.min(chunk.length, at + wanted - this.#partialBytes)
    this.#hold(chunk, at, end)
    if (this.#partialBytes === wanted) {
      const frame = this.#partial as Buffer
      this.#partial = undefined
      this.#partialBytes = 0
      this.#give(frame, 0, wanted)
    }
    return end
  }

  #hold(chunk: Buffer, at: number, end: number): void {
    const bytes = this.#partialBytes + end - at
    if (this.#partial === undefined || this.#partial.length < bytes) {
      const larger = Buffer.allocUnsafeSlow(Math.max(64, 2 * bytes))
      this.#partial?.copy(larger, 0, 0, this.#partialBytes)
      this.#partial = larger
    }
    chunk.copy(this.#partial, this.#partialBytes, at, end)
    this.#partialBytes = bytes
  }

  #give(bytes: Buffer, at: number, end: number): void {
    const type = bytes[at + 3] as number
    const flags = bytes[at + 4] as number
    this.#sink.frame(type, flags, readUint31(bytes, at + 5), bytes, at + FRAME_HEAD_BYTES, end)
  }
}

/** 31 bits, without the bit above them, which is reserved. */
export function readUint31(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] as number) & 0x7f) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  )
}

function payloadBytes(bytes: Uint8Array, at: number): number {
  const length = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number)
  if (length > MAX_FRAME_BYTES)
    throw new Http2Error(ErrorCode.frameSizeError, `a frame of ${length} bytes; at most ${MAX_FRAME_BYTES} are allowed`)
  return length
}
