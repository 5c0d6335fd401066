import { createPolicy, type Explanation, type Limit, leakyBucket, slidingLog, tokenBucket, unlimited } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { readGauge, type SentDecision } from '../../src/inspect/gauge-reading.js'

const NOW = { elapsedMs: 0, deniesAll: false }

/** A policy of one level over a store whose time the test moves, and its gauge as the page reads it from JSON. */
function setUp(limit: Limit) {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const policy = createPolicy({ levels: [{ name: 'one', key: 'who', limit }], clock })
  const request = { who: 'ann' }
  const ask = (cost: number) => JSON.parse(JSON.stringify(policy.explain(request, { cost })))[0] as Explanation
  const read = (elapsedMs = 0, cost = 1) => {
    const [{ limit: inForce, decision }] = ask(cost).limits ?? []
    const [free] = ask(0).limits ?? []
    return readGauge(inForce, decision as SentDecision, { elapsedMs, deniesAll: !free.decision.allowed })
  }
  return { clock, policy, request, read }
}

test('an untouched bucket is whole', () => {
  const { read } = setUp(tokenBucket({ capacity: 20, refill: '2/s' }))
  expect(read()).toMatchObject({ state: 'whole', left: 20, quota: 20, wholeMs: 0 })
})

test.each(['open', 'closed'] as const)(
  'without its store a limit that is %s knows nothing of what is left',
  (degraded) => {
    const limit = tokenBucket({ capacity: 20, refill: '2/s' })
    const [{ decision }] = createPolicy({ levels: [{ name: 'one', limit }] }).explain({})[0].limits ?? []
    expect(readGauge(limit, { ...decision, degraded }, NOW)).toMatchObject({ state: 'unknown', left: 0 })
    expect(readGauge(limit, { ...decision, degraded: 'local' }, NOW)).toMatchObject({ state: 'whole', left: 20 })
  },
)

test('a bucket fills between two answers as the store fills it', () => {
  const { clock, policy, request, read } = setUp(tokenBucket({ capacity: 20, refill: '2/s' }))
  for (let i = 0; i < 20; i++) policy.check(request)
  expect(read()).toMatchObject({ state: 'empty', left: 0, nextUnitMs: 500, wholeMs: 10_000 })
  for (const elapsedMs of [400, 3_250, 9_999]) {
    const foreseen = read(elapsedMs)
    clock.advance(elapsedMs)
    const now = read()
    expect(Math.floor(foreseen.left)).toBe(Math.floor(now.left))
    expect(foreseen.wholeMs).toBe(now.wholeMs)
    policy.set(request, { remaining: 0 })
  }
  expect(read(10_000)).toMatchObject({ state: 'whole', left: 20 })
})

test('a bucket in debt says how much it owes', () => {
  const { policy, request, read } = setUp(tokenBucket({ capacity: 10, refill: '1/s' }))
  policy.charge(request, { cost: 25 })
  expect(read()).toMatchObject({ state: 'debt', owed: 15, left: 0, wholeMs: 25_000 })
  expect(read(20_000)).toMatchObject({ state: 'some', left: 5 })
})

test.each([
  ['longer than the bucket needs to fill', '1m'],
  ['shorter than that', '5s'],
] as const)('a block that is %s shows as a block', (_words, duration) => {
  const { policy, request, read } = setUp(tokenBucket({ capacity: 10, refill: '1/s' }))
  for (let i = 0; i < 10; i++) policy.check(request)
  policy.block(request, { duration })
  expect(read()).toMatchObject({ state: 'blocked', left: 0 })
})

test('a key without units is neither blocked nor in debt', () => {
  const { policy, request, read } = setUp(leakyBucket({ capacity: 3, drain: '1/s' }))
  for (let i = 0; i < 3; i++) policy.check(request)
  expect(read()).toMatchObject({ state: 'empty', left: 0 })
})

test('a window keeps its count until it is over', () => {
  const { policy, request, read } = setUp(slidingLog({ quota: 5, window: '1m' }))
  policy.check(request, { cost: 2 })
  expect(read()).toMatchObject({ state: 'some', left: 3 })
  expect(read(59_000)).toMatchObject({ left: 3, wholeMs: 1_000 })
  expect(read(60_000)).toMatchObject({ state: 'whole', left: 5 })
})

test('a blocked window is blocked or in debt, because its waits do not tell', () => {
  const { policy, request, read } = setUp(slidingLog({ quota: 5, window: '1m' }))
  policy.block(request, { duration: '10m' })
  expect(read()).toMatchObject({ state: 'blocked-or-debt', nextUnitMs: 600_000 })
})

test('an unlimited level has no count, unless the key is blocked', () => {
  const { policy, request, read } = setUp(unlimited())
  expect(read()).toMatchObject({ state: 'unlimited' })
  policy.block(request, { duration: '1m' })
  expect(read()).toMatchObject({ state: 'blocked', wholeMs: 60_000 })
})

test('a cost that the limit can never give waits for ever', () => {
  const { read } = setUp(tokenBucket({ capacity: 10, refill: '1/s' }))
  expect(read(5_000, 11).retryMs).toBe(Number.POSITIVE_INFINITY)
})

test('a quota of 0 has nothing to fill', () => {
  const limit = { algorithm: 'fixed-window', quota: 0, window: '1h' } as const
  const decision = { allowed: false, quota: 0, remaining: 0, retryAfterMs: null, nextUnitAfterMs: 0, resetAfterMs: 0 }
  expect(readGauge(limit, { ...decision, delayMs: 0, degraded: null, asOfMs: null }, NOW)).toMatchObject({
    state: 'no-quota',
  })
})
