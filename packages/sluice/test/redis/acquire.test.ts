import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import {
  type AsyncLimiter,
  createLimiter,
  fixedWindow,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
  WaitTooLongError,
} from '../../src/index.js'
import { type RedisStore, redisStore } from '../../src/stores/redis/index.js'
import { connected, type TestClient } from './faults-clients.js'
import { downStore } from './faults-down.js'
import { until } from './faults-until.js'

let server: RedisServer
const clients: TestClient[] = []
const stores: RedisStore[] = []

beforeAll(async () => {
  server = await startRedis()
  for (const name of ['ioredis', 'node-redis', 'ioredis'] as const) {
    const client = await connected(name, server.port)
    clients.push(client)
    stores.push(redisStore(client.client, { deadlineMs: 10_000, onFailure: 'closed' }))
  }
})

afterAll(async () => {
  for (const client of clients) client.close()
  await server?.stop()
})

describe('acquire on Redis', () => {
  it('shares a limit among processes, none of which starves', async () => {
    const limit = tokenBucket({ capacity: 5, refill: '200/s' })
    const limiters = stores.map((store) => createLimiter({ name: 'shared', limit, store }))
    const beganMs = performance.now()
    const counts = await Promise.all(limiters.map((limiter) => greedily(limiter, beganMs + 1_500)))
    const tookMs = performance.now() - beganMs
    const total = counts.reduce((sum, count) => sum + count, 0)
    expect(total).toBeLessThanOrEqual(5 + 0.2 * tookMs + 1)
    expect(total).toBeGreaterThan(100)
    for (const count of counts) expect(count).toBeGreaterThan(5)
  })

  it('asks Redis once for all who wait, until it is time', async () => {
    const limit = tokenBucket({ capacity: 1, refill: '1/m' })
    const limiter = createLimiter({ name: 'once', limit, store: stores[0] })
    await limiter.tryAcquire('key')
    const { calls } = stores[0].stats()
    const controller = new AbortController()
    const waits = Array.from({ length: 1_000 }, () => limiter.acquire('key', { signal: controller.signal }))
    const left = Promise.allSettled(waits)
    await pause(100)
    expect(stores[0].stats().calls - calls).toBe(1)
    controller.abort()
    expect((await left).every(({ status }) => status === 'rejected')).toBe(true)
    expect(stores[0].stats().calls - calls).toBe(1)
  })

  it('asks for many together when there is enough', async () => {
    const limit = tokenBucket({ capacity: 1_000, refill: '1/m' })
    const limiter = createLimiter({ name: 'many', limit, store: stores[0] })
    const { calls, batches } = stores[0].stats()
    await Promise.all(Array.from({ length: 1_000 }, () => limiter.acquire('key')))
    const after = stores[0].stats()
    expect(after.calls - calls).toBe(1_000)
    expect(after.batches - batches).toBeLessThanOrEqual(20)
  })

  it('gives back what was taken for one who has left meanwhile', async () => {
    const limit = tokenBucket({ capacity: 10, refill: '1/d' })
    const limiter = createLimiter({ name: 'left', limit, store: stores[0] })
    const controller = new AbortController()
    const wait = limiter.acquire('key', { cost: 4, signal: controller.signal })
    const { calls } = stores[0].stats()
    controller.abort('gone')
    await expect(wait).rejects.toBe('gone')
    await until('it was given back', () => stores[0].stats().calls > calls && stores[0].stats().pending === 0)
    expect((await limiter.peek('key')).remaining).toBe(10)
  })

  it('is woken by what the same limiter gives back', async () => {
    const limit = tokenBucket({ capacity: 2, refill: '1/d' })
    const limiter = createLimiter({ name: 'woken', limit, store: stores[0] })
    const reservation = await limiter.reserve('key', { cost: 2 })
    const waits = Promise.all([limiter.acquire('key'), limiter.acquire('key')])
    await reservation.cancel()
    await waits
    const next = limiter.acquire('key')
    await limiter.refund('key')
    await next
    const last = limiter.acquire('key')
    await limiter.reset('key')
    expect(await last).toMatchObject({ allowed: true, remaining: 1 })
  })

  it('leaves a leaky bucket in order, at its rate', async () => {
    const limit = leakyBucket({ capacity: 3, drain: '100/s' })
    const limiter = createLimiter({ name: 'leaky', limit, store: stores[0] })
    const left: number[] = []
    const beganMs = performance.now()
    await Promise.all(Array.from({ length: 10 }, (_, i) => limiter.acquire('key').then(() => left.push(i))))
    expect(left).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(89)
  })

  const WINDOW_MS = 150
  const WINDOW = `${WINDOW_MS}ms` as const
  const QUOTA = 5
  it.each([
    // A caller that comes at the end of a window has the next one too.
    { limit: fixedWindow({ quota: QUOTA, window: WINDOW }), least: 2 },
    { limit: fixedWindow({ quota: QUOTA, window: WINDOW, align: 'first' }), least: 3 },
    { limit: slidingWindow({ quota: QUOTA, window: WINDOW }), least: 2 },
    { limit: slidingLog({ quota: QUOTA, window: WINDOW }), least: 3 },
  ])('waits for windows of $limit.algorithm from two stores, each in its order', async ({ limit, least }) => {
    const name = `windows-${limit.algorithm}-${least}`
    const limiters = stores.slice(0, 2).map((store) => createLimiter({ name, limit, store }))
    const left: number[][] = limiters.map(() => [])
    const { calls } = stores[0].stats()
    const beganMs = performance.now()
    // Four quotas in all: the last is not there before so many windows have passed.
    const waits = limiters.flatMap((limiter, store) =>
      Array.from({ length: 2 * QUOTA }, (_, i) => limiter.acquire('key').then(() => left[store].push(i))),
    )
    await Promise.all(waits)
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(least * WINDOW_MS - 1)
    // Four windows would do, or five if it began at the end of one; the rest is for a busy machine.
    expect(performance.now() - beganMs).toBeLessThan(20 * WINDOW_MS)
    for (const order of left) expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    // No process asks over and over: once for each caller that goes, and sometimes in vain because the other process was first.
    expect(stores[0].stats().calls - calls).toBeLessThan(40)
  })

  it('goes on in the context of its caller', async () => {
    const limit = tokenBucket({ capacity: 1, refill: '200/s' })
    const limiter = createLimiter({ name: 'context', limit, store: stores[0] })
    const context = new AsyncLocalStorage<number>()
    const seen = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        context.run(i, async () => {
          await limiter.acquire('key')
          return context.getStore()
        }),
      ),
    )
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })
})

describe('acquire without Redis', () => {
  const limit = tokenBucket({ capacity: 1, refill: '1/d' })

  it('goes at once while answers are open', async () => {
    const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'open' }) })
    await limiter.acquire('key')
    expect(await limiter.acquire('key')).toMatchObject({ allowed: true, degraded: 'open' })
  })

  it('waits while answers are closed', async () => {
    const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'closed' }) })
    await expect(limiter.acquire('key', { maxWaitMs: 999 })).rejects.toBeInstanceOf(WaitTooLongError)
    await expect(limiter.acquire('key', { signal: AbortSignal.timeout(20) })).rejects.toThrow(/timeout/)
  })
})

/** Acquires for several at a time until `endMs`, and counts. */
async function greedily(limiter: AsyncLimiter, endMs: number): Promise<number> {
  let count = 0
  const one = async () => {
    while (performance.now() < endMs) {
      await limiter.acquire('key')
      count++
    }
  }
  await Promise.all(Array.from({ length: 10 }, one))
  return count
}
