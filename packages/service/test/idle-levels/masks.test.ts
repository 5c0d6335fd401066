import fc, { type Arbitrary } from 'fast-check'
import type { Duration, Rate } from 'sluice'
import {
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  memoryStore,
  slidingLog,
  slidingWindow,
  tokenBucket,
  unlimited,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it, test } from 'vitest'
import { masks } from '../../src/idle-levels/masks.js'

const token = (capacity: number, refill: Rate) => tokenBucket({ capacity, refill })
const leaky = (capacity: number, drain: Rate) => leakyBucket({ capacity, drain })
const fixed = (quota: number, window: Duration) => fixedWindow({ quota, window })
const sliding = (quota: number, window: Duration, slices = 1) => slidingWindow({ quota, window, slices })
const log = (quota: number, window: Duration) => slidingLog({ quota, window })

describe('a limit masks a wider limit', () => {
  it.each<[Limit, Limit]>([
    [token(10, '10/s'), token(10, '10/s')],
    [token(10, '10/s'), token(20, '600/m')],
    [token(10, '10/s'), leaky(10, '20/s')],
    [leaky(10, '10/s'), token(10, '10/s')],
    [leaky(10, '10/s'), leaky(11, '10/s')],
    [token(10, '10/s'), fixed(1000, '1m')],
    [token(10, '10/s'), sliding(2000, '1m', 10)],
    [token(10, '10/s'), log(610, '1m')],
    [leaky(10, '1/s'), fixed(70, '1m')],
    [fixed(10, '1s'), fixed(20, '1s')],
    [fixed(10, '1s'), fixed(1000, '1m')],
    [fixed(10, '1s'), token(20, '10/s')],
    [fixed(10, '1s'), leaky(20, '10/s')],
    [fixed(10, '1s'), log(20, '1s')],
    [fixed(10, '1s'), sliding(30, '1s')],
    [sliding(10, '1s', 4), sliding(10, '1s', 4)],
    [sliding(10, '1s'), fixed(20, '1s')],
    [sliding(10, '1s'), token(20, '10/s')],
    [sliding(10, '1s'), log(20, '1s')],
    [log(10, '1s'), log(10, '1s')],
    [log(10, '1s'), log(600, '1m')],
    [log(10, '1s'), fixed(10, '1s')],
    [log(10, '1s'), sliding(20, '1s', 3)],
    [log(10, '1s'), token(10, '10/s')],
    [log(10, '1s'), leaky(10, '10/s')],
    // Nothing passes a limit of 0, and everything passes no limit.
    [token(0, '10/s'), log(1, '1h')],
    [concurrency({ max: 0, ttl: '1s' }), fixed(1, '1d')],
    [fixed(0, '1s'), token(0, '10/s')],
    [log(0, '1s'), unlimited()],
    [token(10, '10/s'), unlimited()],
    [concurrency({ max: 5 }), unlimited()],
    [unlimited(), unlimited()],
  ])('%j, %j', (first, second) => {
    expect(masks(first, second)).toBe(true)
  })
})

describe('a limit does not mask a limit that admits less', () => {
  it.each<[Limit, Limit]>([
    [token(11, '10/s'), token(10, '10/s')],
    [token(10, '11/s'), token(10, '10/s')],
    [token(1, '10/s'), token(1000, '9.999999/s')],
    // Ten a second is 36,000 an hour, which is more than 250 a day.
    [token(10, '10/s'), fixed(250, '1d')],
    [token(10, '10/s'), log(609, '1m')],
    [fixed(10, '1s'), token(19, '10/s')],
    [fixed(10, '1s'), token(1000, '9/s')],
    // Twice the quota fits across a boundary.
    [fixed(10, '1s'), log(19, '1s')],
    [fixed(10, '1s'), fixed(599, '1m')],
    [log(10, '1s'), token(9, '10/s')],
    [log(10, '1s'), log(9, '1s')],
    [log(10, '1s'), fixed(599, '1m')],
    [sliding(11, '1s'), sliding(10, '1s')],
    [token(1, '1/d'), token(0, '10/s')],
    [fixed(1, '1d'), concurrency({ max: 0 })],
    [concurrency({ max: 1 }), concurrency({ max: 0 })],
    [unlimited(), token(1e6, '1000000/s')],
    [unlimited(), fixed(0, '1s')],
  ])('%j, %j', (first, second) => {
    expect(masks(first, second)).toBe(false)
  })
})

test('a bucket is compared by the rate that it counts with, which may be slightly below the written rate', () => {
  const first = log(999_999, '123456789ms')
  const second = token(999_999, '999999/123456789ms')
  const clock = new ManualClock(1_745_000_000_000)
  const store = memoryStore({ clock })
  const demands = [first, second].map((limit, i) => ({ name: `limit-${i}`, limit, key: 'key', cost: 999_999 }))
  store.decide(demands)
  clock.advance(123_456_789)
  expect(store.decide(demands).decisions.map(({ allowed }) => allowed)).toEqual([true, false])
  expect(masks(first, second)).toBe(false)
})

test('buckets of equal numbers mask each other, even if their rate cannot be counted exactly', () => {
  const inexact = '999999/123456789ms'
  expect(masks(token(999_999, inexact), token(999_999, inexact))).toBe(true)
  expect(masks(token(999_999, inexact), leaky(999_999, inexact))).toBe(true)
  expect(masks(token(999_999, '999997/123456789ms'), token(999_999, inexact))).toBe(true)
  expect(masks(token(999_998, inexact), token(999_999, inexact))).toBe(false)
})

describe('windows that begin with the first request', () => {
  it.each<[Limit, Limit]>([
    [
      fixedWindow({ quota: 10, window: '1s', align: 'first' }),
      fixedWindow({ quota: 10, window: '1s', align: 'first' }),
    ],
    [
      slidingWindow({ quota: 10, window: '1s', align: 'first' }),
      slidingWindow({ quota: 12, window: '1s', align: 'first' }),
    ],
  ])('mask each other only for the same keys and requests: %j, %j', (first, second) => {
    expect(masks(first, second, true)).toBe(true)
    expect(masks(first, second)).toBe(false)
    expect(masks(fixed(10, '1s'), second, true)).toBe(false)
  })
})

// Short windows and small quotas, so that a trace spans many windows and fills of a bucket.
const units = fc.integer({ min: 1, max: 12 })
const wideUnits = fc.oneof(units, fc.integer({ min: 1, max: 60 }))
const lengths = fc.constantFrom(1, 2, 3, 4, 6, 7, 10, 12).map((ms): Duration => `${ms}ms`)

function limitsOf(quotas: Arbitrary<number>): Arbitrary<Limit> {
  const rates = fc.tuple(units, lengths).map(([count, length]): Rate => `${count}/${length}`)
  const aligns = fc.constantFrom('epoch' as const, 'epoch' as const, 'first' as const)
  return fc.oneof(
    fc.record({ capacity: quotas, refill: rates }).map(tokenBucket),
    fc.record({ capacity: quotas, drain: rates }).map(leakyBucket),
    fc.record({ quota: quotas, window: lengths, align: aligns }).map(fixedWindow),
    fc
      .record({ quota: quotas, window: lengths, slices: fc.constantFrom(1, 1, 2, 3), align: aligns })
      .map(slidingWindow),
    fc.record({ quota: quotas, window: lengths }).map(slidingLog),
    fc.record({ max: quotas, ttl: lengths }).map(concurrency),
  )
}

const wideLimits = fc.oneof(
  { weight: 9, arbitrary: limitsOf(wideUnits) },
  { weight: 1, arbitrary: fc.constant(unlimited()) },
)

/** The first limit is small and the second may be large: otherwise hardly any pair would pass the filter. */
const pairsOf = (forSameRequests: boolean) =>
  fc.tuple(limitsOf(units), wideLimits).filter(([first, second]) => masks(first, second, forSameRequests))
const maskedPairs = pairsOf(true)

/** Waits and bursts. Some waits end a microsecond before or after the end of a window. */
const traces = fc.array(
  fc.record({
    waitMs: fc.oneof(fc.constant(0), fc.nat(13), fc.nat(40)),
    offUs: fc.constantFrom(0, 0, 0, 1, -1, 500),
    cost: fc.constantFrom(1, 1, 1, 2, 3, 7, 12),
    times: fc.constantFrom(1, 1, 2, 15),
  }),
  { minLength: 5, maxLength: 40, size: 'max' },
)

test('a masked limit never denies a request that the other limit allows', () => {
  fc.assert(
    fc.property(maskedPairs, traces, fc.nat(100), ([first, second], trace, startMs) => {
      const clock = new ManualClock(1_745_000_000_000 + startMs)
      const store = memoryStore({ clock })
      for (const { waitMs, offUs, cost, times } of trace) {
        clock.advance(Math.max(0, waitMs + offUs / 1000))
        for (let i = 0; i < times; i++) {
          const { decisions } = store.decide([
            { name: 'first', limit: first, key: 'key', cost },
            { name: 'second', limit: second, key: 'key', cost },
          ])
          if (decisions[0].allowed) expect(decisions[1].allowed).toBe(true)
        }
      }
    }),
    { numRuns: 2_000 },
  )
})

test('a masked limit that sees only some keys and requests never denies either', () => {
  fc.assert(
    fc.property(
      pairsOf(false),
      traces,
      fc.array(fc.constantFrom('a', 'b', undefined), { minLength: 1, maxLength: 9 }),
      ([first, second], trace, keys) => {
        const clock = new ManualClock(1_745_000_000_000)
        const store = memoryStore({ clock })
        for (const [step, { waitMs, offUs, cost, times }] of trace.entries()) {
          clock.advance(Math.max(0, waitMs + offUs / 1000))
          const key = keys[step % keys.length]
          const all = { name: 'first', limit: first, key: 'all', cost }
          const demands = key === undefined ? [all] : [all, { name: 'second', limit: second, key, cost }]
          for (let i = 0; i < times; i++) {
            const { decisions } = store.decide(demands)
            if (decisions[0].allowed && key !== undefined) expect(decisions[1].allowed).toBe(true)
          }
        }
      },
    ),
    { numRuns: 2_000 },
  )
})

test('the properties above see every pair of algorithms', () => {
  // A property says nothing about a pair that its generator never makes.
  const pairs = new Set<string>()
  for (const forSameRequests of [true, false]) {
    for (const [first, second] of fc.sample(pairsOf(forSameRequests), { numRuns: 3_000, seed: 1 }))
      pairs.add(`${first.algorithm} ${second.algorithm} ${forSameRequests}`)
  }
  // A concurrency limit masks only concurrency limits, and what is unlimited.
  expect(pairs.size).toBe(2 * (5 * 7 + 2))
})

test('a masked limit never denies a client that takes every unit as soon as it is there', () => {
  // Takes from the first limit until it denies, then waits until it allows again.
  fc.assert(
    fc.property(
      maskedPairs,
      fc.array(fc.nat(12), { minLength: 1, maxLength: 6 }),
      fc.nat(100),
      ([first, second], pauses, startMs) => {
        const clock = new ManualClock(1_745_000_000_000 + startMs)
        const store = memoryStore({ clock })
        for (let step = 0; step < 60; step++) {
          for (;;) {
            const { decisions } = store.decide([
              { name: 'first', limit: first, key: 'key', cost: 1 },
              { name: 'second', limit: second, key: 'key', cost: 1 },
            ])
            if (!decisions[0].allowed) {
              clock.advance(decisions[0].retryAfterMs + (step % 3 === 0 ? pauses[step % pauses.length] : 0))
              break
            }
            expect(decisions[1].allowed).toBe(true)
          }
        }
      },
    ),
    { numRuns: 500 },
  )
})
