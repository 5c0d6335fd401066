/** No timer is quicker than this. */
const LEAST_MS = 1
/** From here on nobody is meant to wait, and how it is counted should not matter. */
const AMPLE = 1e6

/** The rate as so many in so many milliseconds, for those who count that way: as few at a time as timers allow. */
export function interval(perSecond) {
  if (perSecond >= AMPLE) return { many: perSecond, ms: 1_000 }
  const perLeast = (perSecond * LEAST_MS) / 1_000
  return perLeast <= 1 ? { many: 1, ms: LEAST_MS / perLeast } : { many: perLeast, ms: LEAST_MS }
}
