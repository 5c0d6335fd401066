import { GRPC_STATUS, GrpcError } from '../grpc/grpc-error.js'

/** Groups inside groups, which no message of ours has, are skipped down to this depth. */
const MOST_DEPTH = 32

/** How a field is written: the last three bits of its tag. */
const WIRE = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const NONE = Buffer.alloc(0)

/**
 * Reads the fields of a protobuf message, one after the other. It allocates nothing but texts, so one reader serves all messages
 * of a module. It knows no schema: the caller compares whole tags, so a field of another type than it should be is one more
 * unknown field. Bytes that are no message throw INVALID_ARGUMENT.
 *
 * @example
 * ```ts no-check
 * reader.begin(message)
 * for (let tag = reader.nextTag(); tag !== 0; tag = reader.nextTag()) {
 *   if (tag === 0x0a) name = reader.text()
 *   else reader.skip(tag)
 * }
 * ```
 */
export class ProtoReader {
  #bytes: Buffer = NONE
  #at = 0
  #end = 0

  begin(message: Uint8Array): void {
    this.#bytes = Buffer.isBuffer(message)
      ? message
      : Buffer.from(message.buffer, message.byteOffset, message.byteLength)
    this.#at = 0
    this.#end = message.length
  }

  /** Field number and wire type of the next field: `number << 3 | type`. 0 at the end of the message. */
  nextTag(): number {
    if (this.#at === this.#end) return 0
    const tag = this.uint32()
    // A field has the number 1 at least.
    if (tag < 8) throw malformed('a field has no number')
    return tag
  }

  /** A number of at most 32 bits. Higher bits are dropped, as the protocol says. */
  uint32(): number {
    const bytes = this.#bytes
    const first = this.#byte()
    if (first < 0x80) return first
    let value = first & 0x7f
    for (let shift = 7; shift < 70; shift += 7) {
      if (this.#at === this.#end) break
      const byte = bytes[this.#at++]
      if (shift < 32) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw malformed('a number has no end')
  }

  /** A number of 64 bits. One beyond 2^53 − 1 becomes 2^53 − 1. */
  uint64(): number {
    let value = 0
    let factor = 1
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte()
      // The tenth byte has room for one bit.
      value += (i === 9 ? byte & 1 : byte & 0x7f) * factor
      if (byte < 0x80) return Math.min(value, Number.MAX_SAFE_INTEGER)
      factor *= 128
    }
    throw malformed('a number has no end')
  }

  bool(): boolean {
    return this.uint64() !== 0
  }

  text(): string {
    return this.#text(decoded)
  }

  /** A text that another program copied from bytes of a client: what is not UTF-8 becomes U+FFFD. */
  clientText(): string {
    return this.#text(mended)
  }

  /** Goes into a message inside this one. Call `leave` with the result when its fields are read. */
  enter(): number {
    const outer = this.#end
    this.#end = this.#endOfBytes()
    return outer
  }

  leave(outer: number): void {
    this.#end = outer
  }

  /** Passes over a field whose tag was read. */
  skip(tag: number): void {
    this.#skip(tag, 0)
  }

  #text(decode: (bytes: Buffer) => string): string {
    const to = this.#endOfBytes()
    const bytes = this.#bytes
    const from = this.#at
    this.#at = to
    for (let i = from; i < to; i++) if (bytes[i] >= 0x80) return decode(bytes.subarray(from, to))
    return bytes.toString('latin1', from, to)
  }

  #byte(): number {
    if (this.#at === this.#end) throw malformed('it ends within a field')
    return this.#bytes[this.#at++]
  }

  #endOfBytes(): number {
    const length = this.uint32()
    const end = this.#at + length
    if (end > this.#end) throw malformed('a field is longer than the message')
    return end
  }

  #skip(tag: number, depth: number): void {
    const type = tag & 7
    if (type === WIRE.varint) this.uint64()
    else if (type === WIRE.bytes) this.#at = this.#endOfBytes()
    else if (type === WIRE.fixed64) this.#pass(8)
    else if (type === WIRE.fixed32) this.#pass(4)
    else if (type === WIRE.groupStart) this.#skipGroup(tag, depth + 1)
    else throw malformed('a field has no type')
  }

  #pass(count: number): void {
    if (this.#end - this.#at < count) throw malformed('it ends within a field')
    this.#at += count
  }

  #skipGroup(start: number, depth: number): void {
    if (depth > MOST_DEPTH) throw malformed('groups are nested too deep')
    for (;;) {
      const tag = this.nextTag()
      if (tag === 0) throw malformed('a group has no end')
      if ((tag & 7) !== WIRE.groupEnd) this.#skip(tag, depth)
      else if (tag >>> 3 === start >>> 3) return
      else throw malformed('a group has the end of another')
    }
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes)
  } catch {
    throw malformed('a text is not UTF-8')
  }
}

function mended(bytes: Buffer): string {
  return bytes.toString('utf8')
}

function malformed(why: string): GrpcError {
  return new GrpcError(GRPC_STATUS.invalidArgument, `the message cannot be read: ${why}`)
}
