import { UsageError } from '../cli/command.js'
import type { OptionValues } from './option-values.js'

/** The transports of gRPC: our own HTTP/2 server, or that of Node.js. */
export const HTTP2_SERVERS = ['own', 'node'] as const

/** Where and how the service answers over gRPC. */
export interface GrpcOptions {
  readonly host: string
  readonly port: number
  /** Files of PEM texts. Without a certificate the door speaks HTTP/2 over plain TCP. */
  readonly cert: string | undefined
  readonly key: string | undefined
  /** Clients must have a certificate of this authority. */
  readonly clientCa: string | undefined
  readonly http2: (typeof HTTP2_SERVERS)[number]
}

/** Reads `--grpc` and the certificates beside it. `readAddress` throws for an address that is none. */
export function readGrpc(
  given: OptionValues,
  readAddress: (text: string, source: string) => { readonly host: string; readonly port: number },
): GrpcOptions | undefined {
  const text = given.text('grpc')
  const http2 = given.oneOf('http2', HTTP2_SERVERS) ?? 'own'
  const [cert, key, clientCa] = ['grpc-cert', 'grpc-key', 'grpc-client-ca'].map((name) => given.text(name))
  const needs = (name: string, other: string) =>
    new UsageError(`${given.sourceOf(name)} needs ${other}, which is not given: add --${other.replace(/^--/, '')}`)
  if (text === undefined) {
    for (const name of ['grpc-cert', 'grpc-key', 'grpc-client-ca', 'http2'])
      if (given.text(name) !== undefined) throw needs(name, '--grpc')
    return undefined
  }
  if (cert !== undefined && key === undefined) throw needs('grpc-cert', '--grpc-key')
  if (key !== undefined && cert === undefined) throw needs('grpc-key', '--grpc-cert')
  if (clientCa !== undefined && cert === undefined) throw needs('grpc-client-ca', '--grpc-cert')
  return { ...readAddress(text, given.sourceOf('grpc')), cert, key, clientCa, http2 }
}
