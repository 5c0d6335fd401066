/** The shortest timer. */
const LEAST_MS = 1
/** At this rate and above, no job is meant to wait. */
const AMPLE = 1e6

/** The rate as `many` jobs in `ms` milliseconds, with as few jobs at a time as timers allow. */
export function interval(perSecond) {
  if (perSecond >= AMPLE) return { many: perSecond, ms: 1_000 }
  const perLeast = (perSecond * LEAST_MS) / 1_000
  return perLeast <= 1 ? { many: 1, ms: LEAST_MS / perLeast } : { many: perLeast, ms: LEAST_MS }
}
