import { encodeGrpcMessage } from '../grpc/grpc-error.js'

/** `:status: 200` in the static table. */
const STATUS_200 = Buffer.from([0x88])
/** `content-type` in the static table, for a literal that is remembered and for one that is not. */
const CONTENT_TYPE_REMEMBERED = Buffer.from([0x5f])
const CONTENT_TYPE = Buffer.from([0x0f, 0x10])
const NAME_REMEMBERED = Buffer.from([0x40])
const NAME = Buffer.from([0x00])
/** "The table has no bytes." */
const EMPTY_TABLE = Buffer.from([0x20])

const contentType = text('application/grpc')
const okStatus = Buffer.concat([text('grpc-status'), text('0')])

/** The table of a client that announces none. */
const USUAL_TABLE_BYTES = 4096
const FIRST_DYNAMIC = 62

/**
 * Encodes the header lists of answers for one connection. The lists of a good answer are sent in full once; the client
 * remembers `content-type` and `grpc-status: 0` in its table, and from then on they are three bytes together. Errors are
 * rare and sent in full.
 *
 * A block must be written before the next one is asked for, because it may change the table of the client.
 */
export class ResponseHeaders {
  #isTableInUse = true
  #mustEmptyTable = false
  #remembered = 0
  #contentTypeAt = 0
  #okStatusAt = 0
  #okHead: Buffer | undefined
  #okTrailers: Buffer | undefined

  /**
   * The client has announced a table of this size. If it is smaller than before, the next block must say so (RFC 7541,
   * section 4.2). The block then empties the table, which is not used again.
   */
  limitTable(bytes: number): void {
    if (bytes >= USUAL_TABLE_BYTES || !this.#isTableInUse) return
    this.#mustEmptyTable = true
    this.#isTableInUse = false
    this.#okHead = undefined
    this.#okTrailers = undefined
  }

  /** `:status: 200` and the content type. */
  okHead(): Buffer {
    return this.#okHead ?? this.#block(this.#firstOkHead())
  }

  /** `grpc-status: 0`. */
  okTrailers(): Buffer {
    return this.#okTrailers ?? this.#block(this.#firstOkTrailers())
  }

  /** An answer that has no message: the fields of its head and its trailers in one. */
  errorHead(status: number, message: string): Buffer {
    return this.#block(Buffer.concat([STATUS_200, CONTENT_TYPE, contentType, errorFields(status, message)]))
  }

  errorTrailers(status: number, message: string): Buffer {
    return this.#block(errorFields(status, message))
  }

  /** The head of an answer that is not gRPC, with a text that has so many bytes. */
  plainHead(status: number, bytes: number): Buffer {
    const fields = { ':status': `${status}`, 'content-type': 'text/plain; charset=utf-8', 'content-length': `${bytes}` }
    return this.#block(literals(status === 405 ? { ...fields, allow: 'POST' } : fields))
  }

  #firstOkHead(): Buffer {
    if (!this.#isTableInUse) {
      this.#okHead = Buffer.concat([STATUS_200, CONTENT_TYPE, contentType])
      return this.#okHead
    }
    this.#contentTypeAt = ++this.#remembered
    this.#indexRemembered()
    return Buffer.concat([STATUS_200, CONTENT_TYPE_REMEMBERED, contentType])
  }

  #firstOkTrailers(): Buffer {
    if (!this.#isTableInUse) {
      this.#okTrailers = Buffer.concat([NAME, okStatus])
      return this.#okTrailers
    }
    this.#okStatusAt = ++this.#remembered
    this.#indexRemembered()
    return Buffer.concat([NAME_REMEMBERED, okStatus])
  }

  /** The newest entry of the table has the lowest index. */
  #indexRemembered(): void {
    const index = (at: number) => 0x80 | (FIRST_DYNAMIC + this.#remembered - at)
    if (this.#contentTypeAt > 0) this.#okHead = Buffer.from([...STATUS_200, index(this.#contentTypeAt)])
    if (this.#okStatusAt > 0) this.#okTrailers = Buffer.from([index(this.#okStatusAt)])
  }

  #block(fields: Buffer): Buffer {
    if (!this.#mustEmptyTable) return fields
    this.#mustEmptyTable = false
    return Buffer.concat([EMPTY_TABLE, fields])
  }
}

function errorFields(status: number, message: string): Buffer {
  // A field neither begins nor ends with a space.
  const encoded = encodeGrpcMessage(message).replace(/^ | $/g, '%20')
  return literals({ 'grpc-status': `${status}`, ...(encoded === '' ? {} : { 'grpc-message': encoded }) })
}

function literals(fields: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(Object.entries(fields).flatMap(([name, value]) => [NAME, text(name), text(value)]))
}

/** A string as it is: its length, then its bytes. RFC 7541, sections 5.1 and 5.2. */
function text(string: string): Buffer {
  const bytes = Buffer.from(string, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const length = [127]
  let rest = bytes.length - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push(128 | (rest % 128))
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}
