import { GRPC_STATUS, GrpcError } from './grpc-error.js'

/** The flag of compression and four bytes of length. */
export const PREFIX_BYTES = 5
/** The most bytes of a message. */
export const MOST_MESSAGE_BYTES = 1024 * 1024
/** The most that a server holds of messages of which a part has come. */
export const MOST_PARTIAL_BYTES = 64 * 1024 * 1024

/** A message as it goes over the wire. */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
  bytes[0] = 0
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, PREFIX_BYTES)
  return bytes
}

/** Counts what calls hold of messages of which a part has come. */
export class PartialBytes {
  readonly #most: number
  readonly #whole: PartialBytes | undefined
  #held = 0

  /** `whole` counts them as well: those of a connection are a part of those of the server. */
  constructor(most: number, whole?: PartialBytes) {
    this.#most = most
    this.#whole = whole
  }

  get held(): number {
    return this.#held
  }

  /** Throws RESOURCE_EXHAUSTED if it would be too much. */
  take(bytes: number): void {
    if (this.#held + bytes > this.#most)
      throw new GrpcError(GRPC_STATUS.resourceExhausted, 'the server holds too many messages that are not complete')
    this.#whole?.take(bytes)
    this.#held += bytes
  }

  giveBack(bytes: number): void {
    this.#whole?.giveBack(bytes)
    this.#held -= bytes
  }
}

/**
 * Puts the messages of one call together, across the parts in which they come. A message that lies in one part is a view of it; otherwise
 * its parts are copied into a buffer that grows with what has come, and not with the length that the prefix promises.
 */
export class MessageReader {
  readonly #partial: PartialBytes
  readonly #mostBytes: number
  readonly #encoding: string | undefined
  #prefixBytes = 0
  #length = 0
  #body: Buffer | undefined
  #bodyBytes = 0
  #counted = 0

  /** `encoding` is the field `grpc-encoding` of the call. */
  constructor(partial: PartialBytes, mostBytes: number, encoding: string | undefined) {
    this.#partial = partial
    this.#mostBytes = mostBytes
    this.#encoding = encoding
  }

  /** True if a part of a message has come, and the rest has not. */
  get isInsideMessage(): boolean {
    return this.#prefixBytes > 0
  }

  /**
   * Reads bytes[at, end) up to the end of a message at most, calls `whole` with the message if it is complete, and returns
   * where it stopped. The message is valid until `whole` returns. Throws a `GrpcError` for a message that is not taken.
   */
  read(bytes: Buffer, at: number, end: number, whole: (message: Buffer) => void): number {
    let next = at
    while (this.#prefixBytes < PREFIX_BYTES) {
      if (next === end) return next
      this.#prefixByte(bytes[next++] as number)
    }
    const available = Math.min(end - next, this.#length - this.#bodyBytes)
    const stop = next + available
    if (this.#bodyBytes + available < this.#length) {
      this.#hold(bytes, next, stop)
      return stop
    }
    let message = bytes.subarray(next, stop)
    if (this.#bodyBytes > 0) {
      this.#hold(bytes, next, stop)
      message = (this.#body as Buffer).subarray(0, this.#length)
    }
    this.clear()
    whole(message)
    return stop
  }

  /** A copy that the call keeps. It counts as unfinished until `clear`. */
  keep(message: Buffer): Buffer {
    this.#count(message.length)
    return Buffer.from(message)
  }

  /** Forgets what has come. */
  clear(): void {
    if (this.#counted > 0) this.#partial.giveBack(this.#counted)
    this.#counted = 0
    this.#prefixBytes = 0
    this.#length = 0
    this.#body = undefined
    this.#bodyBytes = 0
  }

  #prefixByte(byte: number): void {
    if (this.#prefixBytes === 0) {
      if (byte !== 0) throw this.#flagged(byte)
    } else this.#length = this.#length * 256 + byte
    this.#prefixBytes++
    if (this.#prefixBytes === PREFIX_BYTES && this.#length > this.#mostBytes)
      throw new GrpcError(
        GRPC_STATUS.resourceExhausted,
        `received message larger than max (${this.#length} vs. ${this.#mostBytes})`,
      )
  }

  #flagged(flag: number): GrpcError {
    if (flag !== 1) return new GrpcError(GRPC_STATUS.internal, 'the prefix of a message is not valid')
    if (this.#encoding === undefined || this.#encoding === 'identity')
      return new GrpcError(GRPC_STATUS.internal, 'a message is compressed, and grpc-encoding does not say how')
    return new GrpcError(GRPC_STATUS.unimplemented, `messages must not be compressed, got ${this.#encoding}`)
  }

  #hold(bytes: Buffer, at: number, end: number): void {
    const length = this.#bodyBytes + end - at
    if (this.#body === undefined || this.#body.length < length) {
      const size = Math.min(this.#length, Math.max(256, 2 * length))
      this.#count(size - (this.#body?.length ?? 0))
      const larger = Buffer.allocUnsafeSlow(size)
      this.#body?.copy(larger, 0, 0, this.#bodyBytes)
      this.#body = larger
    }
    bytes.copy(this.#body, this.#bodyBytes, at, end)
    this.#bodyBytes = length
  }

  #count(bytes: number): void {
    this.#partial.take(bytes)
    this.#counted += bytes
  }
}
