import type { GrpcError } from './grpc-error.js'

/** What a transport answers, by path: `/package.Service/Method`. A path that is absent is answered with UNIMPLEMENTED. */
export type GrpcMethods = ReadonlyMap<string, GrpcMethod>

export type GrpcMethod = UnaryMethod | StreamMethod

/** One message comes, one goes. */
export interface UnaryMethod {
  readonly kind: 'unary'
  /**
   * Answers a message, now or later. Throw a `GrpcError`, or reject with one, to answer with an error. The bytes of `message` are valid until this returns.
   */
  answer(message: Uint8Array): Uint8Array | Promise<Uint8Array>
}

/** Messages come and go until one side ends the call. */
export interface StreamMethod {
  readonly kind: 'stream'
  /** A client begins a call. */
  open(call: StreamCall): StreamHandler
}

/** The side of a streaming call that sends. Calls after the end are ignored. */
export interface StreamCall {
  send(message: Uint8Array): void
  /** Ends the call: with OK, or with an error. */
  end(error?: GrpcError): void
}

/** The side of a streaming call that is told what comes. */
export interface StreamHandler {
  message(message: Uint8Array): void
  /** The client sends no more messages. */
  clientEnded(): void
  /** The call is over: it was cancelled, its deadline passed or its connection was lost. */
  closed(): void
}
