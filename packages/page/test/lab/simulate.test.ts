/** The lab shows what the library decides: every run is held against a limiter on a memory store with a clock moved by hand. */
import fc from 'fast-check'
import { createLimiter, type Limit, type Limiter } from 'sluice'
import { arithmeticOf, durationUs, fixedWindow, slidingWindow, tokenBucket } from 'sluice/limits'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { settingsOf } from '../../src/lab/articles/preset.js'
import { PRESETS } from '../../src/lab/articles/presets.js'
import { mostInWindow } from '../../src/lab/engine/most-in-window.js'
import { type Run, simulate, type Traffic } from '../../src/lab/engine/simulate.js'
import { DraftProblem } from '../../src/lab/settings/draft.js'
import { runLab } from '../../src/lab/settings/lab-settings.js'

const KEY = 'key'

/** A limiter that is asked at times since the traffic's origin. */
class AskedLimiter {
  readonly #clock: ManualClock
  readonly #originUs: number
  readonly limiter: Limiter

  constructor(limit: Limit, originUs: number) {
    this.#originUs = originUs
    this.#clock = new ManualClock(originUs / 1_000)
    this.limiter = createLimiter({ limit, clock: this.#clock })
  }

  at(us: number): Limiter {
    this.#clock.advance((this.#originUs + us) / 1_000 - this.#clock.now())
    return this.limiter
  }
}

/** Asks a limiter about the same arrivals, and looks at it wherever the curve has a point. */
function expectLimiterAgrees(run: Run, traffic: Traffic, cost: number): void {
  const asked = new AskedLimiter(run.limit, traffic.originUs)
  const { atUs, level } = run.curve
  const left = (us: number) => asked.at(us).peek(KEY).remaining
  const departures: number[] = []
  let longestWaitMs = 0
  let point = 0
  const lookUntil = (us: number) => {
    for (; point < atUs.length && atUs[point] < us; point++) expect(Math.floor(level[point])).toBe(left(atUs[point]))
  }
  for (let i = 0; i < traffic.atUs.length; ) {
    const now = traffic.atUs[i]
    lookUntil(now)
    // A chart may show what was left before, between and after the requests of one time.
    const seen = new Set([left(now)])
    for (; traffic.atUs[i] === now; i++) {
      const { allowed, delayMs } = asked.at(now).tryAcquire(KEY, { cost })
      expect(run.admitted[i]).toBe(Number(allowed))
      seen.add(left(now))
      if (!allowed) continue
      departures.push(now + delayMs * 1_000)
      longestWaitMs = Math.max(longestWaitMs, delayMs)
    }
    for (; atUs[point] === now; point++) expect(seen).toContain(Math.floor(level[point]))
  }
  lookUntil(Infinity)
  expect([...run.departsUs]).toEqual(departures)
  const arrived = traffic.atUs.length
  const admitted = departures.length
  expect(run.totals).toMatchObject({ arrived, admitted, denied: arrived - admitted, longestWaitMs })
}

const small = PRESETS.filter(({ id }) => id !== '001-client')

describe('presets', () => {
  it.each(small)('$id: decisions, departures and levels are those of a limiter', (preset) => {
    const { traffic, runs } = runLab(settingsOf(preset))
    if (traffic instanceof DraftProblem) throw traffic
    for (const run of runs) {
      if (run === undefined || run instanceof DraftProblem) throw run
      expectLimiterAgrees(run, traffic, 1)
    }
  })
})

const rate = fc
  .tuple(fc.integer({ min: 1, max: 500 }), fc.constantFrom('s', 'm', '7ms', '100ms'))
  .map(([count, per]) => `${count}/${per}` as `${number}/s`)
const window = fc.integer({ min: 1, max: 5_000 }).map((ms) => `${ms}ms` as const)
const quota = fc.integer({ min: 0, max: 40 })
const align = fc.constantFrom('epoch', 'first')
const anyLimit: fc.Arbitrary<Limit> = fc
  .oneof(
    fc.record({ algorithm: fc.constant('token-bucket'), capacity: quota, refill: rate }),
    fc.record({ algorithm: fc.constant('leaky-bucket'), capacity: quota, drain: rate }),
    fc.record({ algorithm: fc.constant('fixed-window'), quota, window, align }),
    fc.record({
      algorithm: fc.constant('sliding-window'),
      quota,
      window,
      align,
      slices: fc.integer({ min: 1, max: 12 }),
    }),
    fc.record({ algorithm: fc.constant('sliding-log'), quota, window }),
  )
  .map((limit) => arithmeticOf(limit as Limit).limit)
const anyTraffic: fc.Arbitrary<Traffic> = fc
  .record({
    originUs: fc.constantFrom(0, 1_763_514_123_000_000),
    gaps: fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 900_000 })), { maxLength: 120 }),
    after: fc.integer({ min: 1, max: 3_000_000 }),
  })
  .map(({ originUs, gaps, after }) => {
    let at = 0
    const atUs = Float64Array.from(gaps, (gap) => {
      at += gap
      return at
    })
    return { originUs, atUs, lengthUs: at + after }
  })

describe('any limit and any traffic', () => {
  it('decisions, departures and levels are those of a limiter', () => {
    fc.assert(
      fc.property(anyLimit, anyTraffic, fc.integer({ min: 1, max: 4 }), (limit, traffic, cost) => {
        expectLimiterAgrees(simulate(limit, traffic, cost, 1_000_000), traffic, cost)
      }),
      { numRuns: 150 },
    )
  })

  it('bars add up to what happened', () => {
    fc.assert(
      fc.property(anyLimit, anyTraffic, (limit, traffic) => {
        const { bars, totals, departsUs } = simulate(limit, traffic, 1, 1_000_000)
        const sum = (counts: Float64Array) => counts.reduce((total, each) => total + each, 0)
        const barEnd = bars.departed.length * bars.widthUs
        expect(sum(bars.admitted)).toBe(totals.admitted)
        expect(sum(bars.denied)).toBe(totals.denied)
        expect(sum(bars.departed)).toBe(departsUs.filter((at) => at < barEnd).length)
      }),
    )
  })

  it('the most units in a window are those of the fullest window', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 500 })), fc.integer({ min: 1, max: 200 }), (times, length) => {
        const atUs = times.sort((a, b) => a - b)
        const counts = atUs.map((from) => atUs.filter((at) => at >= from && at < from + length).length)
        expect(mostInWindow(atUs, 3, length)).toBe(3 * Math.max(0, ...counts))
      }),
    )
  })
})

describe('the curve of the level', () => {
  it('rises continuously between the requests of a bucket', () => {
    const limit = tokenBucket({ capacity: 20, refill: '10/s' })
    const traffic = { originUs: 0, atUs: Float64Array.of(...new Array<number>(20).fill(0)), lengthUs: 1_200_000 }
    const { curve } = simulate(limit, traffic, 1, 1_000_000)
    const at = (us: number) => curve.level[curve.atUs.lastIndexOf(us)]
    expect([at(0), at(50_000), at(100_000), at(150_000)]).toEqual([0, 0.5, 1, 1.5])
  })

  it('steps where a window begins', () => {
    const limit = fixedWindow({ quota: 3, window: '1s' })
    const traffic = { originUs: 0, atUs: Float64Array.of(0, 0, 0), lengthUs: 6_000_000 }
    const { curve } = simulate(limit, traffic, 1, 1_000_000)
    const at = (us: number) => curve.level[curve.atUs.lastIndexOf(us)]
    expect([at(0), at(990_000), at(1_000_000)]).toEqual([0, 0, 3])
  })

  it('shows the lowest and highest level of each column, however many requests it has', () => {
    const limit = slidingWindow({ quota: 50, window: '1s' })
    const atUs = Float64Array.from({ length: 20_000 }, (_, i) => i * 100)
    const { curve } = simulate(limit, { originUs: 0, atUs, lengthUs: 2_000_000 }, 1, durationUs('window', '1s'))
    expect(curve.atUs.length).toBeLessThan(600 * 5)
    expect(Math.min(...curve.level)).toBe(0)
    expect(Math.max(...curve.level)).toBe(50)
    expect([...curve.atUs]).toEqual([...curve.atUs].sort((a, b) => a - b))
  })
})
