/**
 * Random limits with their numbers as exact fractions, and random series of requests on clocks that stand still, advance
 * by less than a microsecond, leap and step back. Nothing here uses the library's arithmetic: a text such as '2.5/7s' is
 * generated together with its exact value.
 */

import fc, { type Arbitrary } from 'fast-check'
import type { Duration, Rate } from 'sluice'
import {
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  parseLimit,
  slidingLog,
  slidingWindow,
  tokenBucket,
  type Unlimited,
} from 'sluice'

/** `npm run test:long` sets it: the longest tests then do all of their runs. */
export const isLong = process.env.SLUICE_LONG === '1'
/** At least this many runs a property. */
export const RUNS = { numRuns: isLong ? 1_000 : 250 }

/** `units` every `perUs` microseconds. */
export interface ExactRate {
  readonly text: Rate
  readonly units: bigint
  readonly perUs: bigint
}

/** A limit that has numbers. */
export type CountedLimit = Exclude<Limit, Unlimited>

/** A limit, and its numbers as the generator made them. */
export interface LimitCase {
  readonly limit: CountedLimit
  readonly quota: bigint
  /** The rate of a bucket. */
  readonly rate: ExactRate
  /** The length of a window or log, or a `ttl`. */
  readonly windowUs: bigint
  readonly slices: bigint
  readonly alignFirst: boolean
  /** The time in which a unit comes back or a slice ends. */
  readonly scaleUs: bigint
}

/** One request: the exact microsecond, the time that the clock shows then, and the cost. */
export interface Ask {
  readonly us: bigint
  readonly nowMs: number
  readonly cost: number
}

/** A limit and the requests that one key makes of it. */
export interface Series {
  readonly given: LimitCase
  readonly asks: readonly Ask[]
}

const UNIT_US = { ms: 1_000n, s: 1_000_000n, m: 60_000_000n, h: 3_600_000_000n, d: 86_400_000_000n }
const LARGEST_EXACT = 2n ** 50n
const NO_RATE: ExactRate = { text: '1/ms', units: 1n, perUs: 1n }

export const rates: Arbitrary<ExactRate> = fc
  .record({
    whole: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 2_000_000 })),
    decimals: fc.oneof(fc.constant(''), fc.stringMatching(/^[0-9]{1,3}$/)),
    count: fc.oneof(fc.constant(''), fc.integer({ min: 1, max: 500 }).map(String)),
    unit: fc.constantFrom('ms', 's', 's', 's', 'm', 'h', 'd'),
  })
  .map(({ whole, decimals, count, unit }) => ({
    text: `${whole}${decimals && `.${decimals}`}/${count}${unit}` as Rate,
    units: BigInt(`${whole}${decimals}`),
    perUs: BigInt(count || 1) * UNIT_US[unit as keyof typeof UNIT_US] * 10n ** BigInt(decimals.length),
  }))
  .filter(({ units }) => units > 0n)

export const capacities = fc.oneof(
  fc.integer({ min: 1, max: 6 }),
  fc.integer({ min: 1, max: 100 }),
  fc.integer({ min: 1, max: 100_000 }),
)

/** A rate and a capacity that float64 can count without rounding, and that fill within four months. */
const exactBuckets = fc.record({ capacity: capacities, rate: rates }).filter(({ capacity, rate }) => {
  const perUs = rate.perUs / greatestCommonDivisor(rate.units, rate.perUs)
  return BigInt(capacity) * perUs <= LARGEST_EXACT && BigInt(capacity) * rate.perUs <= rate.units * 10n ** 13n
})

const windows = fc.oneof(
  fc.integer({ min: 1, max: 100_000 }).map((ms) => ({ text: `${ms}ms` as Duration, us: BigInt(ms) * 1_000n })),
  fc
    .record({ count: fc.integer({ min: 1, max: 30 }), unit: fc.constantFrom('ms', 's', 'm', 'h', 'd') })
    .map(({ count, unit }) => ({ text: `${count}${unit}` as Duration, us: BigInt(count) * UNIT_US[unit] })),
  fc.integer({ min: 1_000, max: 9_999_999 }).map((us) => ({
    text: `${Math.floor(us / 1000)}.${String(us % 1000).padStart(3, '0')}ms` as Duration,
    us: BigInt(us),
  })),
)

const quotas = fc.oneof(
  fc.integer({ min: 1, max: 6 }),
  fc.integer({ min: 1, max: 100 }),
  fc.integer({ min: 1, max: 1_000 }),
)

export const tokenBuckets: Arbitrary<LimitCase> = exactBuckets.map(({ capacity, rate }) =>
  bucketCase(tokenBucket({ capacity, refill: rate.text }), capacity, rate),
)

export const leakyBuckets: Arbitrary<LimitCase> = exactBuckets.map(({ capacity, rate }) =>
  bucketCase(leakyBucket({ capacity, drain: rate.text }), capacity, rate),
)

export const fixedWindows: Arbitrary<LimitCase> = fc
  .record({ quota: quotas, window: windows, align: fc.constantFrom('epoch', 'first') })
  .map(({ quota, window, align }) =>
    windowCase(fixedWindow({ quota, window: window.text, align }), quota, window.us, 1, align),
  )

export const slidingWindows: Arbitrary<LimitCase> = fc
  .record({
    quota: quotas,
    window: windows,
    slices: fc.oneof(fc.constant(1), fc.constantFrom(2, 3, 7, 10), fc.integer({ min: 1, max: 100 })),
    align: fc.constantFrom('epoch', 'epoch', 'first'),
  })
  .map(({ quota, window, slices, align }) =>
    windowCase(slidingWindow({ quota, window: window.text, slices, align }), quota, window.us, slices, align),
  )

export const slidingLogs: Arbitrary<LimitCase> = fc
  .record({ quota: quotas, window: windows })
  .map(({ quota, window }) =>
    windowCase(slidingLog({ quota, window: window.text }), quota, window.us, 1, 'epoch' as const),
  )

const concurrencies: Arbitrary<LimitCase> = fc
  .record({ max: quotas, ttl: windows })
  .map(({ max, ttl }) => windowCase(concurrency({ max, ttl: ttl.text }), max, ttl.us, 1, 'epoch' as const))

/** The generators, by the algorithm's name in a limit. Of unlimited limits there is only one. */
export const BY_ALGORITHM: Readonly<Record<CountedLimit['algorithm'], Arbitrary<LimitCase>>> = {
  'token-bucket': tokenBuckets,
  'leaky-bucket': leakyBuckets,
  'fixed-window': fixedWindows,
  'sliding-window': slidingWindows,
  'sliding-log': slidingLogs,
  concurrency: concurrencies,
}

export const anyLimit = fc.oneof(...Object.values(BY_ALGORITHM))

export interface RawStep {
  readonly eighths: number
  readonly offUs: number
  readonly noiseUs: number
  readonly cost: number
  readonly share: number
}

const steps = (back: boolean): Arbitrary<RawStep> =>
  fc.record({
    eighths: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 4, arbitrary: fc.integer({ min: 0, max: 9 }) },
      { weight: 1, arbitrary: fc.integer({ min: 8, max: 40 }) },
      ...(back ? [{ weight: 2, arbitrary: fc.integer({ min: -20, max: -1 }) }] : []),
    ),
    offUs: fc.oneof(fc.constant(0), fc.integer({ min: back ? -2 : 0, max: 2 }), fc.integer({ min: 0, max: 999 })),
    noiseUs: fc.constantFrom(0, 0, 0.4, -0.4, 0.1),
    cost: fc.constantFrom(0, 1, 1, 1, 1, 2, 3, -1, -2, -3),
    share: fc.integer({ min: 0, max: 1_000 }),
  })

/** Up to 40 steps in time. With `back`, some of them go back. */
export const rawSteps = (back: boolean, maxLength = 40): Arbitrary<readonly RawStep[]> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.array(steps(back), { minLength: 1, maxLength, size: 'max' }) },
    // A clock that stands still.
    {
      weight: 1,
      arbitrary: fc
        .array(steps(false), { minLength: 1, maxLength, size: 'max' })
        .map((all) => all.map((step) => ({ ...step, eighths: 0, offUs: 0 }))),
    },
  )

/** When a series begins, in microseconds. An aligned series begins at a multiple of the limit's `scaleUs`. */
export const starts = fc.record({
  us: fc.oneof(
    fc.constant(0n),
    fc.bigInt({ min: 0n, max: 10_000_000n }),
    fc.bigInt({ min: 0n, max: 10n ** 12n }).map((us) => 1_745_000_100_000_000n + us),
    fc.bigInt({ min: 0n, max: 4n * 10n ** 15n }),
  ),
  aligned: fc.boolean(),
})

/**
 * The milliseconds that a clock shows at a time in microseconds, off by `noiseUs`. For times of today the noise is divided
 * by four, because a float64 of today's milliseconds is itself off by up to a quarter of a microsecond.
 */
export function clockMs(us: bigint, noiseUs: number): number {
  return Math.max(0, (Number(us) + (us < 2n ** 40n ? noiseUs : noiseUs / 4)) / 1000)
}

/** How long a step takes under a limit. */
export function stepUs({ eighths, offUs }: RawStep, { scaleUs }: LimitCase): bigint {
  return (scaleUs * BigInt(eighths)) / 8n + BigInt(offUs)
}

/** The cost of a step under a limit: a small number, the quota, the quota plus one, or a share of the quota. */
export function stepCost({ cost, share }: RawStep, { quota }: LimitCase): number {
  if (cost >= 0) return cost
  if (cost === -1) return Math.floor((Number(quota) * share) / 1000)
  return cost === -2 ? Number(quota) : Number(quota) + 1
}

export function startUs({ us, aligned }: { us: bigint; aligned: boolean }, { scaleUs }: LimitCase): bigint {
  return aligned ? us - (us % scaleUs) : us
}

/** Random requests of random limits. */
export function series(limits: Arbitrary<LimitCase>, { back }: { back: boolean }): Arbitrary<Series> {
  return fc.record({ given: limits, start: starts, steps: rawSteps(back) }).map(({ given, start, steps }) => {
    let us = startUs(start, given)
    const asks = steps.map((step) => {
      us += stepUs(step, given)
      if (us < 0n) us = 0n
      return { us, nowMs: clockMs(us, step.noiseUs), cost: stepCost(step, given) }
    })
    return { given, asks }
  })
}

function bucketCase(limit: CountedLimit, capacity: number, rate: ExactRate): LimitCase {
  const scaleUs = larger(rate.perUs / rate.units, 1n)
  return { limit, quota: BigInt(capacity), rate, windowUs: 1n, slices: 1n, alignFirst: false, scaleUs }
}

export function windowCase(
  limit: CountedLimit,
  quota: number,
  windowUs: bigint,
  slices: number,
  align: 'epoch' | 'first',
): LimitCase {
  const scaleUs = larger(windowUs / BigInt(slices), 1n)
  const alignFirst = align === 'first'
  return { limit, quota: BigInt(quota), rate: NO_RATE, windowUs, slices: BigInt(slices), alignFirst, scaleUs }
}

/** The same window or concurrency limit with another quota. */
export function givenQuota(given: LimitCase, quota: number): LimitCase {
  const changed = 'max' in given.limit ? { ...given.limit, max: quota } : { ...given.limit, quota }
  return { ...given, limit: parseLimit(changed) as CountedLimit, quota: BigInt(quota) }
}

/** The same limits, one in ten of them with a quota of 0. */
export function someOfNothing(limits: Arbitrary<LimitCase>): Arbitrary<LimitCase> {
  return fc.oneof({ weight: 9, arbitrary: limits }, { weight: 1, arbitrary: ofNothing(limits) })
}

/** The same limits, with a quota of 0. */
export function ofNothing(limits: Arbitrary<LimitCase>): Arbitrary<LimitCase> {
  return limits.map((given) => {
    if (!('capacity' in given.limit)) return givenQuota(given, 0)
    return { ...given, limit: parseLimit({ ...given.limit, capacity: 0 }) as CountedLimit, quota: 0n }
  })
}

/** A numerator over a denominator above 0. */
export type Fraction = readonly [bigint, bigint]

/** A float64 as an exact fraction. */
export function fraction(value: number): Fraction {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is no fraction`)
  let numerator = value
  let denominator = 1n
  while (!Number.isInteger(numerator)) {
    numerator *= 2
    denominator *= 2n
  }
  return [BigInt(numerator), denominator]
}

export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b)
}
