import type { FrameRing, LevelCount } from './frame-ring.js'
import type { PageHistory } from './page-history.js'

/** A span of time in epoch milliseconds. */
export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

/** Columns of values over time, as uPlot wants them. A gap is a row of nulls. */
export interface TimeSeries {
  /** Epoch seconds. */
  readonly times: readonly number[]
  readonly columns: readonly (readonly (number | null)[])[]
}

/** A value of a row of a ring. */
type Pick = (ring: FrameRing, row: number) => number | null

const LONGEST_BY_SECONDS_MS = 5 * 60_000 + 1_000

/** Allowed, denied and degraded per second. Degraded decisions are among the others. */
export function decisionSeries(history: PageHistory, range: TimeRange): TimeSeries {
  return seriesOf(history, range, [rate('allowed'), rate('denied'), rate('degraded')])
}

/** The latencies p50 and p99 in milliseconds. Without decisions there is none. */
export function latencySeries(history: PageHistory, range: TimeRange): TimeSeries {
  const latency =
    (column: 'p50Ms' | 'p99Ms'): Pick =>
    (ring, row) =>
      ring.total(row, 'allowed') + ring.total(row, 'denied') === 0 ? null : ring.total(row, column)
  return seriesOf(history, range, [latency('p50Ms'), latency('p99Ms')])
}

/** Allowed, denied and degraded per second of one level. Denials of a level in shadow are those that it would make. */
export function levelSeries(history: PageHistory, range: TimeRange, level: number): TimeSeries {
  const denied = history.levels.levels[level]?.shadow ? 'deniedInShadow' : 'denied'
  return seriesOf(history, range, [
    levelRate(level, 'admitted'),
    levelRate(level, denied),
    levelRate(level, 'degraded'),
  ])
}

/** The sum of some columns row by row, for stacked areas: a gap stays a gap. */
export function sumOf(columns: TimeSeries['columns']): (number | null)[] {
  return columns[0].map((_, row) => {
    const values = columns.map((column) => column[row])
    return values.some((value) => value === null) ? null : values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
  })
}

/** Seconds if they are fine enough and reach far enough back, otherwise spans of ten. */
export function ringFor({ seconds, tens }: PageHistory, range: TimeRange): FrameRing {
  if (range.toMs - range.fromMs > LONGEST_BY_SECONDS_MS) return tens
  const firstSecond = startOf(seconds, 0)
  const firstTen = startOf(tens, 0)
  const tensKnowMore = firstTen < firstSecond - 10_000 && range.fromMs < firstSecond - 10_000
  return tensKnowMore ? tens : seconds
}

function seriesOf(history: PageHistory, range: TimeRange, picks: readonly Pick[]): TimeSeries {
  const ring = ringFor(history, range)
  const times: number[] = []
  const columns = picks.map((): (number | null)[] => [])
  let beforeMs = Number.POSITIVE_INFINITY
  for (let row = firstRow(ring, range.fromMs); row < ring.size; row++) {
    const atMs = ring.total(row, 'atMs')
    const startMs = startOf(ring, row)
    const spanMs = ring.total(row, 'elapsedMs')
    // Frames are missing: the line must not go over them.
    if (startMs - beforeMs > 1.5 * spanMs) {
      times.push(startMs / 1_000)
      for (const column of columns) column.push(null)
    }
    times.push(atMs / 1_000)
    for (const [at, pick] of picks.entries()) columns[at].push(pick(ring, row))
    beforeMs = atMs
    if (atMs > range.toMs) break
  }
  return { times, columns }
}

/** One row before the range, so that lines begin at its edge. */
function firstRow(ring: FrameRing, fromMs: number): number {
  let row = 0
  while (row < ring.size && ring.total(row, 'atMs') < fromMs) row++
  return Math.max(0, row - 1)
}

function startOf(ring: FrameRing, row: number): number {
  return ring.size === 0 ? Number.POSITIVE_INFINITY : ring.total(row, 'atMs') - ring.total(row, 'elapsedMs')
}

function rate(column: 'allowed' | 'denied' | 'degraded'): Pick {
  return (ring, row) => perSecond(ring.total(row, column), ring.total(row, 'elapsedMs'))
}

function levelRate(level: number, count: LevelCount): Pick {
  return (ring, row) =>
    ring.hasCounts(row) ? perSecond(ring.count(row, level, count), ring.total(row, 'elapsedMs')) : null
}

/** A count in a span as a rate. An empty span has none. */
export function perSecond(count: number, elapsedMs: number): number {
  return elapsedMs > 0 ? (count * 1_000) / elapsedMs : 0
}
