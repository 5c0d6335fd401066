import type { GrpcServerOptions } from '../grpc/grpc-server.js'
import type { Bounds } from './bounds.js'
import type { PartialBytes } from './message-reader.js'

/** What the connections of a server share. */
export interface CallHost {
  readonly methods: GrpcServerOptions['methods']
  readonly bounds: Bounds
  /** What all calls hold of messages of which a part has come. */
  readonly partial: PartialBytes
  /** The server has made an error. */
  fault(error: unknown): void
  /** A call has ended. */
  readonly answered: GrpcServerOptions['answered']
}
