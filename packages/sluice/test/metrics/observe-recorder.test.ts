import { createLimiter, createPolicy, tokenBucket } from 'sluice'
import { createRecorder, type MeterLike, observeRecorder } from 'sluice/metrics'
import { expect, it } from 'vitest'

type Observe = Parameters<MeterLike<string>['addBatchObservableCallback']>[0]

/** Keeps the callbacks and collects as a reader of OpenTelemetry does. */
class FakeMeter implements MeterLike<string> {
  readonly callbacks: Observe[] = []

  createObservableCounter(name: string): string {
    return name
  }

  createObservableGauge(name: string): string {
    return name
  }

  addBatchObservableCallback(callback: Observe): void {
    this.callbacks.push(callback)
  }

  removeBatchObservableCallback(callback: Observe): void {
    this.callbacks.splice(this.callbacks.indexOf(callback), 1)
  }

  collect(): Map<string, number> {
    const found = new Map<string, number>()
    const observe = (name: string, value: number, attributes: object = {}) =>
      void found.set(`${name} ${Object.values(attributes).join(' ')}`, value)
    for (const callback of this.callbacks) callback({ observe })
    return found
  }
}

it('reports the counts of a recorder to an OpenTelemetry meter, until it is stopped', () => {
  using recorder = createRecorder()
  const meter = new FakeMeter()
  const stop = observeRecorder(recorder, meter)
  expect(meter.collect().size).toBe(0)
  const limit = tokenBucket({ capacity: 1, refill: '1/h' })
  const limiter = createLimiter({ name: 'search', limit })
  for (let i = 0; i < 3; i++) limiter.tryAcquire('a')
  createPolicy({ name: 'api', levels: [{ name: 'all', limit }] }).check({})
  const found = meter.collect()
  expect(found.get('sluice.decisions limiter search allowed')).toBe(1)
  expect(found.get('sluice.decisions limiter search denied')).toBe(2)
  expect(found.get('sluice.decisions.degraded limiter search')).toBe(0)
  expect(found.get('sluice.level.decisions policy api all allowed')).toBe(1)
  expect(found.get('sluice.level.decisions policy api all shadow_denied')).toBe(0)
  expect(found.get('sluice.decision.duration.total limiter search')).toBeGreaterThan(0)
  expect(found.get('sluice.decision.duration.quantile limiter search 0.99')).toBeGreaterThan(0)
  stop()
  expect(meter.collect().size).toBe(0)
})
