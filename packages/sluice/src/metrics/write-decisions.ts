import type { LevelReading, SeriesReading } from './decision-series.js'
import type { PrometheusText } from './prometheus-text.js'

/**
 * Writes the counts of a recorder as metrics. The metrics of policies and of their levels have different names, so that
 * the sum over a metric counts no decision twice.
 */
export function writeDecisions(text: PrometheusText, { series }: { readonly series: readonly SeriesReading[] }): void {
  text.metric('sluice_decisions_total', 'counter', 'Decisions of limiters and policies by outcome.')
  for (const { kind, name, allowed, denied, error } of series) {
    text.sample({ kind, name, outcome: 'allowed' }, allowed)
    text.sample({ kind, name, outcome: 'denied' }, denied)
    text.sample({ kind, name, outcome: 'error' }, error)
  }
  text.metric('sluice_decisions_degraded_total', 'counter', 'Decisions that were made without the store.')
  for (const { kind, name, degraded } of series) text.sample({ kind, name }, degraded)
  writeLevels(text, series)
  const durationHelp = 'How long the store took to decide, in seconds.'
  text.metric('sluice_decision_duration_seconds', 'histogram', durationHelp)
  for (const { kind, name, durations } of series) text.durations({ kind, name }, durations)
  text.metric('sluice_wait_duration_seconds', 'histogram', 'How long callers of acquire waited, in seconds.')
  for (const { kind, name, waits } of series) if (waits !== undefined) text.durations({ kind, name }, waits)
}

function writeLevels(text: PrometheusText, series: readonly SeriesReading[]): void {
  const levels = series.flatMap(({ name, levels }) => levels.map((level) => ({ policy: name, level })))
  text.metric('sluice_level_decisions_total', 'counter', 'Decisions of the levels of policies by outcome.')
  for (const { policy, level } of levels)
    for (const [outcome, count] of outcomesOf(level)) text.sample({ policy, level: level.name, outcome }, count)
  text.metric(
    'sluice_level_decisions_degraded_total',
    'counter',
    'Decisions of levels that were made without the store.',
  )
  for (const { policy, level } of levels) text.sample({ policy, level: level.name }, level.degraded)
}

function outcomesOf({ allowed, denied, shadowDenied, error }: LevelReading): readonly (readonly [string, number])[] {
  return [
    ['allowed', allowed],
    ['denied', denied],
    ['shadow_denied', shadowDenied],
    ['error', error],
  ]
}
