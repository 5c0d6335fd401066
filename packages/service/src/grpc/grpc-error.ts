/** The status codes of gRPC that Sluice answers with. */
export const GRPC_STATUS = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
} as const

/** A field that is longer may exceed what a client takes for all fields. */
const MOST_CHARACTERS = 1_024

/** The answer to a call that fails: `grpc-status` and `grpc-message`. */
export class GrpcError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.name = 'GrpcError'
    this.code = code
  }
}

/** The client does not wait any more. */
export function deadlineExceeded(): GrpcError {
  return new GrpcError(GRPC_STATUS.deadlineExceeded, 'the deadline of the call has passed')
}

/**
 * Percent-encodes a text for `grpc-message`: every byte of UTF-8 but visible ASCII, space and no percent sign. A long text is cut.
 */
export function encodeGrpcMessage(text: string): string {
  const short = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS - 1)}…` : text
  return short.replace(/[^ -$&-~]+/g, (part) => [...Buffer.from(part)].map((byte) => `%${hex(byte)}`).join(''))
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0')
}
