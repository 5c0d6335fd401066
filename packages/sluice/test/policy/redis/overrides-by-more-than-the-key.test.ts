/** Overrides that ask about something that a client may choose from one request to the next. */
import { describe, expect, it } from 'vitest'
import {
  createPolicy,
  fixedWindow,
  type Level,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const PAIRS: readonly { algorithm: string; posts: Limit; gets: Limit }[] = [
  { posts: tokenBucket({ capacity: 100, refill: '100/h' }), gets: tokenBucket({ capacity: 10, refill: '10/s' }) },
  { posts: leakyBucket({ capacity: 100, drain: '100/h' }), gets: leakyBucket({ capacity: 10, drain: '10/s' }) },
  { posts: fixedWindow({ quota: 100, window: '1h' }), gets: fixedWindow({ quota: 10, window: '1s' }) },
  { posts: slidingWindow({ quota: 100, window: '1h' }), gets: slidingWindow({ quota: 10, window: '1s' }) },
  { posts: slidingLog({ quota: 100, window: '1h' }), gets: slidingLog({ quota: 10, window: '1s' }) },
].map((pair) => ({ algorithm: pair.posts.algorithm, ...pair }))

const day = (quota: number) => fixedWindow({ quota, window: '1d' })

onBothStores((own) => {
  const create = (level: Omit<Level, 'name' | 'key'>) =>
    createPolicy({ name: 'api', levels: [{ name: 'user', key: 'user', ...level } as Level], store: own.store })
  const left = async (policy: ReturnType<typeof create>, method: string) =>
    (await policy.peek({ user: 'u', method })).levels[0].decision.remaining

  it.each(PAIRS)(
    'a client that alternates between a $algorithm and an override of it gets no more than each allows',
    async ({ posts, gets }) => {
      const policy = create({ limit: posts, overrides: [{ when: { method: 'GET' }, limit: gets }] })
      const served = { POST: 0, GET: 0 }
      const take = async (method: 'POST' | 'GET') => {
        while ((await policy.check({ user: 'u', method })).allowed) served[method]++
      }
      for (let i = 0; i < 20; i++) {
        await take('POST')
        own.clock.advance(1_000)
        await take('GET')
        own.clock.advance(1_000)
      }
      // 100, and what a bucket refills in 40 s; ten a time, of which the time between two is more than a window.
      expect(served.POST).toBeGreaterThanOrEqual(100)
      expect(served.POST).toBeLessThanOrEqual(101)
      expect(served.GET).toBeLessThanOrEqual(20 * 10)
    },
  )

  it('what is taken under one counts under no other, whichever of them is wider', async () => {
    const policy = create({
      limit: day(10),
      overrides: [
        { when: { method: 'GET' }, limit: day(20) },
        { when: { method: 'PUT' }, limit: day(5) },
      ],
    })
    await policy.check({ user: 'u', method: 'GET' }, { cost: 7 })
    await policy.check({ user: 'u', method: 'PUT' }, { cost: 2 })
    expect([await left(policy, 'POST'), await left(policy, 'GET'), await left(policy, 'PUT')]).toEqual([10, 13, 3])
  })

  it('HEAD, which a handler of GET may answer, counts under an override for GET and under its own', async () => {
    const policy = create({
      limit: day(10),
      overrides: [
        { when: { method: 'GET' }, limit: day(20) },
        { when: { method: 'HEAD' }, limit: day(5) },
      ],
    })
    await policy.check({ user: 'u', method: 'GET' }, { cost: 7 })
    const { levels } = await policy.check({ user: 'u', method: 'HEAD' }, { cost: 2 })
    expect(levels.map(({ decision }) => [decision.quota, decision.remaining])).toEqual([
      [20, 11],
      [5, 3],
    ])
    expect(await left(policy, 'POST')).toBe(10)
  })

  it('an override by the key alone counts with what its level has taken', async () => {
    const before = create({ limit: day(10) })
    await before.check({ user: 'u', method: 'GET' }, { cost: 4 })
    const after = create({ limit: day(10), overrides: [{ when: { user: 'u' }, limit: day(20) }] })
    expect(await left(after, 'GET')).toBe(16)
  })

  describe('a change of the policy', () => {
    const gets = { when: { method: 'GET', user: ['u', 'v'] }, limit: day(20) }
    const heads = { when: { method: 'HEAD' }, limit: day(5) }

    it('that puts it elsewhere, or writes it in another order, loses nothing that was taken', async () => {
      await create({ limit: day(10), overrides: [gets, heads] }).check({ user: 'u', method: 'GET' }, { cost: 7 })
      const again = { when: { user: ['u', 'v'], method: 'GET' }, limit: day(20) }
      expect(await left(create({ limit: day(10), overrides: [heads, again] }), 'GET')).toBe(13)
    })

    it('of its limit keeps what was taken', async () => {
      await create({ limit: day(10), overrides: [gets] }).check({ user: 'u', method: 'GET' }, { cost: 7 })
      expect(await left(create({ limit: day(10), overrides: [{ ...gets, limit: day(30) }] }), 'GET')).toBe(23)
    })
  })

  it('a reset forgets what a request has taken under it, and what its level has', async () => {
    const policy = create({ limit: day(10), overrides: [{ when: { method: 'GET' }, limit: [day(20), day(30)] }] })
    await policy.check({ user: 'u', method: 'GET' }, { cost: 7 })
    await policy.check({ user: 'u', method: 'POST' }, { cost: 3 })
    await policy.reset({ user: 'u', method: 'GET' })
    const { levels } = await policy.peek({ user: 'u', method: 'GET' })
    expect(levels.map(({ decision }) => decision.remaining)).toEqual([20, 30])
    expect(await left(policy, 'POST')).toBe(10)
  })

  it('a reservation is settled where it was made', async () => {
    const policy = create({ limit: day(10), overrides: [{ when: { method: 'GET' }, limit: day(20) }] })
    const reservation = await policy.reserve({ user: 'u', method: 'GET' }, { cost: 7 })
    await policy.check({ user: 'u', method: 'POST' }, { cost: 3 })
    await reservation.settle(2)
    expect([await left(policy, 'POST'), await left(policy, 'GET')]).toEqual([7, 18])
  })
})
