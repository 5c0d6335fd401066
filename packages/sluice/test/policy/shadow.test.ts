import { createPolicy, fixedWindow, leakyBucket, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, it } from 'vitest'

const clock = () => new ManualClock(Date.UTC(2026, 0, 1))
const day = (quota: number) => fixedWindow({ quota, window: '1d' })
const remaining = (verdict: { levels: readonly { decision: { remaining: number } }[] }) =>
  verdict.levels.map(({ decision }) => decision.remaining)

it('a shadow level is evaluated and charged, but never denies', () => {
  const policy = createPolicy({
    levels: [
      { name: 'real', limit: day(5) },
      { name: 'shadow', limit: day(2), shadow: true },
    ],
    clock: clock(),
  })
  const verdicts = Array.from({ length: 4 }, () => policy.check({}))
  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, true])
  expect(verdicts.map(({ deniedBy }) => deniedBy)).toEqual([[], [], [], []])
  expect(verdicts.map(({ levels }) => levels[1].decision.allowed)).toEqual([true, true, false, false])
  expect(verdicts.map(remaining)).toEqual([
    [4, 1],
    [3, 0],
    [2, 0],
    [1, 0],
  ])
  expect(verdicts[0].levels.map(({ shadow }) => shadow)).toEqual([undefined, true])
})

it('a shadow level does not change retryAfterMs, even if it can never allow', () => {
  const policy = createPolicy({
    levels: [
      { name: 'shadow', limit: day(1), shadow: true },
      { name: 'real', limit: tokenBucket({ capacity: 2, refill: '1/s' }) },
    ],
    clock: clock(),
  })
  expect(policy.check({}, { cost: 2 })).toMatchObject({ allowed: true, retryAfterMs: 0 })
  expect(policy.check({}, { cost: 2 })).toMatchObject({ allowed: false, deniedBy: ['real'], retryAfterMs: 2_000 })
})

it('a shadow level does not change delayMs', () => {
  const policy = createPolicy({
    levels: [
      { name: 'shadow', limit: leakyBucket({ capacity: 9, drain: '1/m' }), shadow: true },
      { name: 'real', limit: leakyBucket({ capacity: 9, drain: '1/s' }) },
    ],
    clock: clock(),
  })
  const verdicts = [1, 2, 3].map(() => policy.check({}))
  expect(verdicts.map(({ delayMs }) => delayMs)).toEqual([0, 1_000, 2_000])
  expect(verdicts[2].levels[0].decision.delayMs).toBe(120_000)
})

it('a shadow level is not charged for a request that another level denied', () => {
  const policy = createPolicy({
    levels: [
      { name: 'real', limit: day(1) },
      { name: 'shadow', limit: day(5), shadow: true },
    ],
    clock: clock(),
  })
  for (let i = 0; i < 3; i++) policy.check({})
  expect(remaining(policy.peek({}))).toEqual([0, 4])
})

it('a policy of shadow levels allows everything', () => {
  const policy = createPolicy({
    levels: [
      { name: 'one', limit: day(1), shadow: true },
      { name: 'two', key: 'user', limit: [day(1), day(2)], shadow: true },
    ],
    clock: clock(),
  })
  for (let i = 0; i < 5; i++) expect(policy.check({ user: 'u' })).toMatchObject({ allowed: true, deniedBy: [] })
  expect(remaining(policy.peek({ user: 'u' }))).toEqual([0, 0, 0])
})
