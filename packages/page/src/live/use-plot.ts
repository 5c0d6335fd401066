import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { useThemeChange } from '../shell/theme.js'
import { type ChartPlan, drawChart, showSeries, sizeOf } from './draw-chart.js'
import { zoomTo } from './live-settings.js'
import type { TimeRange, TimeSeries } from './time-series.js'

interface PlotOptions {
  readonly plan: ChartPlan
  readonly series: TimeSeries
  readonly range: TimeRange
  readonly onCursor: (row: number | undefined) => void
}

/** Draws a chart in an element, as long as the component is there. The function that is returned puts the cursor on a row. */
export function usePlot(place: RefObject<HTMLDivElement | null>, options: PlotOptions): (row: number) => void {
  const { plan, series, range, onCursor } = options
  const plot = useRef<uPlot | undefined>(undefined)
  const theme = useThemeChange()

  // Another theme has other colours.
  useEffect(() => {
    const element = place.current as HTMLDivElement
    const made = drawChart(element, plan, { onCursor, onZoom: zoomTo })
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

  return (row) => {
    const { current } = plot
    if (current === undefined || series.times[row] === undefined) return
    const top = current.bbox.height / 2 / devicePixelRatio
    current.setCursor({ left: current.valToPos(series.times[row], 'x'), top })
  }
}
