import fc, { type Arbitrary } from 'fast-check'
import type { Duration, Rate } from 'sluice'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  type Limit,
  leakyBucket,
  memoryStore,
  type OnFailure,
  type SyncStore,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'
import { arithmeticOf, shareOf } from 'sluice/limits'
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, it } from 'vitest'
import { FailingStore } from '../../src/testing/failing-store.js'
import { BY_ALGORITHM, clockMs, isLong, type LimitCase, stepCost, stepUs } from './arbitraries.js'

// Thousands of limits here are refused or have no share. Each would emit a warning and collect a stack trace.
const { emitWarning } = process
const { stackTraceLimit } = Error
beforeAll(() => {
  process.emitWarning = () => {}
  Error.stackTraceLimit = 0
})
afterAll(() => {
  process.emitWarning = emitWarning
  Error.stackTraceLimit = stackTraceLimit
})

const UNIT_US: Readonly<Record<string, bigint>> = {
  ms: 1_000n,
  s: 1_000_000n,
  m: 60_000_000n,
  h: 3_600_000_000n,
  d: 86_400_000_000n,
}

/** A rate as an exact fraction, read without the library. */
function exact(rate: string): { units: bigint; perUs: bigint } {
  const [, whole, decimals = '', count, unit] = /^(\d+)(?:\.(\d+))?\/(\d*)([a-z]+)$/.exec(rate) as string[]
  return {
    units: BigInt(whole + decimals),
    perUs: BigInt(count || 1) * UNIT_US[unit] * 10n ** BigInt(decimals.length),
  }
}

const rateOf = (limit: Limit) => ('refill' in limit ? limit.refill : 'drain' in limit ? limit.drain : undefined)
const quotaOf = (limit: Limit) =>
  BigInt('capacity' in limit ? limit.capacity : 'max' in limit ? limit.max : 'quota' in limit ? limit.quota : 0)

/** Numbers of up to so many digits. Each length is equally likely. */
const upTo = (digits: number) =>
  fc.tuple(fc.nat(digits - 1), fc.nat(2 ** 30), fc.nat(2 ** 20)).map(([length, high, low]) => {
    const most = 10 ** (length + 1)
    return 1 + Math.floor(((high * 2 ** 20 + low) / 2 ** 50) * (most - 1))
  })

const rates = fc
  .tuple(
    upTo(15),
    fc.nat(9),
    fc.nat(999_999_999),
    fc.option(upTo(9), { nil: '' }),
    fc.constantFrom('ms', 's', 'm', 'h', 'd'),
  )
  .map(([count, places, fraction, period, unit]) => {
    const decimals = places === 0 ? '' : `.${String(fraction).padStart(9, '0').slice(0, places)}`
    return `${count % 3 === 0 && decimals !== '' ? 0 : count}${decimals}/${period}${unit}` as Rate
  })

const durations = fc
  .tuple(upTo(9), fc.constantFrom('ms', 's', 'm', 'h', 'd'))
  .map(([count, unit]): Duration => `${count}${unit}`)

/** Any limit that its function accepts. */
const limits: Arbitrary<Limit> = fc
  .tuple(fc.nat(5), upTo(15), rates, durations, fc.nat(99), fc.boolean())
  .map(([algorithm, quota, rate, window, slices, first]) => {
    const align = first ? 'first' : 'epoch'
    const few = 1 + (quota % 1_000_000)
    try {
      switch (algorithm) {
        case 0:
          return tokenBucket({ capacity: quota, refill: rate })
        case 1:
          return leakyBucket({ capacity: quota, drain: rate })
        case 2:
          return fixedWindow({ quota, window, align })
        case 3:
          return slidingWindow({ quota, window, slices: 1 + slices, align })
        case 4:
          return slidingLog({ quota: few, window })
        default:
          return concurrency({ max: few, ttl: window })
      }
    } catch {
      return undefined
    }
  })
  .filter((limit) => limit !== undefined)

/** The options that a share divides. The others stay the same. */
const DIVIDED = ['capacity', 'quota', 'max', 'refill', 'drain']

/** All shares together keep the limit's law, and each is as large as that allows. */
function checkShare(limit: Limit, share: Limit | undefined, instances: number): void {
  const many = BigInt(instances)
  const [quota, rate] = [quotaOf(limit), rateOf(limit)]
  if (share === undefined) {
    if (quota < many) return
    // The bucket takes nearly 2^50 µs to fill, the longest time that can be counted, and its rate has no exact share.
    const { units, perUs } = exact(rate ?? 'a limit without a rate has a share')
    if (quota * perUs * 1_000_000n < units * 2n ** 50n * 999_999n) throw new Error('a share is missing')
    return
  }
  if (quotaOf(share) !== quota / many) throw new Error(`a share has ${quotaOf(share)} units`)
  for (const [name, value] of Object.entries(limit))
    if (!DIVIDED.includes(name) && share[name as keyof Limit] !== value) throw new Error(`a share has another ${name}`)
  if (rate === undefined) return
  const [whole, part] = [exact(rate), exact(rateOf(share) as string)]
  const [partsPerUnit, partsPerUs] = arithmeticOf(share).remote.parameters.map(BigInt)
  for (const [units, perUs] of [
    [part.units, part.perUs],
    // The rate that the arithmetic counts with, unless a microsecond fills the bucket anyway.
    ...(partsPerUs < 2n ** 53n ? [[partsPerUs, partsPerUnit]] : []),
  ]) {
    const [shares, all] = [units * many * whole.perUs, whole.units * perUs]
    if (shares > all) throw new Error(`${instances} shares of ${rate} come to more`)
    if (instances > 1 && shares * 1_000_000n < all * 999_998n) throw new Error(`a share of ${rate} is too slow`)
  }
}

const FAILURE = new Error('the store is unreachable')
const fail = () => {
  throw FAILURE
}

/** A few calls, some of them while the store fails. The bits of a moment choose the call, its time and its cost. */
function live(limit: Limit, instances: number, onFailure: OnFailure, moments: readonly number[]): void {
  const clock = new ManualClock(1_745_000_000_000)
  const failing = new FailingStore(memoryStore({ clock, seed: [1, 2] }), { instances })
  const limiter = createLimiter({ name: 'a', limit, store: failing.store as SyncStore, onFailure })
  for (const moment of moments) {
    failing.failure = moment & 1 ? fail : undefined
    const call = (['tryAcquire', 'tryAcquire', 'charge', 'refund'] as const)[(moment >> 4) & 3]
    // A log remembers each unit that is charged. With a million units the test would take minutes.
    const most = call === 'charge' ? 100 : Number.MAX_SAFE_INTEGER
    const cost = [0, 1, 1, 2, 3, 100, most, 1][(moment >> 1) & 7]
    clock.advance((moment >> 6) & 1 ? (moment >> 7) & 0xffff : 0)
    const decision = limiter[call]('key', { cost })
    if (decision.degraded !== (moment & 1 ? onFailure : undefined)) throw new Error(`degraded: ${decision.degraded}`)
    const reservation = limiter.reserve('key')
    failing.failure = (moment >> 23) & 1 ? fail : undefined
    reservation.cancel()
  }
}

it('the shares of a limit together keep its law, and no call throws while the store fails', () => {
  const instances = fc.oneof(fc.integer({ min: 1, max: 10 }), upTo(6))
  const moments = fc.array(fc.nat(2 ** 24), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(
      limits,
      instances,
      fc.constantFrom<OnFailure>('local', 'local', 'open', 'closed'),
      moments,
      (limit, instances, onFailure, moments) => {
        checkShare(limit, shareOf(limit, instances), instances)
        live(limit, instances, onFailure, moments)
      },
    ),
    { numRuns: isLong ? 100_000 : 30_000 },
  )
}, 120_000)

const START_US = 1_745_000_000_000_000n

/** Admitted units, and the time since the start. */
interface Admitted {
  readonly us: bigint
  readonly units: bigint
}

/** The most units that the law of a limit admits in any interval of this length. */
function mostIn({ limit, quota, rate, windowUs }: LimitCase, us: bigint): bigint {
  if ('capacity' in limit) return quota + (rate.units * us) / rate.perUs
  const isSliding = limit.algorithm === 'sliding-log' || limit.algorithm === 'concurrency'
  // Other windows have boundaries, and a quota may pass on both sides of a boundary.
  return isSliding ? quota * (us / windowUs + 1n) : quota * (us / windowUs + 2n)
}

/** Windows aligned to the epoch begin at the same time in every process, so each admits at most one quota. */
function checkWindows({ limit, quota, windowUs, alignFirst }: LimitCase, admitted: readonly Admitted[]): void {
  if (!limit.algorithm.endsWith('window') || alignFirst) return
  const counts = new Map<bigint, bigint>()
  for (const { us, units } of admitted) {
    const window = (START_US + us) / windowUs
    const count = (counts.get(window) ?? 0n) + units
    if (count > quota) throw new Error(`${count} units in a window of ${quota}`)
    counts.set(window, count)
  }
}

it.each(Object.entries(BY_ALGORITHM))('processes whose store fails together keep the law of a %s', (_, cases) => {
  const steps = fc.array(
    fc.record({
      process: fc.nat(4),
      eighths: fc.integer({ min: 0, max: 20 }),
      offUs: fc.nat(2),
      noiseUs: fc.constant(0),
      cost: fc.constantFrom(1, 1, 2, -1),
      share: fc.nat(400),
    }),
    { minLength: 1, maxLength: 40, size: 'max' },
  )
  fc.assert(
    fc.property(cases, fc.integer({ min: 1, max: 5 }), steps, (given, instances, steps) => {
      const clock = new ManualClock(clockMs(START_US, 0))
      const limiters = Array.from({ length: instances }, () => {
        const failing = new FailingStore(memoryStore({ clock }), { instances, onFailure: 'local' })
        failing.failure = () => undefined
        return createLimiter({ name: 'a', limit: given.limit, store: failing.store as SyncStore })
      })
      let us = 0n
      const admitted: Admitted[] = []
      for (const step of steps) {
        us += stepUs(step, given)
        clock.advance(clockMs(START_US + us, 0) - clock.now())
        const cost = stepCost(step, given)
        const decision = limiters[step.process % instances].tryAcquire('key', { cost })
        if (decision.degraded !== 'local') throw new Error(`degraded: ${decision.degraded}`)
        if (decision.allowed) admitted.push({ us, units: BigInt(cost) })
      }
      checkWindows(given, admitted)
      for (let first = 0; first < admitted.length; first++) {
        let units = 0n
        for (const each of admitted.slice(first)) {
          units += each.units
          // A clock in milliseconds may be off by a microsecond.
          const most = mostIn(given, each.us - admitted[first].us + 1n)
          if (units > most) throw new Error(`${units} units where ${most} may pass`)
        }
      }
    }),
    { numRuns: 300 },
  )
})
