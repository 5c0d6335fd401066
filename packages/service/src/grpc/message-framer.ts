import { GRPC_STATUS, GrpcError } from './grpc-error.js'

/** A message on the wire begins with one byte that says whether it is compressed, and four of its length. */
export const PREFIX_BYTES = 5
/** The most bytes of a message. */
const MOST_MESSAGE_BYTES = 1024 * 1024

/** Counts the memory of messages that have begun and not ended, of all calls together. */
export interface HeldBytes {
  count: number
}
/** The most of it: more calls with slow bodies are refused. */
const MOST_HELD_BYTES = 64 * 1024 * 1024
const FIRST_BYTES = 512

/**
 * Cuts the bytes of a call into messages. Nearly every message comes in one part; then it is passed on as it is, without a copy.
 * Bounds what a client can make this process keep.
 */
export class MessageFramer {
  readonly #held: HeldBytes
  readonly #encoding: string | undefined
  /** Has the message that has begun. */
  #buffer: Buffer | undefined
  #bytes = 0

  /** `encoding`: the field `grpc-encoding` of the call. */
  constructor(held: HeldBytes, encoding: string | undefined) {
    this.#held = held
    this.#encoding = encoding
  }

  /** Has a message begun that has not ended? */
  get isWithin(): boolean {
    return this.#bytes > 0
  }

  /** Takes the next bytes, and calls `take` for each message that they complete. Throws a `GrpcError` for a message that is refused. */
  push(part: Uint8Array, take: (message: Uint8Array) => void): void {
    let rest = part
    while (rest.length > 0) {
      if (this.#bytes > 0) rest = this.#continue(rest, take)
      else {
        const wanted = this.#wanted(rest)
        if (rest.length < wanted) return void this.#keep(rest)
        take(rest.subarray(PREFIX_BYTES, wanted))
        rest = rest.subarray(wanted)
      }
    }
  }

  /** The call is over: nothing is kept. */
  drop(): void {
    if (this.#buffer !== undefined) this.#held.count -= this.#buffer.length
    this.#buffer = undefined
    this.#bytes = 0
  }

  /** Adds bytes to the message that has begun, and returns those behind its end. */
  #continue(part: Uint8Array, take: (message: Uint8Array) => void): Uint8Array {
    const missing = this.#wanted(this.#kept) - this.#bytes
    this.#keep(part.subarray(0, missing))
    const kept = this.#kept
    if (kept.length === this.#wanted(kept)) {
      this.drop()
      take(kept.subarray(PREFIX_BYTES))
    }
    return part.subarray(missing)
  }

  get #kept(): Uint8Array {
    return (this.#buffer as Buffer).subarray(0, this.#bytes)
  }

  /** Copies bytes, because the transport may use their memory again. */
  #keep(part: Uint8Array): void {
    const before = this.#buffer?.length ?? 0
    const bytes = this.#bytes + part.length
    if (bytes > before) {
      const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, bytes, 2 * before))
      this.#held.count += larger.length - before
      this.#buffer?.copy(larger, 0, 0, this.#bytes)
      this.#buffer = larger
    }
    this.#buffer?.set(part, this.#bytes)
    this.#bytes = bytes
    if (this.#held.count > MOST_HELD_BYTES)
      throw new GrpcError(GRPC_STATUS.resourceExhausted, 'the server holds too many messages that are not complete')
  }

  /** How many bytes the message at the start of `bytes` has, with its prefix. */
  #wanted(bytes: Uint8Array): number {
    if (bytes[0] !== 0) throw this.#compressed(bytes[0])
    if (bytes.length < PREFIX_BYTES) return PREFIX_BYTES
    const length = lengthOf(bytes)
    if (length <= MOST_MESSAGE_BYTES) return PREFIX_BYTES + length
    const bounds = `(${length} vs. ${MOST_MESSAGE_BYTES})`
    throw new GrpcError(GRPC_STATUS.resourceExhausted, `received message larger than max ${bounds}`)
  }

  #compressed(flag: number): GrpcError {
    if (flag !== 1) return new GrpcError(GRPC_STATUS.internal, 'the prefix of a message is not valid')
    if (this.#encoding === undefined || this.#encoding === 'identity')
      return new GrpcError(GRPC_STATUS.internal, 'a message is compressed, and grpc-encoding does not say how')
    return new GrpcError(GRPC_STATUS.unimplemented, `messages must not be compressed, got ${this.#encoding}`)
  }
}

/** Are these bytes exactly one message, which is neither compressed nor too large? */
export function isWholeMessage(bytes: Uint8Array): boolean {
  return (
    bytes.length >= PREFIX_BYTES &&
    bytes[0] === 0 &&
    bytes.length <= MOST_MESSAGE_BYTES &&
    lengthOf(bytes) === bytes.length - PREFIX_BYTES
  )
}

function lengthOf(bytes: Uint8Array): number {
  return ((bytes[1] << 24) | (bytes[2] << 16) | (bytes[3] << 8) | bytes[4]) >>> 0
}

/** A message as it goes over the wire. */
export function framed(message: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
  bytes[0] = 0
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, PREFIX_BYTES)
  return bytes
}
