import { describe, expect, it } from 'vitest'
import {
  type AsyncPolicy,
  concurrency,
  createPolicy,
  fixedWindow,
  type Limit,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

/** Limits of each algorithm that share one state: a small one and a large one. */
const SAME_STATE: Readonly<Record<string, readonly [Limit, Limit]>> = {
  'token bucket': [tokenBucket({ capacity: 10, refill: '10/m' }), tokenBucket({ capacity: 1_000, refill: '1000/s' })],
  'leaky bucket': [leakyBucket({ capacity: 10, drain: '10/m' }), leakyBucket({ capacity: 1_000, drain: '1000/s' })],
  'fixed window': [fixedWindow({ quota: 10, window: '1m' }), fixedWindow({ quota: 1_000, window: '1m' })],
  'fixed window from the first request': [
    fixedWindow({ quota: 10, window: '1m', align: 'first' }),
    fixedWindow({ quota: 1_000, window: '1m', align: 'first' }),
  ],
  'sliding window': [slidingWindow({ quota: 10, window: '1m' }), slidingWindow({ quota: 1_000, window: '1m' })],
  'sliding window in slices': [
    slidingWindow({ quota: 10, window: '1m', slices: 6 }),
    slidingWindow({ quota: 1_000, window: '1m', slices: 6 }),
  ],
  'sliding log': [slidingLog({ quota: 10, window: '1m' }), slidingLog({ quota: 1_000, window: '1m' })],
  concurrency: [concurrency({ max: 10, ttl: '1m' }), concurrency({ max: 1_000, ttl: '1m' })],
}

/** Windows of one algorithm that do not share a state. */
const OTHER_WINDOW: Readonly<Record<string, readonly [Limit, Limit]>> = {
  'fixed window': [fixedWindow({ quota: 10, window: '1m' }), fixedWindow({ quota: 20, window: '1s' })],
  'fixed window that is aligned otherwise': [
    fixedWindow({ quota: 10, window: '1m' }),
    fixedWindow({ quota: 20, window: '1m', align: 'first' }),
  ],
  'sliding window': [slidingWindow({ quota: 10, window: '1m' }), slidingWindow({ quota: 20, window: '1s' })],
  'sliding window with other slices': [
    slidingWindow({ quota: 10, window: '1m', slices: 6 }),
    slidingWindow({ quota: 20, window: '1m', slices: 10 }),
  ],
  'sliding log': [slidingLog({ quota: 10, window: '1m' }), slidingLog({ quota: 20, window: '1s' })],
}

const merchant = { merchant: 'acct_1' }
type AnyPolicy = Policy<'merchant'> | AsyncPolicy<'merchant'>

/** Asks for one unit after another until it is denied, at one instant; resolves with how many it got. */
async function drain(policy: AnyPolicy): Promise<number> {
  for (let units = 0; ; units++) if (!(await policy.check(merchant)).allowed) return units
}

/** Takes all units that are left in one request. */
async function takeAll(policy: AnyPolicy): Promise<number> {
  const left = (await policy.peek(merchant)).levels[0].decision.remaining
  return left > 0 && (await policy.check(merchant, { cost: left })).allowed ? left : 0
}

onBothStores((own) => {
  const version = (limit: Limit | readonly Limit[]) =>
    createPolicy({ name: 'api', levels: [{ name: 'merchant', key: 'merchant', limit }], store: own.store })

  describe.each(Object.entries(SAME_STATE))('when the quota or rate of a %s changes', (_, [small, large]) => {
    it('an exhausted key gets units within a millisecond of a raise, and units that were taken before still count', async () => {
      expect(await drain(version(small))).toBe(10)
      own.clock.advance(1)
      const helped = await drain(version(large))
      expect(helped).toBeGreaterThanOrEqual(1)
      // 1,000 less the 10 that were taken, and one that came in meanwhile.
      expect(helped).toBeLessThanOrEqual(991)
    })

    it('a lowered limit applies at once', async () => {
      expect(await takeAll(version(large))).toBe(1_000)
      expect(await version(small).check(merchant)).toMatchObject({ allowed: false })
    })

    it('a lowered limit with much left gives at most its own quota', async () => {
      await version(large).check(merchant, { cost: 300 })
      expect(await drain(version(small))).toBeLessThanOrEqual(10)
    })

    it('no key is locked out: after the time that the new limit takes to fill, its whole quota is there', async () => {
      for (const [before, after, waitMs] of [
        [small, large, 120_000],
        [large, small, 120_000],
      ] as const) {
        const key = { merchant: `from ${JSON.stringify(before)}` }
        await version(before).check(key, { cost: 10 })
        await version(after).check(key)
        own.clock.advance(waitMs)
        const { quota, remaining } = (await version(after).peek(key)).levels[0].decision
        expect(remaining).toBe(quota)
      }
    })

    it('at one instant two versions side by side give at most the larger burst', async () => {
      const versions = [version(small), version(large)]
      let units = 0
      for (let i = 0; i < 20; i++) {
        for (const each of versions)
          units += i % 3 === 0 ? await takeAll(each) : Number((await each.check(merchant)).allowed)
      }
      expect(units).toBeLessThanOrEqual(1_000)
    })

    it('a change there and back gives no fresh quota while units are missing', async () => {
      const versions = [version(small), version(large)]
      await takeAll(versions[1])
      expect([await takeAll(versions[0]), await takeAll(versions[1])]).toEqual([0, 0])
    })
  })

  describe.each(Object.entries(OTHER_WINDOW))('when the window of a %s changes', (_, [before, after]) => {
    it('a new count begins, and the old count stays as it is', async () => {
      expect(await drain(version(before))).toBe(10)
      expect(await drain(version(after))).toBe(20)
      expect(await drain(version(before))).toBe(0)
    })

    it('two versions side by side give at most both quotas', async () => {
      const versions = [version(before), version(after)]
      let units = 0
      for (let i = 0; i < 40; i++) for (const each of versions) units += Number((await each.check(merchant)).allowed)
      expect(units).toBe(30)
    })

    it('reset forgets the counts of both versions', async () => {
      const versions = [version(before), version(after)]
      for (const each of versions) await drain(each)
      await own.store.reset('api/merchant', 'acct_1')
      expect([await drain(versions[0]), await drain(versions[1])]).toEqual([10, 20])
    })

    it('a block denies both versions, and reset lifts it from both', async () => {
      const versions = [version(before), version(after)]
      await own.store.block('api/merchant', 'acct_1', 60_000_000)
      expect([await drain(versions[0]), await drain(versions[1])]).toEqual([0, 0])
      await own.store.reset('api/merchant', 'acct_1')
      expect([await drain(versions[0]), await drain(versions[1])]).toEqual([10, 20])
    })
  })

  it('a raised quota of an unchanged window gives the difference, and no more until the window is over', async () => {
    const versions = [10, 100].map((quota) => version(fixedWindow({ quota, window: '1m' })))
    expect(await drain(versions[0])).toBe(10)
    expect(await drain(versions[1])).toBe(90)
    for (const each of [...versions, ...versions]) expect(await drain(each)).toBe(0)
    own.clock.advance(60_000)
    expect([await drain(versions[1]), await drain(versions[0])]).toEqual([100, 0])
  })

  it('a queue that was long under a fast drain is read as at most the capacity of a slow one', async () => {
    const fast = version(leakyBucket({ capacity: 1_000, drain: '1000/s' }))
    const slow = version(leakyBucket({ capacity: 10, drain: '10/h' }))
    await fast.check(merchant, { cost: 900 })
    const denied = await slow.check(merchant)
    // One unit's time, not the 90 hours that 900 units take at 10 an hour.
    expect(denied).toMatchObject({ allowed: false, retryAfterMs: 360_000 })
  })

  it('a debt of a queue stays a debt under a smaller capacity', async () => {
    await version(leakyBucket({ capacity: 100, drain: '1/s' })).charge(merchant, { cost: 130 })
    const { levels } = await version(leakyBucket({ capacity: 10, drain: '1/s' })).peek(merchant)
    expect(levels[0].decision.resetAfterMs).toBe(40_000)
  })

  it('a refund under a smaller capacity adds at most one unit to what a larger one can take', async () => {
    const [small, large] = [
      tokenBucket({ capacity: 10, refill: '1/h' }),
      tokenBucket({ capacity: 1_000, refill: '1/h' }),
    ]
    await version(large).check(merchant, { cost: 995 })
    await version(small).refund(merchant)
    expect((await version(large).peek(merchant)).levels[0].decision.remaining).toBe(6)
  })

  it('a limit that is appended to a level leaves the state of the first as it is', async () => {
    const small = fixedWindow({ quota: 10, window: '1m' })
    await version(small).check(merchant, { cost: 7 })
    const { levels } = await version([small, fixedWindow({ quota: 5, window: '1s' })]).peek(merchant)
    expect(levels.map(({ decision }) => decision.remaining)).toEqual([3, 5])
  })

  it('another algorithm, level or policy name starts fresh, and leaves the state of the first as it is', async () => {
    const small = fixedWindow({ quota: 10, window: '1m' })
    const first = version(small)
    await drain(first)
    expect(await version(slidingLog({ quota: 10, window: '1m' })).check(merchant)).toMatchObject({ allowed: true })
    const renamed = (name: string, level: string) =>
      createPolicy({ name, levels: [{ name: level, key: 'merchant', limit: small }], store: own.store })
    expect(await renamed('api', 'seller').check(merchant)).toMatchObject({ allowed: true })
    expect(await renamed('other', 'merchant').check(merchant)).toMatchObject({ allowed: true })
    expect(await first.check(merchant)).toMatchObject({ allowed: false })
  })
})
