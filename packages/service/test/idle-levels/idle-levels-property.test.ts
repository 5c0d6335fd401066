/** A level that is warned about must never deny: a user would trust a wrong warning and remove the level. */

import fc, { type Arbitrary } from 'fast-check'
import type { Duration, Rate } from 'sluice'
import {
  concurrency,
  createPolicy,
  fixedWindow,
  type Level,
  type Limit,
  leakyBucket,
  readPolicy,
  slidingLog,
  slidingWindow,
  tokenBucket,
  unlimited,
  type When,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { findIdleLevels } from '../../src/idle-levels/find-idle-levels.js'

const units = fc.constantFrom(0, 1, 2, 3, 4, 5, 8, 12)
const lengths = fc.constantFrom(1, 2, 4, 8).map((ms): Duration => `${ms}ms`)
const rates = fc.tuple(fc.constantFrom(1, 2, 4), lengths).map(([count, length]): Rate => `${count}/${length}`)
const aligns = fc.constantFrom('epoch' as const, 'first' as const)

const limits: Arbitrary<Limit> = fc.oneof(
  fc.record({ capacity: units, refill: rates }).map(tokenBucket),
  fc.record({ capacity: units, drain: rates }).map(leakyBucket),
  fc.record({ quota: units, window: lengths, align: aligns }).map(fixedWindow),
  fc.record({ quota: units, window: lengths, align: aligns, slices: fc.constantFrom(1, 2) }).map(slidingWindow),
  fc.record({ quota: units, window: lengths }).map(slidingLog),
  fc.record({ max: units, ttl: lengths }).map(concurrency),
  fc.constant(unlimited()),
)

const someLimits = fc.oneof(
  { weight: 4, arbitrary: limits },
  { weight: 1, arbitrary: fc.array(limits, { minLength: 2, maxLength: 2 }) },
)

const texts = fc.constantFrom('a', 'b')
const conditions = fc.oneof(
  texts,
  fc.constantFrom(null, ['a', null], ['a', 'b']),
  fc.boolean().map((present) => ({ present })),
  fc.oneof(texts, fc.constant(null)).map((not) => ({ not })),
)
const whens: Arbitrary<When> = fc.record(
  { user: conditions, plan: conditions, path: fc.constantFrom('/a', '/**', '/:x', { not: '/a' }) },
  { requiredKeys: [] },
)
const seldom = <T>(values: Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 2 })

const levels: Arbitrary<Omit<Level, 'name'>> = fc
  .record({
    limit: someLimits,
    key: fc.constantFrom([], [], ['user'], ['user', 'plan']),
    when: seldom(fc.oneof(fc.constant({}), whens)),
    cost: seldom(fc.constantFrom(0, 1, 2, 'cost')),
    shadow: fc.constantFrom(false, false, false, true),
    overrides: seldom(fc.array(fc.record({ when: whens, limit: someLimits }), { maxLength: 2 })),
  })
  .map((level) => Object.fromEntries(Object.entries(level).filter(([, value]) => value !== undefined)) as never)

const requests = fc.record({
  user: fc.constantFrom('a', 'b', 'c', undefined),
  plan: fc.constantFrom('a', 'b', undefined),
  path: fc.constantFrom('/a', '/b', '/b/c'),
  cost: fc.constantFrom(undefined, 1, 2, 3),
})

const traces = fc.array(
  fc.record({
    waitMs: fc.constantFrom(0, 0, 0.5, 0.999, 1, 1.001, 2, 3, 4, 8, 17),
    request: requests,
    times: fc.constantFrom(1, 1, 3, 12),
  }),
  { minLength: 10, maxLength: 40, size: 'max' },
)

test('every denial comes from a level without a warning', () => {
  fc.assert(
    fc.property(fc.array(levels, { minLength: 2, maxLength: 4 }), traces, (some, trace) => {
      const named = some.map((level, i) => ({ ...level, name: `level-${i}` }))
      const read = readPolicy({ levels: named })
      expect(read.problems).toEqual([])
      const idle = new Set(
        findIdleLevels(read.levels)
          .filter(({ path }) => path.at(-1) === 'limit')
          .map(({ path }) => `level-${path[1]}`),
      )
      fc.pre(idle.size > 0)
      const clock = new ManualClock(1_745_000_000_000)
      const policy = createPolicy({ levels: named, clock })
      for (const { waitMs, request, times } of trace) {
        clock.advance(waitMs)
        for (let i = 0; i < times; i++) {
          const { allowed, deniedBy } = policy.check(request)
          if (!allowed) expect(deniedBy.filter((name) => !idle.has(name))).not.toEqual([])
        }
      }
    }),
    { numRuns: 1_000, maxSkipsPerRun: 1_000 },
  )
}, 120_000)
