/** Times as a person reads them, in the time zone of the browser. */

const DAY_FORMAT = { day: 'numeric', month: 'short' } as const
const TIME = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const DAY = new Intl.DateTimeFormat('en-GB', DAY_FORMAT)
const YEAR = new Intl.DateTimeFormat('en-GB', { ...DAY_FORMAT, year: 'numeric' })

/** `14:02:33`, and of another day `19 Nov, 14:02:33` or `19 Nov 2027, 14:02:33`. */
export function timeText(atMs: number, nowMs: number = Date.now()): string {
  const at = new Date(atMs)
  const now = new Date(nowMs)
  if (YEAR.format(at) === YEAR.format(now)) return TIME.format(at)
  // The year is said where it is another one.
  const day = at.getFullYear() === now.getFullYear() ? DAY : YEAR
  return `${day.format(at)}, ${TIME.format(at)}`
}

/** For a sentence: `until 14:02:33`, or `until it is removed` of what has no end. */
export function untilText(untilMs: number | undefined): string {
  return untilMs === undefined ? 'until it is removed' : `until ${timeText(untilMs)}`
}
