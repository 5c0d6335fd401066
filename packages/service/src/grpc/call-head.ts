import type { IncomingHttpHeaders } from 'node:http2'
import { grpcTimeoutMs } from './grpc-timeout.js'

/** What the head of a call says. */
export interface CallHead {
  readonly path: string
  readonly startMs: number
  /** How long the client waits: `Infinity` if it does not say, `NaN` if it says something malformed. */
  readonly timeoutMs: number
  readonly encoding: string | undefined
}

/** Reads the head of a call that begins now. */
export function callHead(headers: IncomingHttpHeaders): CallHead {
  return {
    path: headers[':path'] ?? '',
    startMs: performance.now(),
    timeoutMs: grpcTimeoutMs(textOf(headers['grpc-timeout'])),
    encoding: textOf(headers['grpc-encoding']),
  }
}

function textOf(field: string | string[] | undefined): string | undefined {
  return Array.isArray(field) ? field.join() : field
}
