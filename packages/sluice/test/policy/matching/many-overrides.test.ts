import { createPolicy, type Override, tokenBucket } from 'sluice'
import { expect, test } from 'vitest'

const limit = tokenBucket({ capacity: 1_000_000_000, refill: '1000000/s' })
const other = tokenBucket({ capacity: 1_000, refill: '1/s' })
const COUNT = 100_000

function policyOf(overrides: readonly Override[]) {
  return createPolicy({ levels: [{ name: 'merchant', key: 'merchant', limit, overrides }] })
}

/** The shortest of several rounds, so that a busy machine is not taken for a slow policy. */
function bestMs(run: () => void): number {
  let best = Infinity
  for (let round = 0; round < 7; round++) {
    const start = performance.now()
    run()
    best = Math.min(best, performance.now() - start)
  }
  return best
}

const KINDS: Readonly<Record<string, (i: number) => Override>> = {
  'a merchant each': (i) => ({ when: { merchant: `acct_${i}` }, limit: other }),
  'a merchant and a plan that all have': (i) => ({ when: { plan: 'gold', merchant: `acct_${i}` }, limit: other }),
  'a block each': (i) => ({ when: { ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }, limit: other }),
  'a path each': (i) => ({ when: { path: `/v1/${i}/:id` }, limit: other }),
}

test.each(Object.entries(KINDS))('a hundred thousand overrides, by %s, do not slow a decision down', (_, override) => {
  const none = policyOf([{ when: { merchant: 'acct_x', plan: 'x', path: '/x', ip: '10.0.0.0' }, limit: other }])
  const many = policyOf(Array.from({ length: COUNT }, (_, i) => override(i)))
  const requests = Array.from({ length: 2_000 }, (_, i) => ({
    merchant: `acct_${i * 97}`,
    plan: 'gold',
    path: `/v1/${i}/x`,
    ip: `10.0.${i >> 8}.${i & 255}`,
  }))
  const ask = (policy: typeof many) => () => {
    for (const request of requests) policy.check(request)
  }
  // Were each looked at, it would be tens of thousands of times as long.
  expect(bestMs(ask(many))).toBeLessThan(3 * bestMs(ask(none)) + 2)
})

test('of a hundred thousand overrides the right one is in force', () => {
  const overrides = Array.from({ length: COUNT }, (_, i) => ({
    when: { merchant: `acct_${i}` },
    limit: tokenBucket({ capacity: i + 1, refill: '1/s' }),
  }))
  const policy = policyOf(overrides)
  for (const i of [0, 1, 4_711, COUNT - 1]) {
    expect(policy.check({ merchant: `acct_${i}` }).levels[0].decision.quota).toBe(i + 1)
  }
  expect(policy.check({ merchant: `acct_${COUNT}` }).levels[0].limit).toEqual(limit)
})
