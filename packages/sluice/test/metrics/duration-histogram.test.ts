import fc from 'fast-check'
import { DURATION_BOUNDS_MS, DurationHistogram, durationQuantile, PrometheusText } from 'sluice/metrics'
import { describe, expect, it } from 'vitest'
import { parseExposition } from './parse-exposition.js'

const durations = fc.oneof(
  fc.double({ min: 0, max: 20_000, noNaN: true }),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.constantFrom(...DURATION_BOUNDS_MS),
)

const hostileText = fc.string({ unit: fc.constantFrom(...'\\"\n\r{},= #n\u2028é✓\ud800', '\u{1f600}') })

function histogramOf(values: readonly number[]) {
  const histogram = new DurationHistogram()
  for (const ms of values) histogram.record(ms)
  return histogram.read()
}

describe('a histogram of durations', () => {
  it('puts every duration into the first bucket whose bound it does not exceed', () => {
    fc.assert(
      fc.property(durations, (ms) => {
        const found = histogramOf([ms]).buckets.indexOf(1)
        const wanted = DURATION_BOUNDS_MS.findIndex((bound) => ms <= bound)
        expect(found).toBe(wanted === -1 ? DURATION_BOUNDS_MS.length : wanted)
      }),
      { numRuns: 2_000 },
    )
  })

  it('gives quantiles that are at most 19 % too long, and never too short', () => {
    fc.assert(
      fc.property(
        fc.array(durations, { minLength: 1, maxLength: 200 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (values, share) => {
          const sorted = [...values].sort((a, b) => a - b)
          const exact = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]
          const found = durationQuantile(histogramOf(values), share)
          expect(found).toBeGreaterThanOrEqual(exact)
          if (exact > 0.001 && exact <= DURATION_BOUNDS_MS[DURATION_BOUNDS_MS.length - 1])
            expect(found / exact).toBeLessThan(1.19)
        },
      ),
    )
  })

  it('counts and adds up, and has no quantile without durations', () => {
    const reading = histogramOf([0.5, 1.5, 30_000])
    expect(reading.count).toBe(3)
    expect(reading.sumMs).toBe(30_002)
    expect(durationQuantile(reading, 1)).toBe(Infinity)
    expect(durationQuantile(histogramOf([]), 0.99)).toBe(0)
    expect(() => durationQuantile(reading, 99)).toThrow('share must be from 0 to 1, such as 0.99, got 99')
  })

  it('is written with a bucket for each doubling of a microsecond', () => {
    const text = new PrometheusText()
      .metric('d_seconds', 'histogram', 'Test.')
      .durations({ a: 'b' }, histogramOf([1, 3, 30_000]))
    const { samples } = parseExposition(text.toString()).get('d_seconds') ?? { samples: new Map<string, number>() }
    expect(samples.get('d_seconds_bucket{a="b",le="0.000001"}')).toBe(0)
    expect(samples.get('d_seconds_bucket{a="b",le="0.001024"}')).toBe(1)
    expect(samples.get('d_seconds_bucket{a="b",le="0.004096"}')).toBe(2)
    expect(samples.get('d_seconds_bucket{a="b",le="16.777216"}')).toBe(2)
    expect(samples.get('d_seconds_bucket{a="b",le="+Inf"}')).toBe(3)
    expect(samples.get('d_seconds_sum{a="b"}')).toBeCloseTo(30.004)
  })
})

describe('a Prometheus text', () => {
  it('is read back as it was written, whatever the labels and the help', () => {
    fc.assert(
      fc.property(hostileText, hostileText, fc.double(), (label, help, value) => {
        const text = new PrometheusText().metric('m', 'gauge', help).sample({ label }, value)
        const { samples } = parseExposition(text.toString()).get('m') ?? { samples: new Map<string, number>() }
        expect(samples.get(`m{label=${JSON.stringify(label.toWellFormed())}}`)).toBe(value === 0 ? 0 : value)
      }),
    )
  })

  it('refuses bad names, and a metric that is written twice', () => {
    const text = new PrometheusText().metric('m', 'gauge', 'Test.')
    expect(() => text.metric('m', 'gauge', 'Test.')).toThrow('not written yet')
    expect(() => text.metric('a b', 'gauge', 'Test.')).toThrow('name must be')
    expect(() => text.sample({ 'a-b': 'c' }, 1)).toThrow('label must be')
  })
})
