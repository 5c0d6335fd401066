import { createPolicy, fixedWindow, leakyBucket, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { beforeEach, expect, it } from 'vitest'

let clock: ManualClock
beforeEach(() => {
  clock = new ManualClock(Date.UTC(2026, 0, 1))
})

const slow = tokenBucket({ capacity: 2, refill: '1/m' })
const fast = tokenBucket({ capacity: 2, refill: '1/s' })

it('the verdict of an allowed request has every level that matched, with name, limit in force and decision', () => {
  const policy = createPolicy({
    levels: [
      { name: 'all', limit: slow },
      { name: 'other', when: { method: 'POST' }, limit: fast },
      { name: 'user', key: 'user', limit: fast, overrides: [{ when: { user: 'u' }, limit: slow }] },
    ],
    clock,
  })
  const decision = {
    allowed: true,
    quota: 2,
    remaining: 1,
    retryAfterMs: 0,
    nextUnitAfterMs: 60_000,
    resetAfterMs: 60_000,
    delayMs: 0,
  }
  expect(policy.check({ method: 'GET', user: 'u' })).toStrictEqual({
    allowed: true,
    deniedBy: [],
    levels: [
      { name: 'all', limit: slow, decision },
      { name: 'user', limit: slow, decision },
    ],
    retryAfterMs: 0,
    delayMs: 0,
  })
})

it('a level with several limits has a decision for each, in their order', () => {
  const policy = createPolicy({
    levels: [{ name: 'all', limit: [slow, fixedWindow({ quota: 9, window: '1d' })] }],
    clock,
  })
  const { levels } = policy.check({})
  expect(levels.map(({ name, decision }) => [name, decision.remaining])).toEqual([
    ['all', 1],
    ['all', 8],
  ])
})

it('deniedBy names each level that denied once, in the order of the policy', () => {
  const policy = createPolicy({
    levels: [
      { name: 'c', limit: [slow, fast] },
      { name: 'open', limit: tokenBucket({ capacity: 100, refill: '1/h' }) },
      { name: 'a', limit: fast },
      { name: 'b', limit: slow },
    ],
    clock,
  })
  policy.check({}, { cost: 2 })
  expect(policy.check({}).deniedBy).toEqual(['c', 'a', 'b'])
})

it('retryAfterMs is the longest of the levels that denied, and after it the request is allowed', () => {
  const policy = createPolicy({
    levels: [
      { name: 'fast', limit: fast },
      { name: 'slow', limit: slow },
    ],
    clock,
  })
  policy.check({}, { cost: 2 })
  expect(policy.check({})).toMatchObject({ allowed: false, retryAfterMs: 60_000, delayMs: 0 })
  clock.advance(59_999)
  expect(policy.check({})).toMatchObject({ allowed: false, deniedBy: ['slow'], retryAfterMs: 1 })
  clock.advance(1)
  expect(policy.check({})).toMatchObject({ allowed: true, deniedBy: [], retryAfterMs: 0 })
})

it('retryAfterMs is Infinity if the cost exceeds the quota of a level', () => {
  const policy = createPolicy({
    levels: [
      { name: 'slow', limit: slow },
      { name: 'large', limit: tokenBucket({ capacity: 100, refill: '1/h' }) },
    ],
    clock,
  })
  expect(policy.check({}, { cost: 3 })).toMatchObject({ allowed: false, deniedBy: ['slow'], retryAfterMs: Infinity })
  expect(policy.peek({}).levels.map(({ decision }) => decision.remaining)).toEqual([2, 100])
})

it('delayMs is the longest of all levels, and 0 if the request is denied', () => {
  const policy = createPolicy({
    levels: [
      { name: 'short', limit: leakyBucket({ capacity: 3, drain: '10/s' }) },
      { name: 'long', limit: leakyBucket({ capacity: 10, drain: '1/s' }) },
      { name: 'token', limit: tokenBucket({ capacity: 10, refill: '1/s' }) },
    ],
    clock,
  })
  expect([1, 2, 3].map(() => policy.check({}).delayMs)).toEqual([0, 1_000, 2_000])
  expect(policy.check({})).toMatchObject({ allowed: false, deniedBy: ['short'], delayMs: 0, retryAfterMs: 100 })
})

it('a request that matches no level is allowed, with no levels', () => {
  const policy = createPolicy({ levels: [{ name: 'user', key: 'user', limit: slow }], clock })
  const nothing = { allowed: true, deniedBy: [], levels: [], retryAfterMs: 0, delayMs: 0 }
  expect(policy.check({ user: null })).toStrictEqual(nothing)
  expect(policy.check({ user: '' }, { cost: 1_000_000 })).toStrictEqual(nothing)
  expect(policy.peek({ user: undefined })).toStrictEqual(nothing)
  expect(policy.charge({ user: null })).toStrictEqual(nothing)
  expect(policy.refund({ user: null })).toStrictEqual(nothing)
  const reservation = policy.reserve({ user: null })
  expect(reservation.verdict).toStrictEqual(nothing)
  reservation.settle(3)
  policy.reset({ user: null })
})

it('every verdict is a fresh object: changing one does not change another', () => {
  const policy = createPolicy({ levels: [{ name: 'all', limit: slow }], clock })
  const first = policy.peek({})
  const untouched = structuredClone(first)
  const parts = [first.levels[0].decision, first.levels[0], first.levels, first.deniedBy, first]
  Reflect.set(first.deniedBy, 0, 'changed')
  for (const part of parts) for (const key of Object.keys(part)) Reflect.set(part, key, 'changed')
  const second = policy.peek({})
  expect(second).toEqual(untouched)
  expect(second).not.toBe(first)
  expect(policy.check({}).allowed).toBe(true)
})

it('a denied request takes from no level', () => {
  const policy = createPolicy({
    levels: [
      { name: 'large', limit: fixedWindow({ quota: 10, window: '1d' }) },
      { name: 'small', limit: fixedWindow({ quota: 1, window: '1d' }) },
    ],
    clock,
  })
  for (let i = 0; i < 5; i++) policy.check({})
  expect(policy.peek({}).levels.map(({ decision }) => decision.remaining)).toEqual([9, 0])
})

it('a caller who changes a verdict does not change what its reservation gives back', () => {
  const policy = createPolicy({ levels: [{ name: 'all', limit: slow }], clock })
  const reservation = policy.reserve({}, { cost: 2 })
  Object.assign(reservation.verdict.levels[0].decision, { allowed: false, delayMs: -1, degraded: 'open' })
  reservation.cancel()
  expect(policy.check({}, { cost: 2 }).allowed).toBe(true)
})
