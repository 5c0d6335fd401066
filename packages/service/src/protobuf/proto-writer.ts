const FIRST_BYTES = 1_024
/** A length above this needs more than one byte. */
const SHORT = 0x7f
const MOST_UINT32 = 2 ** 32 - 1

/**
 * Writes the fields of a protobuf message. It keeps one buffer for all messages, so a message costs one copy of its bytes.
 * Tags are whole: `number << 3 | type`. A field with its default value is the caller's to leave out.
 */
export class ProtoWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES)
  #at = 0

  begin(): void {
    this.#at = 0
  }

  /** A copy of what was written. */
  end(): Uint8Array {
    const message = Buffer.allocUnsafe(this.#at)
    this.#bytes.copy(message, 0, 0, this.#at)
    return message
  }

  /** A whole number from 0. One beyond 32 bits is written as the largest that has them. */
  uint32(tag: number, value: number): void {
    this.#room(15)
    this.#varint(tag)
    this.#varint(Math.min(value, MOST_UINT32))
  }

  /** A whole number from 0 to 2^53 − 1. */
  uint64(tag: number, value: number): void {
    this.#room(20)
    this.#varint(tag)
    this.#varint(value)
  }

  bool(tag: number, value: boolean): void {
    this.#room(6)
    this.#varint(tag)
    this.#varint(value ? 1 : 0)
  }

  double(tag: number, value: number): void {
    this.#room(13)
    this.#varint(tag)
    this.#at = this.#bytes.writeDoubleLE(value, this.#at)
  }

  text(tag: number, value: string): void {
    // A character of UTF-16 has at most three bytes of UTF-8.
    this.#room(10 + value.length * 3)
    this.#varint(tag)
    const start = this.#at
    this.#at += 1
    const length = this.#bytes.write(value, this.#at)
    this.#at += length
    this.#setLength(start, length)
  }

  bytes(tag: number, value: Uint8Array): void {
    this.#room(10 + value.length)
    this.#varint(tag)
    this.#varint(value.length)
    this.#bytes.set(value, this.#at)
    this.#at += value.length
  }

  /** Begins a message inside this one. Call `close` with the result when its fields are written. */
  open(tag: number): number {
    this.#room(6)
    this.#varint(tag)
    return this.#at++
  }

  close(start: number): void {
    this.#room(5)
    this.#setLength(start, this.#at - start - 1)
  }

  /** Writes a length into the one byte that was left for it. A longer one moves what follows. */
  #setLength(start: number, length: number): void {
    if (length <= SHORT) {
      this.#bytes[start] = length
      return
    }
    const more = bytesOf(length) - 1
    this.#bytes.copyWithin(start + 1 + more, start + 1, this.#at)
    this.#at = start
    this.#varint(length)
    this.#at += length
  }

  #varint(value: number): void {
    const bytes = this.#bytes
    let rest = value
    while (rest > SHORT) {
      bytes[this.#at++] = (rest % 128) | 0x80
      rest = Math.floor(rest / 128)
    }
    bytes[this.#at++] = rest
  }

  #room(count: number): void {
    if (this.#at + count <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + count))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}

function bytesOf(value: number): number {
  let count = 1
  for (let rest = value; rest > SHORT; rest = Math.floor(rest / 128)) count++
  return count
}
