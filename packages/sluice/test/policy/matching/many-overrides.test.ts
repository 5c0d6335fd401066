import { createPolicy, type Override, tokenBucket } from 'sluice'
import { expect, test } from 'vitest'

const limit = tokenBucket({ capacity: 1_000_000_000, refill: '1000000/s' })
const other = tokenBucket({ capacity: 1_000, refill: '1/s' })
const COUNT = 100_000
const FEW = 1_000

function policyOf(overrides: readonly Override[]) {
  return createPolicy({ levels: [{ name: 'merchant', key: 'merchant', limit, overrides }] })
}

/** The shortest of several rounds of each, in turns, so that other load on the machine does not count. */
function bestMs(...runs: readonly (() => void)[]): readonly number[] {
  const best = runs.map(() => Infinity)
  for (let round = 0; round < 15; round++) {
    for (const [i, run] of runs.entries()) {
      const start = performance.now()
      run()
      best[i] = Math.min(best[i], performance.now() - start)
    }
  }
  return best
}

const KINDS: Readonly<Record<string, (i: number) => Override>> = {
  'a merchant each': (i) => ({ when: { merchant: `acct_${i}` }, limit: other }),
  'a merchant and a plan that all have': (i) => ({ when: { plan: 'gold', merchant: `acct_${i}` }, limit: other }),
  'a range each': (i) => ({ when: { ip: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` }, limit: other }),
  'a path each': (i) => ({ when: { path: `/v1/${i}/:id` }, limit: other }),
}

test.each(Object.entries(KINDS))(
  'a hundred thousand overrides, by %s, take no longer than a thousand',
  (_, override) => {
    const overrides = Array.from({ length: COUNT }, (_, i) => override(i))
    const [few, many] = [policyOf(overrides.slice(0, FEW)), policyOf(overrides)]
    // Both policies have an override for every request.
    const requests = Array.from({ length: FEW }, (_, i) => ({
      merchant: `acct_${i}`,
      plan: 'gold',
      path: `/v1/${i}/x`,
      ip: `10.0.${i >> 8}.${i & 255}`,
    }))
    const ask = (policy: typeof many) => () => {
      for (const request of requests) policy.check(request)
    }
    for (const request of requests) expect(many.peek(request).levels[0].limit).toEqual(other)
    // Evaluating every override would take a hundred times as long.
    const [fewMs, manyMs] = bestMs(ask(few), ask(many))
    expect(manyMs).toBeLessThan(3 * fewMs + 1)
  },
)

test('among a hundred thousand overrides, the right one applies', () => {
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
