import type { ComponentChildren } from 'preact'
import { durationText, numberText, shareText } from '../parts/number-text.js'
import type { LiveModel } from './live-model.js'
import type { PageHistory } from './page-history.js'
import { perSecond } from './time-series.js'
import { useLive } from './use-live.js'

/** The figures of the last second, large. */
export function FiguresStrip({ live }: { readonly live: LiveModel }) {
  useLive(live, 'hello', 'frame')
  const { frame, history } = live.scene
  if (frame === undefined) return <section class="figures-strip" aria-label="Now" aria-busy="true" />
  const { allowed, denied, degraded, elapsedMs } = frame
  const all = allowed + denied
  const errors = errorsIn(history)
  const rate = (count: number) => numberText(perSecond(count, elapsedMs))
  const latency = (ms: number) => (all === 0 ? '–' : durationText(ms))
  return (
    <section class="figures-strip" aria-label="Now">
      <dl class="figures">
        <Figure name="Admitted" tone="admitted" value={rate(allowed)} unit="/s">
          {all === 0 ? 'no decisions now' : `${shareText(allowed, all)} of ${rate(all)}/s`}
        </Figure>
        <Figure name="Denied" tone="denied" value={rate(denied)} unit="/s">
          {all === 0 ? 'no decisions now' : shareText(denied, all)}
        </Figure>
        <Figure name="Degraded" tone="degraded" value={rate(degraded)} unit="/s">
          {degraded === 0 ? 'the store answers' : `${shareText(degraded, all)} without the store`}
        </Figure>
        <Figure name="Errors" tone={errors === 0 ? undefined : 'denied'} value={numberText(errors)}>
          in five minutes
        </Figure>
        <Figure name="Latency p50" value={latency(frame.p50Ms)}>
          half take less
        </Figure>
        <Figure name="Latency p99" value={latency(frame.p99Ms)}>
          {`event loop ${durationText(frame.worstDelayMs)}`}
        </Figure>
      </dl>
    </section>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: string
  readonly unit?: string
  readonly tone?: 'admitted' | 'denied' | 'degraded' | undefined
  readonly children: ComponentChildren
}

function Figure({ name, value, unit, tone, children }: FigureProps) {
  return (
    <div class={tone === undefined ? 'figure' : `figure of-${tone}`}>
      <dt>{name}</dt>
      <dd class="figure-value">
        {value}
        {unit !== undefined && <span class="unit">{unit}</span>}
      </dd>
      <dd class="figure-about">{children}</dd>
    </div>
  )
}

function errorsIn({ seconds }: PageHistory): number {
  let errors = 0
  for (let row = 0; row < seconds.size; row++) errors += seconds.total(row, 'errors')
  return errors
}
