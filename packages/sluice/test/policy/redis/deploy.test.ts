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
import { Dice } from './random-policies.js'

/** Of each algorithm the limit before and after a merchant is raised from 10 a minute to 1,000 a second. */
const RAISES: Readonly<Record<string, readonly [Limit, Limit]>> = {
  'token bucket': [tokenBucket({ capacity: 10, refill: '10/m' }), tokenBucket({ capacity: 1_000, refill: '1000/s' })],
  'leaky bucket': [leakyBucket({ capacity: 10, drain: '10/m' }), leakyBucket({ capacity: 1_000, drain: '1000/s' })],
  'fixed window': [fixedWindow({ quota: 10, window: '1m' }), fixedWindow({ quota: 1_000, window: '1s' })],
  'fixed window from the first': [
    fixedWindow({ quota: 10, window: '1m', align: 'first' }),
    fixedWindow({ quota: 1_000, window: '1s', align: 'first' }),
  ],
  'sliding window': [slidingWindow({ quota: 10, window: '1m' }), slidingWindow({ quota: 1_000, window: '1s' })],
  'sliding window in slices': [
    slidingWindow({ quota: 10, window: '1m', slices: 6 }),
    slidingWindow({ quota: 1_000, window: '1s', slices: 10 }),
  ],
  'sliding log': [slidingLog({ quota: 10, window: '1m' }), slidingLog({ quota: 1_000, window: '1s' })],
  concurrency: [concurrency({ max: 10, ttl: '1m' }), concurrency({ max: 1_000, ttl: '1s' })],
}

const merchant = { merchant: 'acct_1' }
type AnyPolicy = Policy<'merchant'> | AsyncPolicy<'merchant'>

/** Asks for one unit after another until it is denied, at one instant; says how many it got. */
async function drain(policy: AnyPolicy): Promise<number> {
  for (let units = 0; ; units++) if (!(await policy.check(merchant)).allowed) return units
}

/** Takes all that is left in one go. */
async function takeAll(policy: AnyPolicy): Promise<number> {
  const left = (await policy.peek(merchant)).levels[0].decision.remaining
  return left > 0 && (await policy.check(merchant, { cost: left })).allowed ? left : 0
}

onBothStores((own) => {
  const version = (limit: Limit | readonly Limit[]) =>
    createPolicy({ name: 'api', levels: [{ name: 'merchant', key: 'merchant', limit }], store: own.store })

  describe.each(Object.entries(RAISES))('when the numbers of a %s change', (_, [small, large]) => {
    it('an exhausted merchant that is raised is served within one refill interval of the new limit', async () => {
      const before = version(small)
      expect(await drain(before)).toBe(10)
      const after = version(large)
      own.clock.advance(1)
      expect(await after.check(merchant)).toMatchObject({ allowed: true })
      expect(await before.check({ merchant: 'acct_2' })).toMatchObject({ allowed: true })
    })

    it('a raise refills nobody: what was taken before it still counts', async () => {
      await drain(version(small))
      expect(await drain(version(large))).toBeLessThanOrEqual(990)
    })

    it('a merchant that is lowered is limited at once', async () => {
      const before = version(large)
      expect(await takeAll(before)).toBe(1_000)
      const after = version(small)
      expect(await after.check(merchant)).toMatchObject({ allowed: false })
    })

    it('a merchant that is lowered with much left gets no more than the new limit gives', async () => {
      await version(large).check(merchant, { cost: 300 })
      expect(await drain(version(small))).toBeLessThanOrEqual(10)
    })

    it('a raise locks nobody out: whatever was done before, all is there when the new limit has had its time', async () => {
      for (const troubled of [0, 5, 10, 25]) {
        const key = { merchant: `after ${troubled}` }
        const before = version(small)
        await before.charge(key, { cost: troubled })
        const after = version(large)
        await after.check(key)
        own.clock.advance(2_000)
        expect((await after.peek(key)).levels[0].decision.remaining).toBe(1_000)
      }
    })

    it('two versions side by side give no more at one instant than the larger one', async () => {
      const versions = [version(small), version(large)]
      let units = 0
      for (let i = 0; i < 20; i++) {
        for (const each of versions)
          units += i % 3 === 0 ? await takeAll(each) : Number((await each.check(merchant)).allowed)
      }
      expect(units).toBeLessThanOrEqual(1_000)
    })

    it('two versions side by side never give more than the larger one would have given alone', async () => {
      const dice = new Dice(7)
      const versions = [version(small), version(large)]
      const taken: { atMs: number; units: number }[] = []
      for (let i = 0; i < 150; i++) {
        own.clock.advance(dice.of([0, 0, 7, 60, 400, 1_100]))
        const policy = dice.of(versions)
        const units = dice.chance(0.6) ? await takeAll(policy) : Number((await policy.check(merchant)).allowed)
        if (units > 0) taken.push({ atMs: own.clock.now(), units })
      }
      for (const [i, first] of taken.entries()) {
        let units = 0
        for (const { atMs, units: more } of taken.slice(i)) {
          units += more
          // A burst, and a thousand a second; where windows have a boundary to burst at, one burst more.
          expect(units).toBeLessThanOrEqual(1_000 + (atMs - first.atMs) + (isWindow(large) ? 1_000 : 0))
        }
      }
    })
  })

  it('a quota that is raised with its window unchanged gives what was added, and no more until the window is over', async () => {
    const versions = [10, 100].map((quota) => version(fixedWindow({ quota, window: '1m' })))
    expect(await drain(versions[0])).toBe(10)
    expect(await drain(versions[1])).toBe(90)
    for (const each of [...versions, ...versions]) expect(await drain(each)).toBe(0)
    own.clock.advance(60_000)
    expect([await drain(versions[1]), await drain(versions[0])]).toEqual([100, 0])
  })

  it('a limit that is appended to a level leaves the state of the first as it is', async () => {
    const small = fixedWindow({ quota: 10, window: '1m' })
    await version(small).check(merchant, { cost: 7 })
    const { levels } = await version([small, fixedWindow({ quota: 5, window: '1s' })]).peek(merchant)
    expect(levels.map(({ decision }) => decision.remaining)).toEqual([3, 5])
  })

  it('another algorithm, level or policy name starts anew, and leaves the state of the first as it is', async () => {
    const small = fixedWindow({ quota: 10, window: '1m' })
    const first = version(small)
    await drain(first)
    expect(await version(slidingLog({ quota: 10, window: '1m' })).check(merchant)).toMatchObject({ allowed: true })
    const renamed = createPolicy({
      name: 'api',
      levels: [{ name: 'seller', key: 'merchant', limit: small }],
      store: own.store,
    })
    expect(await renamed.check(merchant)).toMatchObject({ allowed: true })
    const other = createPolicy({
      name: 'other',
      levels: [{ name: 'merchant', key: 'merchant', limit: small }],
      store: own.store,
    })
    expect(await other.check(merchant)).toMatchObject({ allowed: true })
    expect(await first.check(merchant)).toMatchObject({ allowed: false })
  })
})

function isWindow({ algorithm }: Limit): boolean {
  return algorithm === 'fixed-window' || algorithm === 'sliding-window'
}
