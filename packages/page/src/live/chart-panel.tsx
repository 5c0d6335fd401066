import { useMemo } from 'preact/hooks'
import { Panel } from '../parts/panel.js'
import type { ChartPlan } from './draw-chart.js'
import { LiveChart } from './live-chart.js'
import type { LiveModel } from './live-model.js'
import { type LiveSettings, shownRange } from './live-settings.js'
import type { PageHistory } from './page-history.js'
import type { TimeRange, TimeSeries } from './time-series.js'
import { useLive } from './use-live.js'

interface ChartPanelProps {
  readonly live: LiveModel
  readonly settings: LiveSettings
  /** The title of the panel, and the name of the chart. */
  readonly title: string
  readonly class: string
  readonly plan: ChartPlan
  readonly seriesOf: (history: PageHistory, range: TimeRange) => TimeSeries
  /** The chart in a sentence. */
  readonly summaryOf: (series: TimeSeries) => string
}

/** A panel with a chart of the whole service. It moves with every frame. */
export function ChartPanel({ live, settings, title, class: name, plan, seriesOf, summaryOf }: ChartPanelProps) {
  useLive(live, 'hello', 'frame')
  const { history, frame } = live.scene
  const range = shownRange(settings, live.scene)
  // The history changes in place, with the frame
  const series = useMemo(() => seriesOf(history, range), [seriesOf, history, frame, range.fromMs, range.toMs])
  return (
    <Panel title={title} class={name}>
      <LiveChart name={title} plan={plan} series={series} range={range} summary={summaryOf(series)} />
    </Panel>
  )
}
