/** Milliseconds of each unit of the field `grpc-timeout`. */
const UNIT_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 }

/**
 * Reads `20m` (milliseconds), `5S`, `1H` and so on: at most eight digits and a unit. Returns `Infinity` if there is no such field, and
 * `NaN` if it is malformed.
 */
export function grpcTimeoutMs(field: string | undefined): number {
  if (field === undefined) return Infinity
  const unitMs = UNIT_MS[field.slice(-1)] ?? Number.NaN
  const digits = field.slice(0, -1)
  return /^\d{1,8}$/.test(digits) ? Number(digits) * unitMs : Number.NaN
}
