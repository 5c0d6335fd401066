import { createLimiter, createPolicy, fixedWindow, tokenBucket } from 'sluice'
import { redisStore } from 'sluice/redis'
import { overshootOf, syncedStore } from 'sluice/synced'
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

const intervalMs = 20

/** A process of a fleet: a synced store on a connection of its own. */
async function node(port = server.port, deadlineMs = 10_000) {
  const client = await connected('ioredis', port)
  clients.push(client)
  const redis = redisStore(client.client, { deadlineMs, onFailure: 'closed' })
  return { redis, store: syncedStore(redis, { intervalMs }) }
}

/** Lets other callbacks of the process run. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isDone())) await turn()
}

describe('a fleet on one Redis server', () => {
  it('admits a bucket, its refill and at most the stated overshoot, with a call in an interval', async () => {
    const fleet = await Promise.all([node(), node(), node()])
    const limit = tokenBucket({ capacity: 300, refill: '1000/s' })
    const limiters = fleet.map(({ store }) => createLimiter({ name: 'bucket', limit, store }))
    const startMs = performance.now()
    let admitted = 0
    while (performance.now() - startMs < 1_500) {
      for (const limiter of limiters) for (let i = 0; i < 5; i++) if (limiter.tryAcquireNow('k')?.allowed) admitted++
      await turn()
    }
    const elapsedMs = performance.now() - startMs
    const stats = fleet.map(({ store }) => store.stats())
    const gapMs = Math.ceil(Math.max(...stats.map(({ longestGapMs }) => longestGapMs)))
    expect(admitted).toBeLessThanOrEqual(300 + elapsedMs + overshootOf(limit, { nodes: 3, gapMs }))
    expect(admitted).toBeGreaterThan(0.7 * elapsedMs)
    for (const { calls, direct } of stats) {
      expect(calls).toBeLessThanOrEqual(1 + elapsedMs / (0.8 * intervalMs))
      expect(direct).toBe(0)
    }
    await Promise.all(fleet.map(({ store }) => store.close()))
  })

  it('a node knows what another took once both have synced, and close reports the rest', async () => {
    const [one, other] = [await node(), await node()]
    const limit = fixedWindow({ quota: 200, window: '36500d' })
    const [mine, theirs] = [one, other].map(({ store }) => createLimiter({ name: 'window', limit, store }))
    mine.tryAcquireNow('k', { cost: 120 })
    await until(() => one.store.stats().unreported === 0)
    await until(() => theirs.tryAcquireNow('k', { cost: 0 })?.remaining === 80)
    theirs.tryAcquireNow('k', { cost: 30 })
    await other.store.close()
    expect(await one.redis.peek([{ name: 'window', limit, key: 'k', cost: 0 }])).toMatchObject({
      decisions: [{ remaining: 50 }],
    })
    await one.store.close()
  })

  it('the keys of a thousand clients leave in few calls to Redis', async () => {
    const { store } = await node()
    const limit = tokenBucket({ capacity: 10, refill: '1/m' })
    const limiter = createLimiter({ name: 'many', limit, store })
    for (let i = 0; i < 1_000; i++) limiter.tryAcquireNow(`client-${i}`)
    await until(() => store.stats().unreported === 0)
    expect(store.stats()).toMatchObject({ calls: 1_000, syncs: 1, failures: 0 })
    await store.close()
  })

  it('the keys of 30,000 clients are synced in turns, and requests that ask Redis itself find room beside them', async () => {
    const client = await connected('ioredis', server.port)
    clients.push(client)
    // Default options, but for a deadline that a busy machine does not reach: 50 ms suffice on an idle one.
    const redis = redisStore(client.client, { deadlineMs: 2_000 })
    const store = syncedStore(redis)
    const limit = tokenBucket({ capacity: 1_000, refill: '1000/m' })
    const limiter = createLimiter({ name: 'crowd', limit, store })
    const beside = createLimiter({ name: 'beside', limit: tokenBucket({ capacity: 1e6, refill: '1/s' }), store: redis })
    let degraded = 0
    for (let i = 0; store.stats().calls < 60_000; i++) {
      for (let j = 0; j < 1_000; j++) limiter.tryAcquireNow(`client-${(1_000 * i + j) % 30_000}`)
      if ((await beside.tryAcquire('k')).degraded) degraded++
    }
    const { failures, longestGapMs } = store.stats()
    expect(redis.stats().degraded.overload).toBe(0)
    expect({ failures, degraded }).toEqual({ failures: 0, degraded: 0 })
    const ages = Array.from({ length: 30_000 }, (_, i) => {
      const { asOfMs = 0 } = limiter.tryAcquireNow(`client-${i}`, { cost: 0 }) ?? {}
      return store.clock.now() - asOfMs
    })
    expect(Math.max(...ages)).toBeLessThanOrEqual(store.stats().longestGapMs)
    expect(longestGapMs).toBeLessThan(20_000)
    await store.close()
  }, 60_000)

  it('a policy takes from all of its levels or from none', async () => {
    const { store } = await node()
    const policy = createPolicy({
      name: 'levels',
      store,
      levels: [
        { name: 'all', limit: tokenBucket({ capacity: 10, refill: '1/m' }) },
        { name: 'user', key: ['user'], limit: tokenBucket({ capacity: 1, refill: '1/m' }) },
      ],
    })
    expect((await policy.check({ user: 'a' })).allowed).toBe(true)
    expect((await policy.check({ user: 'a' })).allowed).toBe(false)
    expect(store.stats().unreported).toBe(2)
    await store.close()
  })
})

describe('a Redis server that stops', () => {
  it('leaves a node deciding within its own limit', async () => {
    const own = await startRedis()
    const { store } = await node(own.port, 50)
    const limit = tokenBucket({ capacity: 100, refill: '1/h' })
    const limiter = createLimiter({ name: 'away', limit, store })
    limiter.tryAcquireNow('k', { cost: 10 })
    await until(() => store.stats().unreported === 0)
    await own.stop()
    let admitted = 10
    for (let i = 0; i < 200; i++) if (limiter.tryAcquireNow('k')?.allowed) admitted++
    expect(admitted).toBe(100)
    await until(() => store.stats().failures > 0)
    expect(store.stats().unreported).toBe(90)
    await store.close()
  })
})
