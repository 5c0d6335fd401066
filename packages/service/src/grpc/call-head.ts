import type { IncomingHttpHeaders } from 'node:http2'

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
    timeoutMs: grpcTimeoutMs(headers['grpc-timeout']),
    encoding: textOf(headers['grpc-encoding']),
  }
}

function textOf(field: string | string[] | undefined): string | undefined {
  return Array.isArray(field) ? field.join() : field
}

/** Milliseconds of each unit of the field `grpc-timeout`. */
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 }

/**
 * Reads `20m` (milliseconds), `5S`, `1H` and so on: at most eight digits and a unit. Returns `Infinity` if there is no such field, and
 * `NaN` if it is malformed.
 */
function grpcTimeoutMs(given: string | string[] | undefined): number {
  const field = textOf(given)
  if (field === undefined) return Infinity
  if (field !== last.field) {
    last.field = field
    last.ms = read(field)
  }
  return last.ms
}

/** Nearly all calls of a client have the same timeout. */
const last = { field: '', ms: Number.NaN }

function read(field: string): number {
  const unitMs = UNIT_MS[field.slice(-1)] ?? Number.NaN
  const digits = field.slice(0, -1)
  return /^\d{1,8}$/.test(digits) ? Number(digits) * unitMs : Number.NaN
}
