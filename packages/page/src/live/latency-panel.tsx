import { durationText } from '../parts/number-text.js'
import { ChartPanel } from './chart-panel.js'
import { type ChartPlan, clockText } from './draw-chart.js'
import type { LiveModel } from './live-model.js'
import type { LiveSettings } from './live-settings.js'
import { latencySeries, type TimeSeries } from './time-series.js'

/** How long the store takes to decide. */
export function LatencyPanel(shown: { readonly live: LiveModel; readonly settings: LiveSettings }) {
  return (
    <ChartPanel
      {...shown}
      title="Latency of the store"
      class="live-latency"
      plan={LATENCY}
      seriesOf={latencySeries}
      summaryOf={latencySummary}
    />
  )
}

const LATENCY: ChartPlan = {
  lines: [
    { label: 'p50', colour: 'ink-soft', look: 'dashed' },
    { label: 'p99', colour: 'ink', look: 'line' },
  ],
  isStacked: false,
  mayCut: true,
  text: durationText,
  axisText: durationText,
}

/** The chart in a sentence. */
export function latencySummary({ times, columns: [p50, p99] }: TimeSeries): string {
  const known = times.map((_, row) => row).filter((row) => p99[row] !== null)
  if (known.length === 0) return 'No decisions yet.'
  const worst = known.reduce((best, row) => ((p99[row] ?? 0) > (p99[best] ?? 0) ? row : best), known[0])
  const last = known[known.length - 1]
  const now = `At ${clockText(times[last] * 1_000)}: p50 ${durationText(p50[last] ?? 0)}, p99 ${durationText(p99[last] ?? 0)}.`
  return `${now} The largest p99 was ${durationText(p99[worst] ?? 0)} at ${clockText(times[worst] * 1_000)}.`
}
