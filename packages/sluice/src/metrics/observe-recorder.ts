import type { Recorder } from './create-recorder.js'
import type { OutcomeCounts } from './decision-series.js'
import { durationQuantile } from './duration-histogram.js'

type Attributes = Record<string, string | number>

/** The part of an OpenTelemetry `Meter` that `observeRecorder` uses. The library does not depend on OpenTelemetry. */
export interface MeterLike<Instrument = unknown> {
  createObservableCounter(name: string, options?: { description?: string; unit?: string }): Instrument
  createObservableGauge(name: string, options?: { description?: string; unit?: string }): Instrument
  addBatchObservableCallback(callback: ObserveAll<Instrument>, instruments: Instrument[]): void
  removeBatchObservableCallback(callback: ObserveAll<Instrument>, instruments: Instrument[]): void
}

type ObserveAll<Instrument> = (result: {
  observe(instrument: Instrument, value: number, attributes?: Attributes): void
}) => void

const QUANTILES = [0.5, 0.9, 0.99, 0.999]

/**
 * Reports a recorder's counts to an OpenTelemetry meter, each time that its reader collects. A decision costs no more than
 * the recorder itself. Returns a function that stops it.
 *
 * @example
 * ```ts
 * import { metrics } from '@opentelemetry/api'
 * import { createRecorder, observeRecorder } from 'sluice/metrics'
 *
 * observeRecorder(createRecorder(), metrics.getMeter('sluice'))
 * ```
 */
export function observeRecorder<Instrument>(recorder: Recorder, meter: MeterLike<Instrument>): () => void {
  const decisions = meter.createObservableCounter('sluice.decisions', { description: 'Decisions by outcome' })
  const degraded = meter.createObservableCounter('sluice.decisions.degraded', { description: 'Made without the store' })
  const levels = meter.createObservableCounter('sluice.level.decisions', {
    description: 'Decisions of levels by outcome',
  })
  const seconds = meter.createObservableCounter('sluice.decision.duration.total', {
    description: 'Time that the store took to decide',
    unit: 's',
  })
  const quantiles = meter.createObservableGauge('sluice.decision.duration.quantile', {
    description: 'The time that a share of all decisions since the start did not exceed',
    unit: 's',
  })
  const instruments = [decisions, degraded, levels, seconds, quantiles]
  const observeAll: ObserveAll<Instrument> = (result) => {
    for (const { kind, name, durations, levels: ofLevels, ...outcomes } of recorder.read().series) {
      const attributes = { 'sluice.kind': kind, 'sluice.name': name }
      for (const [outcome, count] of counted(outcomes)) result.observe(decisions, count, { ...attributes, outcome })
      result.observe(degraded, outcomes.degraded, attributes)
      result.observe(seconds, durations.sumMs / 1_000, attributes)
      for (const quantile of QUANTILES)
        result.observe(quantiles, durationQuantile(durations, quantile) / 1_000, { ...attributes, quantile })
      for (const level of ofLevels)
        for (const [outcome, count] of [...counted(level), ['shadow_denied', level.shadowDenied] as const])
          result.observe(levels, count, { ...attributes, 'sluice.level': level.name, outcome })
    }
  }
  meter.addBatchObservableCallback(observeAll, instruments)
  return () => meter.removeBatchObservableCallback(observeAll, instruments)
}

function counted({ allowed, denied, error }: OutcomeCounts): readonly (readonly [string, number])[] {
  return [
    ['allowed', allowed],
    ['denied', denied],
    ['error', error],
  ]
}
