/** A unit was admitted at some time between these two, in microseconds: its request was sent, and its answer came. */
export interface Span {
  readonly sentUs: number
  readonly answeredUs: number
}

/**
 * `worstBurst` for admissions that are known only as spans: the most spans that lie wholly inside any interval, beyond what
 * the refill brings in it. A fleet that keeps the law never has more than its capacity.
 *
 * Ends of intervals are answers, in order; beginnings are the leaves of a tree, in order of time. Each leaf has the spans that
 * begin there and have ended. An inner place has the best interval among its leaves, so each end costs O(log n).
 */
export function worstBurstOfSpans(spans: readonly Span[], unitsPerSecond: number): number {
  const perUs = unitsPerSecond / 1e6
  const bySent = [...spans].sort((one, other) => one.sentUs - other.sentUs)
  const startUs = bySent[0]?.sentUs ?? 0
  const leaves = 2 ** Math.ceil(Math.log2(Math.max(1, spans.length)))
  const units = new Float64Array(2 * leaves)
  const best = new Float64Array(2 * leaves).fill(-Infinity)
  const join = (place: number) => {
    units[place] = units[2 * place] + units[2 * place + 1]
    best[place] = Math.max(best[2 * place] + units[2 * place + 1], best[2 * place + 1])
  }
  const ends = bySent.map((span, leaf) => ({ span, place: leaves + leaf }))
  ends.sort((one, other) => one.span.answeredUs - other.span.answeredUs)
  let worst = 0
  for (const { span, place } of ends) {
    units[place] = 1
    best[place] = 1 + perUs * (span.sentUs - startUs)
    for (let above = place >> 1; above > 0; above >>= 1) join(above)
    worst = Math.max(worst, best[1] - perUs * (span.answeredUs - startUs))
  }
  return worst
}
