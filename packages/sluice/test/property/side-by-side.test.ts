/**
 * Two versions of a named limit in use at the same time, as during a deploy: a client's requests meet one version or the
 * other, in any order. Each law here states the most that the two versions admit together.
 */

import assert from 'node:assert/strict'
import fc, { type Arbitrary } from 'fast-check'
import type { Rate } from 'sluice'
import { concurrency, fixedWindow, type Limit, leakyBucket, memoryStore, slidingLog, tokenBucket } from 'sluice'
import { arithmeticOf } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import {
  BY_ALGORITHM,
  givenQuota,
  type LimitCase,
  RUNS,
  rawSteps,
  starts,
  startUs,
  stepCost,
  stepUs,
} from './arbitraries.js'
import { ExactClock } from './asking.js'
import { modelOf } from './exact-model.js'
import { KEY } from './lives.js'

/** A bucket's numbers; its rate is `units` every `perUs` microseconds. */
interface BucketCase {
  readonly capacity: number
  readonly units: bigint
  readonly perUs: bigint
  readonly rate: Rate
}

/** Units that one of the two versions admitted. */
interface Admission {
  readonly us: bigint
  readonly version: number
  readonly cost: number
}

const PERIODS_US = { ms: 1_000n, '250ms': 250_000n, s: 1_000_000n, m: 60_000_000n }

const bucketCases: Arbitrary<BucketCase> = fc
  .record({
    capacity: fc.integer({ min: 1, max: 30 }),
    units: fc.integer({ min: 1, max: 12 }),
    period: fc.constantFrom('ms', '250ms', 's', 's', 'm') as Arbitrary<keyof typeof PERIODS_US>,
  })
  .map(({ capacity, units, period }) => ({
    capacity,
    units: BigInt(units),
    perUs: PERIODS_US[period],
    rate: `${units}/${period}`,
  }))

/** Two buckets with the same capacity, with the same rate, or with nothing in common. */
const bucketPairs = fc
  .tuple(bucketCases, bucketCases, fc.constantFrom('capacity', 'rate', 'neither'))
  .map(([one, other, same]): readonly [BucketCase, BucketCase] => {
    if (same === 'capacity') return [one, { ...other, capacity: one.capacity }]
    return same === 'rate' ? [one, { ...one, capacity: other.capacity }] : [one, other]
  })

/** Requests that take a share of the remaining units, after a wait of a few eighths of the time of one unit. */
const requests = fc.array(
  fc.record({
    version: fc.nat(1),
    timeOf: fc.nat(1),
    eighths: fc.constantFrom(0, 0, 0, 1, 4, 8, 8, 9, 80),
    tenths: fc.constantFrom(0, 1, 5, 8, 9, 10, 10),
    least: fc.nat(2),
  }),
  { minLength: 1, maxLength: 60, size: 'max' },
)

const BUCKETS: Readonly<Record<string, (given: BucketCase) => Limit>> = {
  'token buckets': ({ capacity, rate }) => tokenBucket({ capacity, refill: rate }),
  'leaky buckets': ({ capacity, rate }) => leakyBucket({ capacity, drain: rate }),
}

describe('two versions of a bucket side by side', () => {
  for (const [name, make] of Object.entries(BUCKETS)) {
    it(`two ${name} admit at most the larger burst, the faster rate, and the difference for each return to the larger one`, () => {
      fc.assert(
        fc.property(bucketPairs, requests, (pair, requests) => {
          expectBound(pair, admissions(pair, pair.map(make), requests))
        }),
        RUNS,
      )
    })
  }

  it('a smaller bucket that is whole makes the larger one whole, which is why the difference is in the bound', () => {
    const clock = new ExactClock(1_745_000_100_000_000n)
    const store = memoryStore({ clock })
    const large = tokenBucket({ capacity: 100, refill: '1/h' })
    const small = tokenBucket({ capacity: 10, refill: '10/s' })
    store.decideOne('test', large, KEY, 10)
    for (let i = 0; i < 5; i++) {
      // The larger one leaves 10 units. The smaller one takes 1 of these, and is whole when that unit has come back.
      expect(store.decideOne('test', large, KEY, i === 0 ? 80 : 90)).toMatchObject({ allowed: true, remaining: 10 })
      expect(store.decideOne('test', small, KEY, 1)).toMatchObject({ allowed: true, remaining: 9 })
      clock.us += 99_999n
      expect(store.decideOne('test', large, KEY, 0).remaining).toBe(9)
      clock.us += 1n
      expect(store.decideOne('test', large, KEY, 0).remaining).toBe(100)
    }
  })

  it('a smaller queue that admits a request cuts the longer queue, which is why the difference is in the bound', () => {
    const clock = new ExactClock(1_745_000_100_000_000n)
    const store = memoryStore({ clock })
    const large = leakyBucket({ capacity: 100, drain: '10/s' })
    const small = leakyBucket({ capacity: 10, drain: '10/s' })
    store.decideOne('test', large, KEY, 100)
    for (let i = 0; i < 5; i++) {
      expect(store.decideOne('test', small, KEY, 1).allowed).toBe(false)
      clock.us += 100_000n
      expect(store.decideOne('test', small, KEY, 1)).toMatchObject({ allowed: true, remaining: 0 })
      expect(store.decideOne('test', large, KEY, 90)).toMatchObject({ allowed: true, remaining: 0 })
    }
  })
})

/** The admissions of the two versions, request after request. */
function admissions(
  pair: readonly BucketCase[],
  limits: readonly Limit[],
  asked: readonly { version: number; timeOf: number; eighths: number; tenths: number; least: number }[],
): readonly Admission[] {
  const clock = new ExactClock(1_745_000_100_000_000n)
  const store = memoryStore({ clock })
  return asked.flatMap(({ version, timeOf, eighths, tenths, least }) => {
    clock.us += (pair[timeOf].perUs * BigInt(eighths)) / pair[timeOf].units / 8n
    const { remaining } = store.decideOne('test', limits[version], KEY, 0)
    const cost = Math.max(least, Math.floor((remaining * tenths) / 10))
    const { allowed } = store.decideOne('test', limits[version], KEY, cost)
    return allowed && cost > 0 ? [{ us: clock.us, version, cost }] : []
  })
}

/**
 * From any admission i to any later one j:
 *
 *     units ≤ larger capacity + faster rate · (t(j) − t(i)) + returns · (larger capacity − smaller capacity)
 *
 * A return is an admission of the larger bucket right after one of the smaller. There the larger one may gain the
 * difference: the smaller token bucket was whole, so its state was gone and the larger one starts full; or the smaller
 * leaky bucket has cut the queue to its own capacity. With equal capacities the law is that of one bucket. After one
 * change to a smaller capacity there is no return, and after one change to a larger capacity there is one.
 *
 * A state is read in whole parts of a unit, so each request may gain the refill of half a microsecond by rounding.
 */
function expectBound([one, other]: readonly [BucketCase, BucketCase], taken: readonly Admission[]): void {
  const capacity = Math.max(one.capacity, other.capacity)
  const difference = Math.abs(one.capacity - other.capacity)
  const largeVersion = one.capacity > other.capacity ? 0 : 1
  const { units, perUs } = one.units * other.perUs > other.units * one.perUs ? one : other
  for (const [i, first] of taken.entries()) {
    let sum = 0
    let returns = 0
    for (let j = i; j < taken.length; j++) {
      sum += taken[j].cost
      if (j > i && taken[j].version === largeVersion && taken[j - 1].version !== largeVersion) returns++
      const most = BigInt(capacity + returns * difference) * perUs
      const refilled = units * (2n * (taken[j].us - first.us) + BigInt(j - i))
      assert(BigInt(2 * sum) * perUs <= 2n * most + refilled, `${sum} units from ${i} to ${j}, ${returns} returns`)
    }
  }
}

const WINDOWS = ['fixed-window', 'sliding-window', 'sliding-log', 'concurrency'] as const

/** Random steps, each with the version that receives the request. */
const steps = fc
  .record({ raw: rawSteps(false), versions: fc.array(fc.nat(1), { minLength: 40, maxLength: 40 }) })
  .map(({ raw, versions }) => raw.map((step, i) => ({ ...step, version: versions[i] })))

describe('two versions of a window side by side', () => {
  for (const algorithm of WINDOWS) {
    const limits = BY_ALGORITHM[algorithm]

    it(`two quotas of the same ${algorithm} have one count, and each limit compares it with its own quota`, () => {
      fc.assert(
        fc.property(limits, fc.integer({ min: 1, max: 40 }), starts, steps, (given, quota, start, steps) => {
          const versions = [given, givenQuota(given, quota)]
          const clock = new ExactClock(startUs(start, given))
          const store = memoryStore({ clock })
          const model = modelOf(given)
          for (const step of steps) {
            clock.us += stepUs(step, given)
            const version = versions[step.version]
            const cost = stepCost(step, version)
            const { allowed, remaining } = store.decideOne('test', version.limit, KEY, cost)
            const exact = model(clock.us, BigInt(cost), version.quota)
            assert.deepEqual({ allowed, remaining }, { allowed: exact.allowed, remaining: Number(exact.remaining) })
          }
        }),
        RUNS,
      )
    })

    if (algorithm === 'concurrency') continue
    it(`a ${algorithm} with another window has a count of its own, so a key gets both quotas`, () => {
      const pairs = fc.tuple(limits, limits).filter(([one, other]) => stateId(one) !== stateId(other))
      fc.assert(
        fc.property(pairs, starts, steps, (versions, start, steps) => {
          const clock = new ExactClock(startUs(start, versions[0]))
          const together = memoryStore({ clock })
          const apart = [memoryStore({ clock }), memoryStore({ clock })]
          for (const step of steps) {
            const { limit } = versions[step.version]
            clock.us += stepUs(step, versions[step.version])
            const cost = stepCost(step, versions[step.version])
            assert.deepEqual(
              together.decideOne('test', limit, KEY, cost),
              apart[step.version].decideOne('test', limit, KEY, cost),
            )
          }
        }),
        RUNS,
      )
    })
  }

  it('a concurrency limit with two ttls counts every place that is younger than the shorter ttl', () => {
    const ttls = fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }))
    const maxima = fc.tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }))
    const asks = fc.array(
      fc.record({ version: fc.nat(1), afterMs: fc.constantFrom(0, 0, 1, 3, 10, 40), cost: fc.nat(4) }),
      { minLength: 1, maxLength: 60, size: 'max' },
    )
    fc.assert(
      fc.property(ttls, maxima, asks, (ttlMs, maxima, asks) => {
        const clock = new ExactClock(1_745_000_100_000_000n)
        const store = memoryStore({ clock })
        const limits = ttlMs.map((ttl, i) => concurrency({ max: maxima[i], ttl: `${ttl}ms` }))
        const shorterUs = BigInt(Math.min(...ttlMs)) * 1_000n
        const taken: Admission[] = []
        for (const { version, afterMs, cost } of asks) {
          clock.us += BigInt(afterMs) * 1_000n
          if (!store.decideOne('test', limits[version], KEY, cost).allowed) continue
          taken.push({ us: clock.us, version, cost })
          const inFlight = taken.filter(({ us }) => clock.us - us < shorterUs)
          // The limit that admits a request has seen every unit that is younger than the shorter ttl.
          if (cost > 0) assert(inFlight.reduce((sum, { cost }) => sum + cost, 0) <= maxima[version])
        }
      }),
      RUNS,
    )
  })

  it('two windows of five and three units admit eight units', () => {
    for (const make of [fixedWindow, slidingLog]) {
      const store = memoryStore({ clock: new ExactClock(1_745_000_100_000_000n) })
      const versions = [make({ quota: 5, window: '1h' }), make({ quota: 3, window: '2h' })]
      let admitted = 0
      for (let i = 0; i < 50; i++)
        for (const limit of versions) if (store.decideOne('test', limit, KEY, 1).allowed) admitted++
      expect(admitted).toBe(8)
    }
  })
})

function stateId({ limit }: LimitCase): string {
  return arithmeticOf(limit).stateId
}
