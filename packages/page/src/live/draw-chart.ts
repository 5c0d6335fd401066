import uPlot from 'uplot'
import { colour } from '../shell/theme.js'
import { chartTop } from './chart-top.js'
import { sumOf, type TimeRange, type TimeSeries } from './time-series.js'

/** A line of a chart. Its look tells it apart without its colour. */
export interface ChartLine {
  readonly label: string
  /** A colour of the style sheet. */
  readonly colour: string
  readonly look: 'area' | 'hatched' | 'dotted' | 'line' | 'dashed'
}

/** What a chart draws. */
export interface ChartPlan {
  readonly lines: readonly ChartLine[]
  /** The second line stands on the first one: together they are the whole. */
  readonly isStacked: boolean
  /** A few values may be above the chart, if they would flatten all others. */
  readonly mayCut?: boolean
  readonly text: (value: number) => string
  readonly axisText: (value: number) => string
}

interface ChartHandlers {
  /** The row of the data under the pointer. */
  readonly onCursor: (row: number | undefined) => void
  readonly onZoom: (range: TimeRange | undefined) => void
}

/** The largest value is a little below the edge. */
const ROOM = 1.12

/** Makes the chart of a plan inside an element. The caller gives it data and destroys it. */
export function drawChart(place: HTMLElement, plan: ChartPlan, { onCursor, onZoom }: ChartHandlers): uPlot {
  const ratio = window.devicePixelRatio
  const series = plan.lines.map((line) => lineOptions(line, ratio))
  const options: uPlot.Options = {
    ...sizeOf(place),
    padding: [8, 28, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: 6 },
      points: { size: 7 },
      bind: {
        dblclick: () => () => {
          onZoom(undefined)
          return null
        },
      },
      // The other charts show the values of the same time.
      sync: {
        key: 'live',
        setSeries: false,
        filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' },
      },
    },
    scales: { x: { time: true }, y: { range: (_plot, _low, high) => [0, high > 0 ? high * ROOM : 1] } },
    axes: axesOf(plan),
    // The sum is drawn first, and the first line over it.
    series: [{}, ...(plan.isStacked ? [series[1], series[0], ...series.slice(2)] : series)],
    bands: plan.isStacked ? [{ series: [1, 2], fill: series[1].fill as NonNullable<uPlot.Band['fill']> }] : [],
    hooks: {
      setCursor: [(plot) => onCursor(plot.cursor.idx ?? undefined)],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select
          if (width < 6) return
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          onZoom({ fromMs: plot.posToVal(left, 'x') * 1_000, toMs: plot.posToVal(left + width, 'x') * 1_000 })
        },
      ],
    },
  }
  return new uPlot(options, [[], ...plan.lines.map(() => [])], place)
}

/** Is there anything to draw? */
export function hasValue(columns: readonly ArrayLike<number | null | undefined>[]): boolean {
  return columns.some((column) => Array.prototype.some.call(column, (value) => value !== null && value !== undefined))
}

/** Puts data and the shown range into a chart. */
export function showSeries(plot: uPlot, plan: ChartPlan, data: TimeSeries, range: TimeRange): void {
  const { times, columns } = data
  const top = plan.mayCut ? chartTop(data, range) : undefined
  const [first, ...rest] = plan.isStacked
    ? [sumOf(columns.slice(0, 2)), columns[0], ...columns.slice(2).map(withoutZeros)]
    : columns
  plot.batch(() => {
    plot.setData([times, first, ...rest] as unknown as uPlot.AlignedData, false)
    plot.setScale('x', { min: range.fromMs / 1_000, max: range.toMs / 1_000 })
    if (top !== undefined) plot.setScale('y', { min: 0, max: top.value * ROOM })
  })
}

/** A line at zero says nothing, and would lie over the axis. Zeros beside other values stay: they are the edges of an area. */
function withoutZeros(column: readonly (number | null)[]): (number | null)[] {
  return column.map((value, row) => (value || column[row - 1] || column[row + 1] ? value : null))
}

/** The size of a chart in its place. */
export function sizeOf(place: HTMLElement): { readonly width: number; readonly height: number } {
  return { width: Math.max(120, place.clientWidth), height: Math.max(120, place.clientHeight) }
}

function lineOptions(line: ChartLine, ratio: number): uPlot.Series {
  const stroke = colour(line.colour)
  const common = {
    label: line.label,
    stroke,
    width: 1.5,
    points: { show: false, size: 4, fill: stroke, filter: lonePoints },
  }
  if (line.look === 'area') return { ...common, fill: colour(`${line.colour}-soft`) }
  if (line.look === 'hatched') return { ...common, fill: hatching(line.colour, ratio) }
  if (line.look === 'dotted') return { ...common, dash: [5, 3], fill: dots(line.colour, ratio) }
  return line.look === 'dashed' ? { ...common, width: 2, dash: [6, 4] } : common
}

/** Points without a neighbour: a line does not show them. */
function lonePoints({ data, scales }: uPlot, line: number): number[] {
  const values = data[line]
  const isKnown = (row: number) => values[row] !== null && values[row] !== undefined
  const lone: number[] = []
  for (let row = 0; row < values.length; row++) {
    const isSeen = data[0][row] >= (scales.x.min ?? 0) && data[0][row] <= (scales.x.max ?? 0)
    if (isSeen && isKnown(row) && !isKnown(row - 1) && !isKnown(row + 1)) lone.push(row)
  }
  return lone
}

/** Slanted strokes, so that the area is told apart without its colour. */
function hatching(name: string, ratio: number): CanvasPattern {
  const { tile, pen, size } = tileOf(Math.round(7 * ratio))
  pen.fillStyle = colour(`${name}-soft`)
  pen.fillRect(0, 0, size, size)
  pen.strokeStyle = colour(name)
  pen.lineWidth = 1.2 * ratio
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - 1, size + 1)
    pen.lineTo(shift + size + 1, -1)
  }
  pen.stroke()
  return pen.createPattern(tile, 'repeat') as CanvasPattern
}

/** Dots on nothing: what they cover stays visible. */
function dots(name: string, ratio: number): CanvasPattern {
  const { tile, pen, size } = tileOf(Math.round(6 * ratio))
  pen.fillStyle = colour(name)
  pen.globalAlpha = 0.75
  pen.arc(size / 2, size / 2, 1.1 * ratio, 0, 2 * Math.PI)
  pen.fill()
  return pen.createPattern(tile, 'repeat') as CanvasPattern
}

function tileOf(size: number) {
  const tile = document.createElement('canvas')
  tile.width = size
  tile.height = size
  return { tile, pen: tile.getContext('2d') as CanvasRenderingContext2D, size }
}

/** 1, 2 and 5 of each power of ten: one digit behind the point says them all. */
const STEPS = Array.from({ length: 11 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** (power - 3))).flat()

function axesOf(plan: ChartPlan): uPlot.Axis[] {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`
  const common = { stroke: colour('ink-faint'), font, ticks: { show: false } }
  const line = { stroke: colour('edge'), width: 1 }
  return [
    {
      ...common,
      grid: { show: false },
      border: { show: true, ...line },
      size: 30,
      gap: 8,
      space: spaceOf,
      incrs: timeSteps,
      values: timeTexts,
    },
    {
      ...common,
      grid: { ...line },
      gap: 6,
      space: 36,
      incrs: STEPS,
      size: (_plot, texts) => 14 + 7 * Math.max(3, ...(texts ?? []).map((text) => text.length)),
      // Without a value the scale is made up.
      values: ({ data }, values) => values.map(hasValue(data.slice(1)) ? plan.axisText : () => ''),
    },
  ]
}

/** Marks of a short time have seconds, so they are wider. */
function spaceOf(_plot: uPlot, _axis: number, from: number, to: number): number {
  return isLong(from, to) ? 46 : 72
}

/** Marks of a long time are at full minutes. */
function timeSteps(_plot: uPlot, _axis: number, from: number, to: number): number[] {
  return isLong(from, to) ? MINUTES : SECONDS
}

function isLong(from: number, to: number): boolean {
  return to - from > 200
}

const MINUTES = [60, 120, 300, 600, 900, 1_800, 3_600]
const SECONDS = [1, 2, 5, 10, 15, 30, ...MINUTES]

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** `12:03:10`, in the time zone of the browser. */
export function clockText(ms: number): string {
  return CLOCK.format(ms)
}

/** Seconds are left out if every mark is at a full minute. */
function timeTexts(_plot: uPlot, seconds: readonly number[]): string[] {
  const isByMinutes = seconds.every((each) => each % 60 === 0)
  return seconds.map((each) => clockText(each * 1_000).slice(0, isByMinutes ? 5 : 8))
}
