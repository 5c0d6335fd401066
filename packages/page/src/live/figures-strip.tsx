import type { ComponentChildren } from 'preact'
import { durationText, numberText, rateNumberText, shareText } from '../parts/number-text.js'
import type { LiveModel } from './live-model.js'
import type { PageHistory } from './page-history.js'
import { perSecond } from './time-series.js'
import { useLive } from './use-live.js'

/** The figures of the last second, large. */
export function FiguresStrip({ live }: { readonly live: LiveModel }) {
  useLive(live, 'hello', 'frame')
  const { frame, history } = live.scene
  const { allowed, denied, degraded, elapsedMs, p50Ms, p99Ms, worstDelayMs } = frame ?? NO_FRAME
  const all = allowed + denied
  const errors = errorsIn(history)
  const rate = (count: number) => (frame === undefined ? undefined : rateNumberText(perSecond(count, elapsedMs)))
  const latency = (ms: number) => (all === 0 ? undefined : durationText(ms))
  const about = (text: string) => (frame === undefined ? '' : text)
  return (
    <section class="live-figures-strip" aria-label="Now" data-retained-points={history.retainedPoints}>
      <dl class="live-figures">
        <Figure name="Allowed" tone="admitted" value={rate(allowed)} unit="/s">
          {about(all === 0 ? 'no decisions now' : `${shareText(allowed, all)} of ${rate(all)}/s`)}
        </Figure>
        <Figure name="Denied" tone="denied" value={rate(denied)} unit="/s">
          {about(all === 0 ? 'no decisions now' : shareText(denied, all))}
        </Figure>
        <Figure name="Degraded" tone="degraded" value={rate(degraded)} unit="/s">
          {about(degraded === 0 ? 'none without the store' : `${shareText(degraded, all)} without the store`)}
        </Figure>
        <Figure
          name="Errors"
          tone={errors === 0 ? undefined : 'denied'}
          value={frame === undefined ? undefined : numberText(errors)}
        >
          in five minutes
        </Figure>
        <Figure name="Latency p50" value={latency(p50Ms)}>
          half take less
        </Figure>
        <Figure name="Latency p99" value={latency(p99Ms)}>
          {about(`event loop ${durationText(worstDelayMs)}`)}
        </Figure>
      </dl>
    </section>
  )
}

const NO_FRAME = { allowed: 0, denied: 0, degraded: 0, elapsedMs: 1, p50Ms: 0, p99Ms: 0, worstDelayMs: 0 }

interface FigureProps {
  readonly name: string
  /** Absent if it is not known: of no decision there is no latency. */
  readonly value: string | undefined
  readonly unit?: string
  readonly tone?: 'admitted' | 'denied' | 'degraded' | undefined
  readonly children: ComponentChildren
}

function Figure({ name, value, unit, tone, children }: FigureProps) {
  return (
    <div class={tone === undefined ? 'live-figure' : `live-figure of-${tone}`}>
      <dt>{name}</dt>
      <dd class="live-figure-value">
        {value ?? <span class="unit">–</span>}
        {value !== undefined && unit !== undefined && <span class="unit">{unit}</span>}
      </dd>
      <dd class="live-figure-about">{children}</dd>
    </div>
  )
}

function errorsIn({ seconds }: PageHistory): number {
  let errors = 0
  for (let row = 0; row < seconds.size; row++) errors += seconds.total(row, 'errors')
  return errors
}
