/** Units that were admitted at a time, by the store's clock. */
export interface Admission {
  readonly atMs: number
  readonly units: number
}

/**
 * The most units that were admitted in any interval, beyond what the refill brings in it. The law: never more than the
 * capacity. Admissions are in order of time. One pass over them looks at all intervals: at each admission, the interval that
 * ends there and is worst begins where units less refill was least.
 */
export function worstBurst(admissions: readonly Admission[], unitsPerSecond: number): number {
  const startUs = Math.round((admissions[0]?.atMs ?? 0) * 1_000)
  let units = 0
  let least = Infinity
  let worst = 0
  for (const admission of admissions) {
    // Whole microseconds and millionths of units: nothing is rounded.
    const refilled = unitsPerSecond * (Math.round(admission.atMs * 1_000) - startUs)
    least = Math.min(least, units - refilled)
    units += admission.units * 1e6
    worst = Math.max(worst, units - refilled - least)
  }
  return worst / 1e6
}
