import { type ChartLine, type ChartPlan, clockText } from './draw-chart.js'
import type { TimeSeries } from './time-series.js'

interface ChartLegendProps {
  readonly plan: ChartPlan
  readonly series: TimeSeries
  /** The row under the pointer. Without one, the last row is read. */
  readonly row: number | undefined
}

/** The lines of a chart with their values at one time. */
export function ChartLegend({ plan, series, row }: ChartLegendProps) {
  const last = series.times.length - 1
  return (
    <div class="legend" aria-hidden="true">
      {plan.lines.map((line, at) => (
        <span key={line.label} class="legend-line">
          <Swatch line={line} />
          {line.label}
          <b>{valueText(plan, series, at, row ?? last)}</b>
        </span>
      ))}
      <span class="legend-time">{last < 0 ? '' : clockText(series.times[row ?? last] * 1_000)}</span>
    </div>
  )
}

/** One time in words: `12:03:10: Allowed 1,200/s, Denied 12/s`. */
export function rowText(plan: ChartPlan, series: TimeSeries, row: number): string {
  if (series.times.length === 0) return 'No data yet'
  const values = plan.lines.map(({ label }, at) => `${label} ${valueText(plan, series, at, row)}`)
  return `${clockText(series.times[row] * 1_000)}: ${values.join(', ')}`
}

/** A value of a line, or a dash where there is none. */
export function valueText({ text }: ChartPlan, { columns }: TimeSeries, line: number, row: number): string {
  const value = columns[line][row]
  return value === null || value === undefined ? '–' : text(value)
}

/** A line as the chart draws it. */
function Swatch({ line: { look, colour } }: { readonly line: ChartLine }) {
  return (
    <svg class={`swatch ${look} of-${colour}`} viewBox="0 0 16 12" width="16" height="12" aria-hidden="true">
      {look === 'area' || look === 'hatched' ? <rect x="0.75" y="0.75" width="14.5" height="10.5" rx="2" /> : null}
      {look === 'hatched' ? <path d="M2 11L11 1M7 11L15 2M1 6L6 1" /> : null}
      {look === 'dotted' ? <path d="M0 2H16" /> : null}
      {look === 'dotted' ? <path class="swatch-dots" d="M2 6h0M8 6h0M14 6h0M5 10h0M11 10h0" /> : null}
      {look === 'line' || look === 'dashed' ? <path d="M0 6H16" /> : null}
    </svg>
  )
}
