import uPlot from 'uplot'
import { colour } from '../shell/theme.js'
import { sumOf, type TimeRange, type TimeSeries } from './time-series.js'

/** A line of a chart. Its look tells it apart without its colour. */
export interface ChartLine {
  readonly label: string
  /** A colour of the style sheet. */
  readonly colour: string
  readonly look: 'area' | 'hatched' | 'line' | 'dashed'
}

/** What a chart draws. */
export interface ChartPlan {
  readonly lines: readonly ChartLine[]
  /** The second line stands on the first one: together they are the whole. */
  readonly isStacked: boolean
  readonly text: (value: number) => string
  readonly axisText: (value: number) => string
}

interface ChartHandlers {
  /** The row of the data under the pointer. */
  readonly onCursor: (row: number | undefined) => void
  readonly onZoom: (range: TimeRange | undefined) => void
}

/** Makes the chart of a plan inside an element. The caller gives it data and destroys it. */
export function drawChart(place: HTMLElement, plan: ChartPlan, { onCursor, onZoom }: ChartHandlers): uPlot {
  const ratio = window.devicePixelRatio
  const series = plan.lines.map((line) => lineOptions(line, ratio))
  const options: uPlot.Options = {
    ...sizeOf(place),
    padding: [8, 4, 0, 0],
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
    scales: { x: { time: true }, y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.12 : 1] } },
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

/** Puts data and the shown range into a chart. */
export function showSeries(plot: uPlot, plan: ChartPlan, { times, columns }: TimeSeries, range: TimeRange): void {
  // A line at zero all the time says nothing, and would lie over the axis.
  const drawn = columns.map((column) => (column.some((value) => value) ? column : column.map(() => null)))
  const [first, ...rest] = plan.isStacked ? [sumOf(columns.slice(0, 2)), columns[0], ...drawn.slice(2)] : columns
  plot.batch(() => {
    plot.setData([times, first, ...rest] as unknown as uPlot.AlignedData, false)
    plot.setScale('x', { min: range.fromMs / 1_000, max: range.toMs / 1_000 })
  })
}

/** The size of a chart in its place. */
export function sizeOf(place: HTMLElement): { readonly width: number; readonly height: number } {
  return { width: Math.max(120, place.clientWidth), height: Math.max(120, place.clientHeight) }
}

function lineOptions(line: ChartLine, ratio: number): uPlot.Series {
  const stroke = colour(line.colour)
  const common = { label: line.label, stroke, width: 1.5, points: { show: false } }
  if (line.look === 'area') return { ...common, fill: colour(`${line.colour}-soft`) }
  if (line.look === 'hatched') return { ...common, fill: hatching(line.colour, ratio) }
  return line.look === 'dashed' ? { ...common, width: 2, dash: [6, 4] } : common
}

/** Slanted strokes, so that the area is told apart without its colour. */
function hatching(name: string, ratio: number): CanvasPattern | string {
  const tile = document.createElement('canvas')
  const size = Math.round(7 * ratio)
  tile.width = size
  tile.height = size
  const pen = tile.getContext('2d')
  if (pen === null) return colour(`${name}-soft`)
  pen.fillStyle = colour(`${name}-soft`)
  pen.fillRect(0, 0, size, size)
  pen.strokeStyle = colour(name)
  pen.lineWidth = 1.2 * ratio
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - 1, size + 1)
    pen.lineTo(shift + size + 1, -1)
  }
  pen.stroke()
  return pen.createPattern(tile, 'repeat') ?? colour(`${name}-soft`)
}

function axesOf(plan: ChartPlan): uPlot.Axis[] {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`
  const common = { stroke: colour('ink-faint'), font, ticks: { show: false } }
  const line = { stroke: colour('edge'), width: 1 }
  return [
    {
      ...common,
      grid: { show: false },
      border: { show: true, ...line },
      size: 26,
      gap: 4,
      space: 84,
      values: timeTexts,
    },
    {
      ...common,
      grid: { ...line },
      gap: 6,
      space: 36,
      size: (_plot, texts) => 14 + 7 * Math.max(3, ...(texts ?? []).map((text) => text.length)),
      values: (_plot, values) => values.map(plan.axisText),
    },
  ]
}

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
