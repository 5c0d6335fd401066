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
