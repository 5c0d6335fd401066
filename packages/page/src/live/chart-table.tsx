import { useState } from 'preact/hooks'
import { rowText, valueText } from './chart-legend.js'
import { type ChartPlan, clockText } from './draw-chart.js'
import type { TimeSeries } from './time-series.js'

interface ChartTableProps {
  readonly name: string
  readonly plan: ChartPlan
  readonly series: TimeSeries
}

const MOST_ROWS = 30

/**
 * The figures of a chart as a table, for a person who does not see the chart or wants to copy them. It shows the time at which it
 * was opened: a table that changes every second cannot be read.
 */
export function ChartTable({ name, plan, series }: ChartTableProps) {
  const [shown, setShown] = useState<TimeSeries>()
  return (
    <details class="chart-table" onToggle={({ currentTarget }) => setShown(currentTarget.open ? series : undefined)}>
      <summary>Show as table</summary>
      {shown !== undefined && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a person scrolls it by keys
        <section class="scroll chart-table-rows" tabIndex={0} aria-label={`${name}, as a table`}>
          <table class="table">
            <caption class="hidden">{`${name}. ${rowText(plan, shown, shown.times.length - 1)}`}</caption>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {plan.lines.map(({ label }) => (
                  <th key={label} scope="col" class="number">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rowsOf(shown).map((row) => (
                <tr key={shown.times[row]}>
                  <th scope="row">{clockText(shown.times[row] * 1_000)}</th>
                  {plan.lines.map(({ label }, line) => (
                    <td key={label} class="number">
                      {valueText(plan, shown, line, row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </details>
  )
}

/** The rows of the table, the newest first: all of them, or as many as can be read, evenly spread. */
export function rowsOf({ times }: TimeSeries): number[] {
  const step = Math.max(1, Math.ceil(times.length / MOST_ROWS))
  const rows: number[] = []
  for (let row = times.length - 1; row >= 0; row -= step) rows.push(row)
  return rows
}
