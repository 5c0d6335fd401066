/**
 * What a server for gRPC has to know of a field's name. The numbers are small so that a `switch` over them is a jump. All
 * kinds up to `lastPseudo` are pseudo fields.
 */
export const FieldKind = {
  method: 0,
  path: 1,
  scheme: 2,
  authority: 3,
  /** A pseudo field that a request must not have. */
  otherPseudo: 4,
  lastPseudo: 4,
  contentType: 5,
  contentLength: 6,
  te: 7,
  grpcTimeout: 8,
  grpcEncoding: 9,
  /** A field that belongs to HTTP/1: RFC 9113, section 8.2.2. */
  connectionSpecific: 10,
  other: 11,
} as const

const kinds = new Map<string, number>([
  [':method', FieldKind.method],
  [':path', FieldKind.path],
  [':scheme', FieldKind.scheme],
  [':authority', FieldKind.authority],
  ['content-type', FieldKind.contentType],
  ['content-length', FieldKind.contentLength],
  ['te', FieldKind.te],
  ['grpc-timeout', FieldKind.grpcTimeout],
  ['grpc-encoding', FieldKind.grpcEncoding],
  ['connection', FieldKind.connectionSpecific],
  ['keep-alive', FieldKind.connectionSpecific],
  ['proxy-connection', FieldKind.connectionSpecific],
  ['transfer-encoding', FieldKind.connectionSpecific],
  ['upgrade', FieldKind.connectionSpecific],
])

/** The characters of a name: a token in lower case. A colon may come first, for a pseudo field. */
const rightName = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/
/** A value has no NUL, CR or LF, and neither begins nor ends with a space or a tab. */
const wrongValue = /[\0\r\n]|^[ \t]|[ \t]$/

/** What HPACK adds to the bytes of an entry: RFC 7541, section 4.1. */
const ENTRY_BYTES = 32

/**
 * A field of a header list. It is read once, when it comes as a literal; a table then keeps what was found. Names and values
 * are strings with one character a byte.
 */
export class HeaderField {
  readonly name: string
  readonly value: string
  readonly kind: number
  /** What the field counts in a table and in a header list. */
  readonly bytes: number
  /** A request with a field that is malformed is malformed: RFC 9113, section 8.2.1. */
  readonly isMalformed: boolean
  readonly #isNameRight: boolean

  /** `of` is another field with the same name, if there is one. */
  constructor(name: string, value: string, of?: HeaderField) {
    this.name = name
    this.value = value
    this.kind = of?.kind ?? kindOf(name)
    this.bytes = name.length + value.length + ENTRY_BYTES
    this.#isNameRight = of === undefined ? rightName.test(name) : of.#isNameRight
    this.isMalformed = !this.#isNameRight || wrongValue.test(value)
  }
}

function kindOf(name: string): number {
  return kinds.get(name) ?? (name.startsWith(':') ? FieldKind.otherPseudo : FieldKind.other)
}
