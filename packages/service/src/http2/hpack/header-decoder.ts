import { ErrorCode, Http2Error } from '../http2-error.js'
import { decodeHuffman, mostDecodedBytes } from './decode-huffman.js'
import { DynamicTable } from './dynamic-table.js'
import { HeaderField } from './header-field.js'
import { STATIC_FIELDS, staticTable } from './static-table.js'

/** Takes the fields of a header block, in their order. */
export interface FieldSink {
  field(field: HeaderField): void
}

/** The largest number that a block may say. No index, length or size that is right comes near it. */
const MOST_NUMBER = 2 ** 24

let scratch = Buffer.allocUnsafeSlow(1024)

/**
 * Decodes the header blocks of one connection: RFC 7541. Every block must be decoded, in the order in which the blocks
 * came, because each may change the table that the next one refers to. A block that is wrong throws COMPRESSION_ERROR.
 */
export class HeaderDecoder {
  readonly table: DynamicTable
  #bytes: Buffer = scratch
  #at = 0
  #end = 0

  /** `tableBytes` is the SETTINGS_HEADER_TABLE_SIZE that the peer was told. */
  constructor(tableBytes: number) {
    this.table = new DynamicTable(tableBytes)
  }

  decode(bytes: Buffer, at: number, end: number, sink: FieldSink): void {
    this.#bytes = bytes
    this.#at = at
    this.#end = end
    this.#resizeTable()
    while (this.#at < end) {
      const first = bytes[this.#at] as number
      if (first & 0x80) sink.field(this.#lookUp(this.#number(0x7f)))
      else if (first & 0x40) {
        const field = this.#literal(0x3f)
        this.table.add(field)
        sink.field(field)
      } else if (first & 0x20) throw wrong('the size of the table changes inside a header block')
      else sink.field(this.#literal(0x0f))
    }
    this.#bytes = scratch
  }

  /** A block may begin with new sizes of the table, and may have them nowhere else. */
  #resizeTable(): void {
    while (this.#at < this.#end && ((this.#bytes[this.#at] as number) & 0xe0) === 0x20) {
      const bytes = this.#number(0x1f)
      if (bytes > this.table.mostBytes)
        throw wrong(`a table of ${bytes} bytes, and at most ${this.table.mostBytes} are allowed`)
      this.table.resize(bytes)
    }
  }

  #lookUp(index: number): HeaderField {
    const field = index > STATIC_FIELDS ? this.table.at(index - STATIC_FIELDS - 1) : staticTable[index - 1]
    if (field === undefined) throw wrong(`no table has an entry ${index}`)
    return field
  }

  #literal(mask: number): HeaderField {
    const index = this.#number(mask)
    if (index === 0) {
      const name = this.#string()
      return new HeaderField(name, this.#string())
    }
    const named = this.#lookUp(index)
    return new HeaderField(named.name, this.#string(), named)
  }

  /** Section 5.1: a number in the low bits of a byte, and if they are all ones, in the bytes that follow. */
  #number(mask: number): number {
    let number = (this.#bytes[this.#at++] as number) & mask
    if (number < mask) return number
    for (let factor = 1; this.#at < this.#end; factor *= 128) {
      const byte = this.#bytes[this.#at++] as number
      number += (byte & 0x7f) * factor
      if (number > MOST_NUMBER || factor > MOST_NUMBER) throw wrong('a number is too large')
      if (byte < 0x80) return number
    }
    throw wrong('the block ends inside a number')
  }

  /** Section 5.2: a string, coded or as it is. */
  #string(): string {
    if (this.#at >= this.#end) throw wrong('the block ends before a string')
    const isCoded = ((this.#bytes[this.#at] as number) & 0x80) !== 0
    const length = this.#number(0x7f)
    const from = this.#at
    const to = from + length
    if (to > this.#end) throw wrong('the block ends inside a string')
    this.#at = to
    if (!isCoded) return this.#bytes.toString('latin1', from, to)
    const most = mostDecodedBytes(length)
    if (most > scratch.length) scratch = Buffer.allocUnsafeSlow(2 * most)
    return scratch.toString('latin1', 0, decodeHuffman(this.#bytes, from, to, scratch))
  }
}

function wrong(what: string): Http2Error {
  return new Http2Error(ErrorCode.compressionError, what)
}
