import type { TimeRange, TimeSeries } from './time-series.js'

/** Values above this share of all may be cut off. */
const SHARE = 0.98
/** … if they are so many times larger than all others: smaller ones flatten nothing. */
const TIMES = 3

/** What a chart shows of its values, if a few of them would flatten all others. */
export interface ChartTop {
  /** The chart ends here. */
  readonly value: number
  /** The largest value, which is above. */
  readonly largest: number
  /** When it was, in epoch seconds. */
  readonly atS: number
}

/**
 * Where a chart of this part of the time ends, if it is not to have room for its largest values: one slow second, such as the first
 * one of a service, would flatten an hour. `undefined` if it has room for all.
 */
export function chartTop({ times, columns }: TimeSeries, { fromMs, toMs }: TimeRange): ChartTop | undefined {
  const rows = times.map((_, row) => row).filter((row) => times[row] * 1_000 >= fromMs && times[row] * 1_000 <= toMs)
  const largestOf = (row: number) => Math.max(...columns.map((column) => column[row] ?? 0))
  const known = rows.filter((row) => columns.some((column) => column[row] !== null))
  const sorted = known.toSorted((a, b) => largestOf(a) - largestOf(b))
  const last = sorted.length - 1
  if (last < 1) return undefined
  const usual = largestOf(sorted[Math.min(last - 1, Math.floor(last * SHARE))])
  const largest = largestOf(sorted[last])
  return usual > 0 && largest > TIMES * usual ? { value: usual * 1.5, largest, atS: times[sorted[last]] } : undefined
}
