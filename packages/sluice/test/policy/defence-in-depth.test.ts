import { createPolicy, fixedWindow, type Limit, leakyBucket, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { expect, it } from 'vitest'

const GLOBAL: readonly Limit[] = [
  tokenBucket({ capacity: 50, refill: '10/s' }),
  leakyBucket({ capacity: 50, drain: '10/s' }),
  fixedWindow({ quota: 50, window: '5s' }),
  slidingWindow({ quota: 50, window: '5s', slices: 5 }),
  slidingLog({ quota: 50, window: '5s' }),
]

const misconfigured = tokenBucket({ capacity: 1_000_000, refill: '1000000/s' })

it.each(GLOBAL)('a merchant level that is too high lets no more through than a global $algorithm', (limit) => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const policy = createPolicy({
    levels: [
      { name: 'global', limit },
      { name: 'merchant', key: 'merchant', limit: misconfigured },
    ],
    clock,
  })
  const backstop = createPolicy({ levels: [{ name: 'global', limit }], clock })
  for (let i = 0; i < 100; i++) {
    let [through, alone] = [0, 0]
    for (let j = 0; j < 20; j++) {
      if (policy.check({ merchant: `acct_${j % 3}` }).allowed) through++
      if (backstop.check({}).allowed) alone++
    }
    expect(through).toBe(alone)
    if (i === 2) expect(policy.check({ merchant: 'acct_1' }).deniedBy).toEqual(['global'])
    clock.advance(130)
  }
})

it('nor does a merchant that is raised by mistake at run time', () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const policy = createPolicy({
    levels: [
      { name: 'global', limit: GLOBAL[0] },
      { name: 'merchant', key: 'merchant', limit: tokenBucket({ capacity: 10, refill: '1/s' }) },
    ],
    clock,
  })
  policy.override('merchant', 'acct_1', misconfigured)
  const through = Array.from({ length: 500 }, () => policy.check({ merchant: 'acct_1' })).filter(
    ({ allowed }) => allowed,
  )
  expect(through).toHaveLength(50)
})

it('a level that does not match leaves the other levels in force', () => {
  const policy = createPolicy({
    levels: [
      { name: 'global', limit: tokenBucket({ capacity: 3, refill: '1/h' }) },
      { name: 'merchant', when: { plan: 'tpyo' }, key: 'merchant', limit: tokenBucket({ capacity: 1, refill: '1/h' }) },
    ],
  })
  const verdicts = Array.from({ length: 5 }, () => policy.check({ merchant: 'acct_1', plan: 'typo' }).allowed)
  expect(verdicts).toEqual([true, true, true, false, false])
})
