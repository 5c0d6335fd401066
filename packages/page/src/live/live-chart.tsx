import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { useThemeChange } from '../shell/theme.js'
import { ChartLegend, rowText } from './chart-legend.js'
import { ChartTable } from './chart-table.js'
import { type ChartPlan, drawChart, showSeries, sizeOf } from './draw-chart.js'
import { movedRange, scaledRange, zoomTo } from './live-settings.js'
import type { TimeRange, TimeSeries } from './time-series.js'

interface LiveChartProps {
  /** What the chart is, for a person who does not see it: `Decisions per second`. */
  readonly name: string
  /** The same object as long as the plan is the same: another one makes another chart. */
  readonly plan: ChartPlan
  readonly series: TimeSeries
  readonly range: TimeRange
  /** The chart in a sentence. */
  readonly summary: string
}

/** A chart over time, with its legend, its keys and a table of the same figures. */
export function LiveChart({ name, plan, series, range, summary }: LiveChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const [row, setRow] = useState<number>()
  const [spoken, setSpoken] = useState('')
  const theme = useThemeChange()
  const summaryId = useId()

  // Another theme has other colours.
  useEffect(() => {
    const element = place.current as HTMLDivElement
    const made = drawChart(element, plan, { onCursor: setRow, onZoom: zoomTo })
    plot.current = made
    const watch = new ResizeObserver(() => made.setSize(sizeOf(element)))
    watch.observe(element)
    return () => {
      watch.disconnect()
      made.destroy()
    }
  }, [plan, theme])

  // A chart that is made anew has no data.
  useEffect(() => {
    if (plot.current !== undefined) showSeries(plot.current, plan, series, range)
  }, [plan, theme, series, range.fromMs, range.toMs])

  const shownRow = row !== undefined && row < series.times.length ? row : undefined
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const step = KEYS[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = step({
      range,
      row: shownRow ?? series.times.length - 1,
      rows: series.times.length,
      isFast: event.shiftKey,
    })
    if (next.range !== 'same') return zoomTo(next.range)
    moveCursor(plot.current, series, next.row)
    setSpoken(rowText(plan, series, next.row))
  }
  return (
    <figure class="chart">
      <ChartLegend plan={plan} series={series} row={shownRow} />
      {/* biome-ignore lint/a11y/useSemanticElements: no element is a chart */}
      <div
        class="chart-place"
        ref={place}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: its keys read and zoom the chart
        tabIndex={0}
        role="group"
        aria-roledescription="chart"
        aria-label={name}
        aria-describedby={summaryId}
        onKeyDown={press}
      />
      <figcaption class="hidden" id={summaryId}>
        {summary} Arrow keys read the values, plus and minus zoom, shift and an arrow key move in time, Escape zooms
        out.
      </figcaption>
      <p class="hidden" aria-live="polite">
        {spoken}
      </p>
      <ChartTable name={name} plan={plan} series={series} />
    </figure>
  )
}

interface Position {
  readonly range: TimeRange
  readonly row: number
  readonly rows: number
  readonly isFast: boolean
}

interface Step {
  readonly range: TimeRange | undefined | 'same'
  readonly row: number
}

const KEYS: Readonly<Record<string, (at: Position) => Step>> = {
  ArrowLeft: (at) => move(at, -1),
  ArrowRight: (at) => move(at, 1),
  Home: (at) => ({ range: 'same', row: Math.min(1, at.rows - 1) }),
  End: (at) => ({ range: 'same', row: at.rows - 1 }),
  '+': (at) => scale(at, 0.5),
  '=': (at) => scale(at, 0.5),
  '-': (at) => scale(at, 2),
  Escape: ({ row }) => ({ range: undefined, row }),
}

function move({ range, row, rows, isFast }: Position, by: number): Step {
  if (isFast) return { range: movedRange(range, by / 4), row }
  return { range: 'same', row: Math.max(0, Math.min(rows - 1, row + by)) }
}

function scale({ range, row }: Position, factor: number): Step {
  return { range: scaledRange(range, factor, (range.fromMs + range.toMs) / 2), row }
}

function moveCursor(plot: uPlot | undefined, { times }: TimeSeries, row: number): void {
  if (plot === undefined || times.length === 0) return
  plot.setCursor({ left: plot.valToPos(times[row], 'x'), top: plot.bbox.height / 2 / devicePixelRatio })
}
