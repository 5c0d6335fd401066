/** The two charts of a limit, drawn by uPlot: requests as bars, and what is left as a curve. All charts of the lab share a cursor. */
import uPlot from 'uplot'
import { colour } from '../../shell/theme.js'
import type { Run } from '../engine/simulate.js'
import { markTime, TIME_MARKS } from './mark-time.js'

/** Hears where the cursor is, in seconds since the start; `undefined` if it is elsewhere. */
type OnCursor = (seconds: number | undefined) => void

interface PlotPlace {
  readonly element: HTMLElement
  readonly run: Run
  readonly lengthUs: number
  readonly onCursor: OnCursor
}

const HEIGHT = 112
const AXIS_HEIGHT = 30
const GUTTER = 46

/** Draws both charts of a run, each into its element. */
export function limitPlots(
  requests: HTMLElement,
  levels: HTMLElement,
  run: Run,
  lengthUs: number,
  onCursor: OnCursor,
): readonly [uPlot, uPlot] {
  return [
    requestPlot({ element: requests, run, lengthUs, onCursor }),
    // The charts share their cursor: one of them tells where it is.
    levelPlot({ element: levels, run, lengthUs, onCursor: () => {} }),
  ]
}

/** Moves the cursor of all charts to a time. The types of uPlot do not have the third argument, which tells the other charts. */
export function moveCursor(plot: uPlot, seconds: number): void {
  const setCursor: (at: { left: number; top: number }, fires: boolean, tellsOthers: boolean) => void = plot.setCursor
  setCursor({ left: plot.valToPos(seconds, 'x'), top: 10 }, true, true)
}

/** Bars of admitted and denied requests; for a leaky bucket a line of those that leave the queue. */
function requestPlot(place: PlotPlace): uPlot {
  const { bars, limit } = place.run
  const xs = Array.from(bars.admitted, (_, i) => (i * bars.widthUs) / 1e6)
  const all = Array.from(bars.admitted, (admitted, i) => admitted + bars.denied[i])
  const barPaths = uPlot.paths.bars?.({ size: [0.86, 60, 2], align: 1 })
  const filled = (name: string): uPlot.Series => ({
    // Most requests may be denied; they must not outshine the others.
    fill: name === 'denied' ? `${colour(name)}a0` : colour(name),
    width: 0,
    points: { show: false },
    ...(barPaths && { paths: barPaths }),
  })
  const departures: uPlot.Series = {
    stroke: colour('waiting'),
    width: 1.5,
    points: { show: false },
    ...stepped(),
  }
  const isQueue = limit.algorithm === 'leaky-bucket'
  const data: uPlot.AlignedData = [xs, all, [...bars.admitted], ...(isQueue ? [[...bars.departed]] : [])]
  const series = [filled('denied'), filled('admitted'), ...(isQueue ? [departures] : [])]
  return plot(place, data, series, [0, Math.max(1, ...all)], false)
}

/** What is left; for a leaky bucket what is in the queue. */
function levelPlot(place: PlotPlace): uPlot {
  const { curve, limit } = place.run
  const isQueue = limit.algorithm === 'leaky-bucket'
  const most = Math.max(1, 'capacity' in limit ? limit.capacity : 'quota' in limit ? limit.quota : 1)
  const name = isQueue ? 'waiting' : 'accent'
  const line: uPlot.Series = {
    stroke: colour(name),
    fill: colour(isQueue ? 'waiting-soft' : 'accent-soft'),
    width: 1.5,
    points: { show: false },
    // Buckets fill continuously, windows in steps.
    ...('window' in limit ? stepped() : {}),
  }
  const levels = isQueue ? curve.level.map((left) => most - left) : curve.level
  return plot(place, [curve.atUs.map((us) => us / 1e6), levels], [line], [0, most], true)
}

function stepped(): Partial<uPlot.Series> {
  const paths = uPlot.paths.stepped?.({ align: 1 })
  return paths === undefined ? {} : { paths }
}

function plot(
  { element, lengthUs, onCursor }: PlotPlace,
  data: uPlot.AlignedData,
  series: readonly uPlot.Series[],
  [low, high]: readonly [number, number],
  hasTime: boolean,
): uPlot {
  const span = lengthUs / 1e6
  const axis: uPlot.Axis = {
    stroke: colour('ink-faint'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('edge'), width: 1 },
    ticks: { show: false },
  }
  const options: uPlot.Options = {
    width: Math.max(200, element.clientWidth),
    height: HEIGHT + (hasTime ? AXIS_HEIGHT : 0),
    padding: [8, 18, hasTime ? 0 : 6, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false },
      points: { show: hasTime, size: 6 },
      sync: { key: 'lab', scales: ['x', null] },
    },
    scales: {
      x: { time: false, range: (self, from, to) => shownSpan(self, from, to, span) },
      y: { range: [low, high * 1.08] },
    },
    axes: [
      {
        ...axis,
        show: hasTime,
        size: AXIS_HEIGHT,
        gap: 10,
        space: 64,
        incrs: [...TIME_MARKS],
        values: (_, marks) => marks.map((mark) => markTime(mark, span)),
      },
      {
        ...axis,
        size: GUTTER,
        gap: 6,
        space: 30,
        ...(high > 2 ? { incrs: [...WHOLE_MARKS] } : {}),
        values: (_, marks) => marks.map((mark) => markText(mark, high)),
      },
    ],
    series: [{}, ...series],
    hooks: {
      setCursor: [
        (self) => {
          const { left } = self.cursor
          onCursor(left === undefined || left < 0 ? undefined : self.posToVal(left, 'x'))
        },
      ],
    },
  }
  return new uPlot(options, data, element)
}

/** All of the time, unless the person has dragged over a part of it. A double click shows all again. */
function shownSpan({ data }: uPlot, from: number, to: number, span: number): [number, number] {
  const times = data[0]
  const isAll = from <= (times[0] ?? 0) && to >= (times.at(-1) ?? 0)
  return isAll ? [0, span] : [from, to]
}

/** Requests and whole tokens are counted in whole numbers; a bucket of one or two shows its fractions. */
const WHOLE_MARKS: readonly number[] = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((each) => each * 10 ** power),
).flat()

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

function markText(value: number, highest: number): string {
  if (highest >= 10_000) return COMPACT.format(value)
  return Number.isInteger(value) ? value.toLocaleString('en') : String(Number(value.toFixed(2)))
}
