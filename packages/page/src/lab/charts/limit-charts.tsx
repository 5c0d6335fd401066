import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { durationText, numberText } from '../../parts/number-text.js'
import { useThemeChange } from '../../shell/theme.js'
import type { Run } from '../engine/simulate.js'
import { cursorWords } from './cursor-words.js'
import { levelPlot, requestPlot } from './lab-plot.js'

interface LimitChartsProps {
  readonly name: string
  readonly run: Run
  readonly lengthUs: number
}

/** The charts of a limit, one above the other. Arrow keys move the cursor of all limits. */
export function LimitCharts({ name, run, lengthUs }: LimitChartsProps) {
  const requests = useRef<HTMLDivElement>(null)
  const levels = useRef<HTMLDivElement>(null)
  const plots = useRef<readonly uPlot[]>([])
  const [seconds, setSeconds] = useState<number>()
  const theme = useThemeChange()
  useEffect(() => {
    if (requests.current === null || levels.current === null) return
    const place = { run, lengthUs, onCursor: setSeconds }
    const drawn = [
      requestPlot({ ...place, element: requests.current }),
      levelPlot({ ...place, element: levels.current, onCursor: () => {} }),
    ]
    plots.current = drawn
    const element = requests.current
    const observer = new ResizeObserver(() => {
      for (const each of drawn) each.setSize({ width: Math.max(200, element.clientWidth), height: each.height })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      for (const each of drawn) each.destroy()
    }
  }, [run, lengthUs, theme])
  const isQueue = run.limit.algorithm === 'leaky-bucket'
  const words = seconds === undefined ? undefined : cursorWords(run, lengthUs, seconds)
  const move = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key]
    const chart = plots.current[0]
    if (by === undefined || chart === undefined) return
    event.preventDefault()
    const width = run.bars.widthUs / 1e6
    const at = Math.min(lengthUs / 1e6, Math.max(0, (seconds ?? -width / 2) + by * width))
    chart.setCursor({ left: chart.valToPos(at, 'x'), top: 10 })
  }
  return (
    <div
      class="charts"
      role="application"
      aria-label={`${name}, charts: arrow keys move through time`}
      tabIndex={0}
      onKeyDown={move}
    >
      <div class="caption">
        {words === undefined ? (
          <>
            <span>{`Requests in each ${durationText(run.bars.widthUs / 1_000)}`}</span>
            <span class="keys">
              <span class="key admitted">admitted</span>
              <span class="key denied">denied</span>
              {isQueue && <span class="key waiting">leaving</span>}
            </span>
          </>
        ) : (
          <>
            <strong>{words.time}</strong>
            <span>{words.requests}</span>
          </>
        )}
      </div>
      <div ref={requests} class="plot" />
      <div class="caption">
        <span>{levelTitle(run)}</span>
        <span>{words?.level ?? ''}</span>
      </div>
      <div ref={levels} class="plot" />
      <p class="outcome">
        <span class="chip admitted">{`${numberText(run.totals.admitted)} admitted`}</span>
        <span class="chip denied">{`${numberText(run.totals.denied)} denied`}</span>
        {isQueue && <span class="chip waiting">{`longest wait ${durationText(run.totals.longestWaitMs)}`}</span>}
      </p>
    </div>
  )
}

function levelTitle({ limit }: Run): string {
  if (limit.algorithm === 'token-bucket') return 'Tokens left'
  return limit.algorithm === 'leaky-bucket' ? 'Requests in the queue' : 'Requests left in the window'
}
