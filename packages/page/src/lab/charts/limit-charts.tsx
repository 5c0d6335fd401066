import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { durationText, numberText } from '../../parts/number-text.js'
import { useThemeChange } from '../../shell/theme.js'
import type { Run } from '../engine/simulate.js'
import { cursorWords } from './cursor-words.js'
import { limitPlots, moveCursor } from './limit-plots.js'

interface LimitChartsProps {
  readonly name: string
  readonly run: Run
  readonly lengthUs: number
}

/** The charts of a limit, one above the other. Arrow keys move the cursor of all limits. */
export function LimitCharts({ name, run, lengthUs }: LimitChartsProps) {
  const { requests, levels, plot, seconds } = usePlots(run, lengthUs)
  const isQueue = run.limit.algorithm === 'leaky-bucket'
  const words = seconds === undefined ? undefined : cursorWords(run, lengthUs, seconds)
  const move = (event: KeyboardEvent) => {
    const by = STEPS[event.key]
    if (by === undefined || plot.current === undefined) return
    event.preventDefault()
    const width = run.bars.widthUs / 1e6
    const at = Math.min(lengthUs / 1e6, Math.max(0, (seconds ?? -width / 2) + by * width))
    moveCursor(plot.current, at)
  }
  return (
    <>
      <div
        class="charts"
        role="slider"
        aria-label={`Time in the charts of ${name}`}
        aria-valuemin={0}
        aria-valuemax={lengthUs / 1e6}
        aria-valuenow={seconds ?? 0}
        aria-valuetext={words === undefined ? 'arrow keys move' : `${words.time}: ${words.requests}; ${words.level}`}
        tabIndex={0}
        onKeyDown={move}
      >
        <div class="caption">
          {words === undefined ? <Keys run={run} /> : <strong>{words.time}</strong>}
          {words !== undefined && <span>{words.requests}</span>}
        </div>
        <div ref={requests} class="plot" />
        <div class="caption">
          <span>{levelTitle(run)}</span>
          <span>{words?.level ?? ''}</span>
        </div>
        <div ref={levels} class="plot" />
      </div>
      <p class="outcome">
        <span class="chip admitted">{`${numberText(run.totals.admitted)} allowed`}</span>
        <span class="chip denied">{`${numberText(run.totals.denied)} denied`}</span>
        {isQueue && <span class="chip waiting">{`longest wait ${durationText(run.totals.longestWaitMs)}`}</span>}
      </p>
    </>
  )
}

/** How many bars a key moves the cursor. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  PageDown: -10,
  PageUp: 10,
  Home: -Infinity,
  End: Infinity,
}

/** Draws both charts whenever the run or the theme changes, and hears where the cursor is. */
function usePlots(run: Run, lengthUs: number) {
  const requests = useRef<HTMLDivElement>(null)
  const levels = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const [seconds, setSeconds] = useState<number>()
  const theme = useThemeChange()
  useEffect(() => {
    const [above, below] = [requests.current, levels.current]
    if (above === null || below === null) return
    const plots = limitPlots(above, below, run, lengthUs, setSeconds)
    plot.current = plots[0]
    const observer = new ResizeObserver(() => {
      for (const each of plots) each.setSize({ width: Math.max(200, above.clientWidth), height: each.height })
    })
    observer.observe(above)
    return () => {
      observer.disconnect()
      for (const each of plots) each.destroy()
      setSeconds(undefined)
    }
  }, [run, lengthUs, theme])
  return { requests, levels, plot, seconds }
}

/** What the colours of the bars mean. */
function Keys({ run }: { readonly run: Run }) {
  return (
    <>
      <span>{`Requests per ${durationText(run.bars.widthUs / 1_000).replace(/^1 /, '')}`}</span>
      <span class="keys">
        <span class="key admitted">allowed</span>
        <span class="key denied">denied</span>
        {run.limit.algorithm === 'leaky-bucket' && <span class="key waiting">leaving</span>}
      </span>
    </>
  )
}

function levelTitle({ limit }: Run): string {
  if (limit.algorithm === 'token-bucket') return 'Tokens left'
  return limit.algorithm === 'leaky-bucket' ? 'Requests in the queue' : 'Requests left in the window'
}
