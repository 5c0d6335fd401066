import { numberText, rateText, shareText } from '../parts/number-text.js'
import { ChartPanel } from './chart-panel.js'
import type { ChartLine, ChartPlan } from './draw-chart.js'
import { clockText } from './draw-chart.js'
import type { LiveModel } from './live-model.js'
import type { LiveSettings } from './live-settings.js'
import { decisionSeries, type TimeSeries } from './time-series.js'

/** What is decided per second: allowed and denied, one on the other, and how many of them without the store. */
export function DecisionsPanel(shown: { readonly live: LiveModel; readonly settings: LiveSettings }) {
  return (
    <ChartPanel
      {...shown}
      title="Decisions per second"
      class="live-decisions"
      plan={DECISIONS}
      seriesOf={decisionSeries}
      summaryOf={decisionSummary}
    />
  )
}

const ALLOWED: ChartLine = { label: 'Allowed', colour: 'admitted', look: 'area' }
const DEGRADED: ChartLine = { label: 'Degraded', colour: 'degraded', look: 'dotted' }

function planWith(denied: string): ChartPlan {
  const lines: ChartLine[] = [ALLOWED, { label: denied, colour: 'denied', look: 'hatched' }, DEGRADED]
  return { lines, isStacked: true, text: rateText, axisText: axisText }
}

/** A quiet service has fractions of a request a second. */
function axisText(value: number): string {
  return value < 1 ? String(Number(value.toFixed(3))) : numberText(value)
}

/** How decisions are drawn, everywhere. */
export const DECISIONS = planWith('Denied')

/** The same for a level that denies nothing and counts what it would deny. */
export const SHADOW_DECISIONS = planWith('Would deny')

/** A chart of decisions in a sentence: the means and the busiest moment. */
export function decisionSummary({ times, columns: [admitted, denied] }: TimeSeries): string {
  const known = times.map((_, row) => row).filter((row) => admitted[row] !== null)
  if (known.length === 0) return 'No data yet.'
  const mean = (column: readonly (number | null)[]) =>
    known.reduce((sum, row) => sum + (column[row] ?? 0), 0) / known.length
  const load = (row: number) => (admitted[row] ?? 0) + (denied[row] ?? 0)
  const busiest = known.reduce((best, row) => (load(row) > load(best) ? row : best), known[0])
  const [passed, refused] = [mean(admitted), mean(denied)]
  const span = `From ${clockText(times[known[0]] * 1_000)} to ${clockText(times[known[known.length - 1]] * 1_000)}`
  const means = `${rateText(passed)} allowed and ${rateText(refused)} denied on average (${shareText(refused, passed + refused)})`
  return `${span}: ${means}, at most ${rateText(load(busiest))} at ${clockText(times[busiest] * 1_000)}.`
}
