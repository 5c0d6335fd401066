import type { SecureContextOptions, TLSSocket } from 'node:tls'
import type { GrpcMethods } from './grpc-method.js'

/** Certificates of the server, and of the authority whose clients it admits: PEM texts. */
export interface GrpcTls extends Pick<SecureContextOptions, 'cert' | 'key'> {
  /** Clients must show a certificate that this authority signed. */
  readonly clientCa?: string | Buffer
}

export interface GrpcServerOptions {
  readonly methods: GrpcMethods
  /** Without it the server speaks HTTP/2 over plain TCP (h2c with prior knowledge). */
  readonly tls?: GrpcTls
  /** Called with an error that is the server's own fault. The client is answered INTERNAL, without its text. */
  readonly fault?: (error: unknown) => void
  /** Called when a client is turned away because TLS with it fails. */
  readonly tlsFailed?: (error: Error, socket: TLSSocket) => void
  /** Called when a call is answered: the path, the status and the milliseconds that it took. */
  readonly answered?: (path: string, status: number, ms: number) => void
}

/** A server for gRPC calls, whatever transport it is made of. */
export interface GrpcServer {
  /** Resolves to the port. Rejects if it cannot listen. */
  listen(host: string, port: number, reusePort?: boolean): Promise<number>
  /** Connections that are open. */
  readonly connections: number
  /** Stops accepting, tells clients so (GOAWAY), waits for calls in flight at most `deadlineMs`, and cuts what is left. */
  close(deadlineMs: number): Promise<void>
}
