import { useId, useRef, useState } from 'preact/hooks'
import { chartKeys } from './chart-keys.js'
import { ChartLegend, rowText } from './chart-legend.js'
import { ChartTable } from './chart-table.js'
import { type ChartTop, chartTop } from './chart-top.js'
import { type ChartPlan, clockText, hasValue } from './draw-chart.js'
import { WAITING } from './live-model.js'
import { zoomTo } from './live-settings.js'
import type { TimeRange, TimeSeries } from './time-series.js'
import { usePlot } from './use-plot.js'

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
  const [cursorRow, setCursorRow] = useState<number>()
  const [spoken, setSpoken] = useState('')
  const summaryId = useId()
  const putCursor = usePlot(place, { plan, series, range, onCursor: setCursorRow })
  const rows = series.times.length
  const row = cursorRow !== undefined && cursorRow < rows ? cursorRow : undefined

  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const move = chartKeys(event.key, { range, row: row ?? rows, rows, hasShift: event.shiftKey })
    if (move === undefined) return
    event.preventDefault()
    if ('zoom' in move) zoomTo(move.zoom === 'out' ? undefined : move.zoom)
    else {
      putCursor(move.row)
      setSpoken(rowText(plan, series, move.row))
    }
  }
  return (
    <figure class="chart">
      <ChartLegend plan={plan} series={series} row={row} />
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
      {!hasValue(series.columns) && (
        <p class="chart-none" aria-hidden="true">
          {rows === 0 ? WAITING : 'No decisions in this time'}
        </p>
      )}
      <figcaption class="hidden" id={summaryId}>
        {summary} Arrow keys read the values, plus and minus zoom, shift and an arrow key move in time, Escape zooms
        out.
      </figcaption>
      <p class="hidden" aria-live="polite">
        {spoken}
      </p>
      <div class="chart-foot">
        <ChartTable name={name} plan={plan} series={series} />
        {plan.mayCut && <CutText plan={plan} top={chartTop(series, range)} />}
        {/* The description says it to a person who does not see the chart. */}
        <p class="chart-hint" aria-hidden="true">
          Drag to zoom, or press + and −; Esc goes back
        </p>
      </div>
    </figure>
  )
}

/** What the chart has no room for. The summary says it as well. */
function CutText({ plan, top }: { readonly plan: ChartPlan; readonly top: ChartTop | undefined }) {
  if (top === undefined) return null
  return (
    <p class="chart-cut" aria-hidden="true">
      {`▲ up to ${plan.text(top.largest)} at ${clockText(top.atS * 1_000)}`}
    </p>
  )
}
