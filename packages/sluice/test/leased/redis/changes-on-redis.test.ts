import { createLimiter, createPolicy, tokenBucket, unlimited } from 'sluice'
import { type LeasedStore, leasedStore } from 'sluice/leased'
import { redisStore } from 'sluice/redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { connected, type TestClient } from '../../redis/faults-clients.js'

let server: RedisServer
const clients: TestClient[] = []
const stores: LeasedStore[] = []

beforeAll(async () => {
  server = await startRedis()
})
afterAll(async () => {
  for (const store of stores) await store.close()
  for (const client of clients) client.close()
  await server?.stop()
})

async function node() {
  const client = await connected('ioredis', server.port)
  clients.push(client)
  const redis = redisStore(client.client, { deadlineMs: 10_000, onFailure: 'closed' })
  const store = leasedStore(redis)
  stores.push(store)
  return { redis, store }
}

/** Of these buckets nothing comes back during a test. */
const limit = tokenBucket({ capacity: 100, refill: '1/d' })

/** Takes so many units one by one, and returns how many were admitted. */
async function take(
  limiter: { tryAcquire(key: string): Promise<{ allowed: boolean }> },
  count: number,
): Promise<number> {
  let admitted = 0
  for (let i = 0; i < count; i++) if ((await limiter.tryAcquire('k')).allowed) admitted++
  return admitted
}

describe('a leased key on Redis', () => {
  it('peek counts the units in hand, says when Redis was asked, and takes nothing', async () => {
    const { store } = await node()
    const limiter = createLimiter({ name: 'peek', limit, store })
    const before = Date.now()
    expect(await take(limiter, 20)).toBe(20)
    const { keys, held } = store.stats()
    expect(keys).toBe(1)
    expect(held).toBeGreaterThan(0)
    for (let i = 0; i < 3; i++) {
      const { remaining, asOfMs = 0 } = await limiter.peek('k')
      expect(remaining).toBe(80)
      expect(asOfMs).toBeGreaterThan(before - 1_000)
      expect(asOfMs).toBeLessThanOrEqual(Date.now() + 1_000)
    }
    expect((await limiter.peek('k', { cost: 81 })).allowed).toBe(false)
    expect((await limiter.tryAcquire('k', { cost: 80 })).allowed).toBe(true)
    expect(await limiter.peek('k')).toMatchObject({ allowed: false, remaining: 0 })
    // A key that is not on lease is asked for, and its decision is as of now.
    expect(await limiter.peek('cold')).not.toHaveProperty('asOfMs')
  })

  it('set leaves exactly so many units, counting those that others have on lease', async () => {
    const [one, other] = [await node(), await node()]
    const [mine, theirs] = [one, other].map(({ store }) => createLimiter({ name: 'set', limit, store }))
    expect((await take(mine, 10)) + (await take(theirs, 10))).toBe(20)
    expect(other.store.stats().held).toBeGreaterThan(0)
    await mine.set('k', { remaining: 40 })
    expect((await take(mine, 60)) + (await take(theirs, 60))).toBeLessThanOrEqual(40)
    // What the other held when it ended comes back.
    await Promise.all([one.store.close(), other.store.close()])
    const { remaining } = await createLimiter({ name: 'set', limit, store: one.redis }).peek('k')
    expect(remaining).toBe(0)
  })
})

describe('a policy on leases of Redis', () => {
  const policyOf = (store: LeasedStore, name: string) =>
    createPolicy({
      name,
      store,
      levels: [
        { name: 'all', limit },
        { name: 'user', key: ['user'], limit: tokenBucket({ capacity: 30, refill: '1/d' }) },
      ],
    })

  /** Checks so often, and returns how many were allowed. */
  async function check(policy: ReturnType<typeof policyOf>, count: number): Promise<number> {
    let allowed = 0
    for (let i = 0; i < count; i++) if ((await policy.check({ user: 'a' })).allowed) allowed++
    return allowed
  }

  it('obeys a run-time override of a busy key at once, and its removal', async () => {
    const { store } = await node()
    const policy = policyOf(store, 'overridden')
    expect(await check(policy, 40)).toBe(30)
    expect(store.stats().keys).toBe(2)
    await policy.override('user', 'a', unlimited())
    expect(await check(policy, 40)).toBe(40)
    await policy.override('user', 'a', tokenBucket({ capacity: 0, refill: '1/d' }))
    expect(await check(policy, 5)).toBe(0)
    await policy.removeOverride('user', 'a')
    await policy.reset({ user: 'a' })
    expect(await check(policy, 40)).toBe(30)
  })

  it('reserves units that end by themselves: a settled one gives back, all levels or none', async () => {
    const { store } = await node()
    const policy = policyOf(store, 'reserved')
    expect(await check(policy, 10)).toBe(10)
    const reservation = await policy.reserve({ user: 'a' }, { cost: 15, ttl: '1m', id: 'leased-reservation' })
    expect(reservation.verdict.allowed).toBe(true)
    const more = await policy.reserve({ user: 'a' }, { cost: 15, ttl: '1m', id: 'too-much' })
    expect(more.verdict.allowed).toBe(false)
    await policy.settle('leased-reservation', 5)
    expect(await check(policy, 40)).toBe(15)
    // 10 and 15 were checked, and 5 settled.
    const { levels } = await policy.peek({ user: 'b' })
    expect(levels.find(({ name }) => name === 'all')?.decision.remaining).toBe(70)
  })
})
