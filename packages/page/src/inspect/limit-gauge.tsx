import type { Limit } from 'sluice/limits'
import { limitWords } from '../parts/limit-words.js'
import { durationText, numberText } from '../parts/number-text.js'
import { useElapsed } from '../parts/use-elapsed.js'
import { type GaugeReading, readGauge, type SentDecision } from './gauge-reading.js'

interface LimitGaugeProps {
  readonly level: string
  readonly limit: Limit
  readonly decision: SentDecision
  readonly cost: number
  /** Would the level deny this request even if it cost nothing? */
  readonly deniesAll: boolean
  /** When the decision came, by `performance.now`. */
  readonly sinceMs: number
}

/** One limit as a gauge: what is left, what this request takes of it, and when units are back. */
export function LimitGauge({ level, limit, decision, cost, deniesAll, sinceMs }: LimitGaugeProps) {
  const elapsedMs = useElapsed(decision.resetAfterMs === 0 ? undefined : sinceMs)
  const reading = readGauge(limit, decision, { elapsedMs, deniesAll })
  const words = limitWords(limit)
  const state = stateWords(reading)
  return (
    <div class="limit">
      <p class="limit-head">
        <span class="limit-words">{words}</span>
        <span>
          {isCounted(reading) ? (
            <>
              <strong>{numberText(Math.floor(reading.left))}</strong> of {numberText(reading.quota)} left
            </>
          ) : (
            <strong>{state}</strong>
          )}
        </span>
      </p>
      {reading.state === 'unknown' && <div class="gauge is-unknown" aria-hidden="true" />}
      {reading.state !== 'unlimited' && reading.state !== 'unknown' && (
        // biome-ignore lint/a11y/useSemanticElements: a meter element cannot show what this request takes
        <div
          class={`gauge is-${reading.state}`}
          role="meter"
          aria-label={`${level}, ${words}`}
          aria-valuemin={0}
          aria-valuemax={reading.quota}
          aria-valuenow={Math.floor(reading.left)}
          aria-valuetext={state}
        >
          <Water reading={reading} cost={cost} isAllowed={decision.allowed === true} />
        </div>
      )}
      <p class="limit-foot">
        <span>{reading.state === 'unknown' ? '' : `This request takes ${numberText(cost)}`}</span>
        <span>{waitWords(reading)}</span>
      </p>
      {decision.degraded != null && <p class="level-note degraded">{degradedWords(decision.degraded)}</p>}
    </div>
  )
}

function Water({ reading, cost, isAllowed }: { reading: GaugeReading; cost: number; isAllowed: boolean }) {
  const { left, quota } = reading
  if (!isCounted(reading)) return null
  const percent = (units: number) => `${Math.min(100, Math.max(0, (units / quota) * 100))}%`
  // Units that are taken are at the surface; those that lack are above it.
  const from = isAllowed ? Math.max(0, left - cost) : left
  return (
    <>
      <span class="gauge-left" style={{ width: percent(left) }} />
      {cost > 0 && (
        <span
          class={isAllowed ? 'gauge-cost' : 'gauge-cost lacks'}
          style={{ left: `min(${percent(from)}, calc(100% - 3px))`, width: percent(Math.min(cost, quota - from)) }}
        />
      )}
    </>
  )
}

function isCounted({ state }: GaugeReading): boolean {
  return state === 'empty' || state === 'some' || state === 'whole'
}

function stateWords({ state, left, quota, owed }: GaugeReading): string {
  if (state === 'unknown') return 'What is left is not known'
  if (state === 'unlimited') return 'Any number may pass'
  if (state === 'no-quota') return 'A quota of 0: nothing may pass'
  if (state === 'blocked') return 'Blocked'
  if (state === 'debt') return `In debt by ${numberText(owed)}`
  if (state === 'blocked-or-debt') return 'Blocked or in debt'
  return `${numberText(Math.floor(left))} of ${numberText(quota)} left`
}

function waitWords({ state, nextUnitMs, wholeMs }: GaugeReading): string {
  if (state === 'unknown' || state === 'unlimited' || state === 'no-quota' || wholeMs === 0) return ''
  const whole = `whole again in ${durationText(wholeMs)}`
  if (nextUnitMs === 0) return whole
  const next = `${state === 'blocked' ? 'ends' : 'next unit'} in ${durationText(nextUnitMs)}`
  if (nextUnitMs === wholeMs) return state === 'blocked' ? next : whole
  return `${next} · ${whole}`
}

function degradedWords(degraded: 'open' | 'closed' | 'local'): string {
  if (degraded === 'open') return 'The store does not answer: everything is allowed.'
  if (degraded === 'closed') return 'The store does not answer: everything is denied.'
  return 'The store does not answer: this process counts for itself.'
}
