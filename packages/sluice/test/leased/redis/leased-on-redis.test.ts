import { createLimiter, fixedWindow, type Limit, slidingWindow, tokenBucket } from 'sluice'
import { leasedStore } from 'sluice/leased'
import { redisStore } from 'sluice/redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { connected, type TestClient } from '../../redis/faults-clients.js'

let server: RedisServer
const clients: TestClient[] = []

beforeAll(async () => {
  server = await startRedis()
})
afterAll(async () => {
  for (const client of clients) client.close()
  await server?.stop()
})

/** A process of a fleet: a leased store on a connection of its own. */
async function node(port = server.port) {
  const client = await connected('ioredis', port)
  clients.push(client)
  const redis = redisStore(client.client, { deadlineMs: 10_000, onFailure: 'closed' })
  return { redis, store: leasedStore(redis) }
}

const nodes = (count: number) => Promise.all(Array.from({ length: count }, () => node()))

/** Lets other callbacks of the process run. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('a fleet on one Redis server', () => {
  it('admits a bucket and its refill, and no more, with few calls', async () => {
    const fleet = await nodes(3)
    const limit = tokenBucket({ capacity: 300, refill: '1000/s' })
    const limiters = fleet.map(({ store }) => createLimiter({ name: 'bucket', limit, store }))
    const startMs = performance.now()
    let [asked, admitted] = [0, 0]
    while (performance.now() - startMs < 1_500) {
      for (const limiter of limiters) {
        for (let i = 0; i < 5; i++) {
          const decision = limiter.tryAcquireNow('k') ?? (await limiter.tryAcquire('k'))
          asked++
          if (decision.allowed) admitted++
        }
      }
      await turn()
    }
    const elapsedMs = performance.now() - startMs
    const most = 300 + elapsedMs
    expect(admitted).toBeLessThanOrEqual(most)
    expect(admitted).toBeGreaterThan(0.7 * most)
    const calls = fleet.map(({ store }) => store.stats()).reduce((sum, each) => sum + each.exchanges + each.direct, 0)
    expect(calls).toBeLessThan(asked / 10)
    await Promise.all(fleet.map(({ store }) => store.close()))
  })

  for (const limit of [
    fixedWindow({ quota: 200, window: '36500d' }),
    slidingWindow({ quota: 200, window: '36500d' }),
    tokenBucket({ capacity: 200, refill: '1/d' }),
  ] as readonly Limit[]) {
    it(`admits the quota of a ${limit.algorithm}, and close gives back what is left`, async () => {
      const fleet = await nodes(2)
      const demand = { name: 'quota', limit, key: limit.algorithm, cost: 1 }
      for (let i = 0; i < 60; i++)
        for (const { store } of fleet) expect((await store.decide([demand])).allowed).toBe(true)
      await Promise.all(fleet.map(({ store }) => store.close()))
      expect((await fleet[0].redis.decide([{ ...demand, cost: 0 }])).decisions[0].remaining).toBe(80)
      const other = await node()
      let admitted = 0
      for (let i = 0; i < 100; i++) if ((await other.store.decide([demand])).allowed) admitted++
      expect(admitted).toBe(80)
      expect(other.store.stats()).toMatchObject({ keys: 1, spent: 78 })
      await other.store.close()
    })
  }

  it('denies a blocked key at once where it was blocked, and elsewhere when the lease is over', async () => {
    const [one, two] = await nodes(2)
    const limit = tokenBucket({ capacity: 1_000, refill: '10/s' })
    const [here, there] = [one, two].map(({ store }) => createLimiter({ name: 'block', limit, store }))
    for (let i = 0; i < 10; i++) for (const each of [here, there]) await each.tryAcquire('k')
    await here.block('k', { duration: '1h' })
    expect((await here.tryAcquire('k')).allowed).toBe(false)
    const startMs = performance.now()
    while ((await there.tryAcquire('k')).allowed) await turn()
    expect(performance.now() - startMs).toBeLessThan(5_000)
    await here.reset('k')
    expect((await here.tryAcquire('k')).allowed).toBe(true)
    await Promise.all([one.store.close(), two.store.close()])
  })
})

it('without Redis, units in hand are spent, and then onFailure answers', async () => {
  const own = await startRedis()
  const { store } = await node(own.port)
  const limit = tokenBucket({ capacity: 1_000, refill: '10/s' })
  const limiter = createLimiter({ name: 'away', limit, store })
  for (let i = 0; i < 40; i++) await limiter.tryAcquire('k')
  await own.stop()
  const { held } = store.stats()
  const decisions = []
  for (let i = 0; i < held + 5; i++) decisions.push(await limiter.tryAcquire('k'))
  expect(held).toBeGreaterThan(0)
  expect(decisions.filter(({ allowed }) => allowed).length).toBeLessThanOrEqual(held)
  expect(decisions.at(-1)).toMatchObject({ allowed: false, degraded: 'closed' })
  await store.close()
})
