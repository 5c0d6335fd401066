/** Random limits with the longest windows, most slices and largest quotas, at times up to the last that can be counted. */

import fc, { type Arbitrary } from 'fast-check'
import type { Duration, Rate } from 'sluice'
import { concurrency, fixedWindow, type Limit, leakyBucket, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { type Ask, type LimitCase, type Series, windowCase } from './arbitraries.js'

/** The last microsecond that a float64 can tell from the one before it, in June 2255. */
export const LAST_US = 2n ** 53n - 1n
const LONGEST_US = 36_500n * 86_400_000_000n
const MS_US = 1_000n
const DAY_US = 86_400_000_000n

const windowsUs: Arbitrary<bigint> = fc.oneof(
  fc.constantFrom(LONGEST_US, LONGEST_US - 1n, LONGEST_US / 2n, 3_650n * DAY_US),
  fc.bigInt({ min: MS_US, max: LONGEST_US }),
  fc.bigInt({ min: MS_US, max: DAY_US }),
)

const quotas = fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 1e15 }), fc.constant(1e15))
const logQuotas = fc.integer({ min: 1, max: 20 })
const aligns = fc.constantFrom('epoch' as const, 'first' as const)

function durationText(us: bigint): Duration {
  return `${us / 1_000n}.${String(us % 1_000n).padStart(3, '0')}ms` as Duration
}

const fixedWindows = fc
  .record({ quota: quotas, us: windowsUs, align: aligns })
  .map(({ quota, us, align }) =>
    windowCase(fixedWindow({ quota, window: durationText(us), align }), quota, us, 1, align),
  )

/** Sliding windows with one slice, with as many as a window may have, or with a number between. */
const slidingWindows = fc
  .record({ quota: quotas, us: windowsUs, share: fc.constantFrom(0, 1, 0.5, 0.1), align: aligns })
  .map(({ quota, us, share, align }) => {
    const most = Math.min(100, Number(LAST_US / us))
    const slices = Math.max(1, Math.floor(most * share))
    return windowCase(slidingWindow({ quota, window: durationText(us), slices, align }), quota, us, slices, align)
  })

const logs = fc
  .record({ quota: logQuotas, us: windowsUs, isLog: fc.boolean() })
  .map(({ quota, us, isLog }) =>
    windowCase(
      isLog ? slidingLog({ quota, window: durationText(us) }) : concurrency({ max: quota, ttl: durationText(us) }),
      quota,
      us,
      1,
      'epoch',
    ),
  )

/** Buckets that float64 counts without rounding: up to 2^50 parts, which may take 35 years to fill. */
const buckets = fc
  .record({
    capacity: quotas,
    units: fc.oneof(fc.bigInt({ min: 1n, max: 9n }), fc.bigInt({ min: 1n, max: 10n ** 15n - 1n })),
    count: fc.oneof(fc.bigInt({ min: 1n, max: 9n }), fc.bigInt({ min: 1n, max: 12_000n })),
    unit: fc.constantFrom(['ms', MS_US] as const, ['d', DAY_US] as const),
    isToken: fc.boolean(),
  })
  .filter(({ capacity, count, unit }) => BigInt(capacity) * count * unit[1] <= 2n ** 50n)
  .map(({ capacity, units, count, unit: [name, unitUs], isToken }): LimitCase => {
    const text = `${units}/${count}${name}` as Rate
    const limit: Limit = isToken ? tokenBucket({ capacity, refill: text }) : leakyBucket({ capacity, drain: text })
    const perUs = count * unitUs
    const given = windowCase(limit, capacity, perUs / units > 0n ? perUs / units : 1n, 1, 'epoch')
    return { ...given, rate: { text, units, perUs } }
  })

/** The generators, by the kind of arithmetic. */
export const FAR_LIMITS: Readonly<Record<string, Arbitrary<LimitCase>>> = {
  'fixed-window': fixedWindows,
  'sliding-window': slidingWindows,
  log: logs,
  bucket: buckets,
}

const startsUs = fc.oneof(
  fc.bigInt({ min: 0n, max: LAST_US }),
  fc.bigInt({ min: LAST_US - LONGEST_US, max: LAST_US }),
  fc.bigInt({ min: LAST_US - DAY_US, max: LAST_US }),
)

const steps = fc.array(
  fc.record({
    eighths: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 9n }), fc.bigInt({ min: -9n, max: 17n })),
    offUs: fc.bigInt({ min: -2n, max: 2n }),
    cost: fc.constantFrom(0, 1, 2, 'some', 'some', 'all') as Arbitrary<number | 'some' | 'all'>,
    share: fc.integer({ min: 0, max: 1_000 }),
  }),
  { minLength: 1, maxLength: 8, size: 'max' },
)

/** Random requests at far times, at microseconds that a clock in milliseconds can show. */
export function farSeries(limits: Arbitrary<LimitCase>, { back }: { back: boolean }): Arbitrary<Series> {
  return fc
    .record({ given: limits, startUs: startsUs, aligned: fc.boolean(), steps })
    .map(({ given, startUs, aligned, steps }) => {
      const { scaleUs, quota } = given
      let us = aligned ? startUs - (startUs % scaleUs) : startUs
      const asks = steps.map(({ eighths, offUs, cost, share }): Ask => {
        const stepUs = (scaleUs * eighths) / 8n + offUs
        us = clamped(us + (back || stepUs > 0n ? stepUs : -stepUs))
        const nowMs = Math.min(Number(us) / 1_000, Number(LAST_US) / 1_000)
        const part = cost === 'some' ? Math.ceil((Number(quota) * share) / 1_000) : cost
        return { us: shownUs(nowMs), nowMs, cost: part === 'all' ? Number(quota) : part }
      })
      return { given, asks }
    })
}

/** The whole microsecond nearest to a time in milliseconds. */
function shownUs(nowMs: number): bigint {
  return BigInt(Math.floor(nowMs * 1_000 + 0.5))
}

function clamped(us: bigint): bigint {
  return us < 0n ? 0n : us > LAST_US ? LAST_US : us
}
