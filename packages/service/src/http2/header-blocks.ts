import type { Bounds } from './bounds.js'
import type { CallHead, CallHeadReader } from './call-head-reader.js'
import { BlockCache } from './hpack/block-cache.js'
import { type FieldSink, HeaderDecoder } from './hpack/header-decoder.js'
import { FieldKind, type HeaderField } from './hpack/header-field.js'
import { ErrorCode, Http2Error } from './http2-error.js'

/** A block that is complete. */
export interface HeaderBlock {
  readonly streamId: number
  readonly endsStream: boolean
  readonly bytes: Buffer
}

/**
 * The header blocks of one connection. It collects a block that comes in several frames, and reads blocks in the order in
 * which they came, as HPACK demands.
 */
export class HeaderBlocks {
  readonly #decoder: HeaderDecoder
  readonly #reader: CallHeadReader
  readonly #cache = new BlockCache<CallHead>()
  readonly #mostBytes: number
  readonly #trailers = new TrailerCheck()
  #streamId = 0
  #endsStream = false
  #parts: Buffer[] = []
  #partBytes = 0

  constructor(reader: CallHeadReader, { headerBytes, headerTableBytes }: Bounds) {
    this.#reader = reader
    this.#mostBytes = headerBytes
    this.#decoder = new HeaderDecoder(headerTableBytes)
  }

  /** The stream of the block that must be continued before any other frame comes; 0 if there is none. */
  get openStream(): number {
    return this.#streamId
  }

  /** A block begins, and other frames continue it. */
  begin(streamId: number, endsStream: boolean, bytes: Buffer, at: number, end: number): void {
    this.#streamId = streamId
    this.#endsStream = endsStream
    this.#add(bytes, at, end)
  }

  /** A part of the block that began before. Returns the block with the last part. */
  proceed(bytes: Buffer, at: number, end: number, isLast: boolean): HeaderBlock | undefined {
    this.#add(bytes, at, end)
    if (!isLast) return undefined
    const block = { streamId: this.#streamId, endsStream: this.#endsStream, bytes: Buffer.concat(this.#parts) }
    this.#streamId = 0
    this.#parts = []
    this.#partBytes = 0
    return block
  }

  /** Reads the block of a request. */
  readHead(bytes: Buffer, at: number, end: number): CallHead {
    const { version } = this.#decoder.table
    const known = this.#cache.find(bytes, at, end, version)
    if (known !== undefined) return known
    this.#reader.begin()
    this.#decoder.decode(bytes, at, end, this.#reader)
    const head = this.#reader.end()
    if (this.#decoder.table.version === version) this.#cache.keep(bytes, at, end, version, head)
    return head
  }

  /** Reads a block that matters only for the table and for being right: trailers. False if they are malformed. */
  readTrailers(bytes: Buffer, at: number, end: number): boolean {
    this.#trailers.isRight = true
    this.#decoder.decode(bytes, at, end, this.#trailers)
    return this.#trailers.isRight
  }

  #add(bytes: Buffer, at: number, end: number): void {
    this.#partBytes += end - at
    if (this.#partBytes > this.#mostBytes)
      throw new Http2Error(ErrorCode.enhanceYourCalm, `a header block has more than ${this.#mostBytes} bytes`)
    this.#parts.push(Buffer.from(bytes.subarray(at, end)))
  }
}

/** Trailers have no pseudo fields: RFC 9113, section 8.1. */
class TrailerCheck implements FieldSink {
  isRight = true

  field(field: HeaderField): void {
    if (field.isMalformed || field.kind <= FieldKind.lastPseudo) this.isRight = false
  }
}
