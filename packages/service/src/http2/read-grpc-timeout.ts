/** The units of `grpc-timeout` in milliseconds. */
const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
}

const form = /^(\d{1,8})([HMSmun])$/

/**
 * Reads the field `grpc-timeout`: at most eight digits and a unit. `20m` is 20 milliseconds, `1M` is a minute. Returns milliseconds, or
 * undefined for a value that is wrong.
 */
export function readGrpcTimeout(value: string): number | undefined {
  const [, digits, unit] = form.exec(value) ?? []
  if (digits === undefined || unit === undefined) return undefined
  return Number(digits) * (unitMs[unit] as number)
}
