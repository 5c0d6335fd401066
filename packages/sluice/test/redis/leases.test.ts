import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { concurrency, createLimiter, createPolicy, tokenBucket } from '../../src/index.js'
import { microseconds } from '../../src/limits/index.js'
import { ioredisRunner } from '../../src/stores/redis/clients/ioredis-client.js'
import { RedisStore, redisStore } from '../../src/stores/redis/redis-store.js'
import { injectedTime } from '../../src/stores/redis/time-source.js'
import { lives, playLives, TTL_MS } from '../limiter/lease-lives.js'
import { connected } from './faults-clients.js'
import { startInjected } from './injected-store.js'
import { ownServer } from './own-server.js'

const HOLDER = fileURLToPath(new URL('./lease-holder.mjs', import.meta.url))
const START_MS = 1_745_000_000_000

describe('leases on a time that is moved by hand', () => {
  let injected: Awaited<ReturnType<typeof startInjected>>
  let prefixes = 0

  beforeAll(async () => {
    injected = await startInjected()
  })

  afterAll(() => injected?.stop())

  /** Two stores, as two processes have them, that share their keys. */
  function twoStores(clock: ManualClock): RedisStore[] {
    const prefix = `lease-${++prefixes}:`
    const time = injectedTime(() => microseconds(clock.now()))
    return [1, 2].map(() => new RedisStore(ioredisRunner(injected.client), { prefix, deadlineMs: 60_000 }, time))
  }

  it('never more than max are in flight over two stores, whatever holders do and however they end', async () => {
    await fc.assert(
      fc.asyncProperty(lives, async (life) => {
        const clock = new ManualClock(START_MS)
        const limit = concurrency({ max: life.max, ttl: `${TTL_MS}ms` })
        const limiters = twoStores(clock).map((store) => createLimiter({ name: 'jobs', limit, store }))
        await playLives(limiters, clock, life)
      }),
      { numRuns: 150 },
    )
  })

  it('a holder that dies frees its place for the other store after the ttl and not before', async () => {
    const clock = new ManualClock(START_MS)
    const [one, other] = twoStores(clock).map((store) =>
      createLimiter({ name: 'jobs', limit: concurrency({ max: 1, ttl: '30s' }), store }),
    )
    expect(await one.lease('k')).toMatchObject({ allowed: true, endsAtMs: START_MS + 30_000 })
    clock.advance(29_999)
    expect((await other.lease('k')).allowed).toBe(false)
    clock.advance(1)
    expect((await other.lease('k')).allowed).toBe(true)
  })
})

describe('leases by the clock of Redis', () => {
  const own = ownServer()
  const jobs = (max: number) =>
    createLimiter({ name: 'jobs', limit: concurrency({ max, ttl: '1m' }), store: own.store })

  it('extending is one call of the script, and no caller of the same turn comes between', async () => {
    const limiter = jobs(1)
    const lease = await limiter.lease('turn')
    const before = own.store.stats().batches
    const endedMs = lease.endsAtMs ?? 0
    const [early, extended, late] = await Promise.all([
      limiter.tryAcquire('turn'),
      lease.extend(),
      limiter.tryAcquire('turn'),
    ])
    expect([early.allowed, extended, late.allowed]).toEqual([false, true, false])
    expect(own.store.stats().batches).toBe(before + 1)
    expect(lease.endsAtMs).toBeGreaterThan(endedMs)
    await lease.release()
    expect((await limiter.peek('turn')).remaining).toBe(1)
  })

  it('what is released while it is extended is given back once', async () => {
    const limiter = jobs(3)
    const others = await limiter.lease('both')
    const lease = await limiter.lease('both')
    await Promise.all([lease.extend(), lease.release(), lease.extend(), lease.release()])
    expect((await limiter.peek('both')).remaining).toBe(2)
    await others.release()
    expect((await limiter.peek('both')).remaining).toBe(3)
    expect(await own.redis.exists('sluice:c:{both}jobs')).toBe(0)
  })

  it('is released at the end of a block that uses it', async () => {
    const limiter = jobs(1)
    {
      await using lease = await limiter.lease('block')
      expect(lease.allowed).toBe(true)
    }
    expect((await limiter.peek('block')).remaining).toBe(1)
  })

  it('a waiter gets a place when another is released', async () => {
    const limiter = jobs(1)
    const lease = await limiter.lease('waited for')
    const waiting = limiter.acquire('waited for', { maxWaitMs: 30_000 })
    await limiter.peek('waited for')
    await lease.release()
    expect(await waiting).toMatchObject({ allowed: true, remaining: 0 })
  })

  it('a lease of another limit is a rejection', async () => {
    const limiter = createLimiter({ name: 'a', limit: tokenBucket({ capacity: 1, refill: '1/s' }), store: own.store })
    await expect(limiter.lease('k')).rejects.toThrow('use reserve')
  })

  it('a hundred callers on two connections: never more than five at a time, and all have their turn', async () => {
    const second = await connected('ioredis', own.server.port)
    const stores = [own.store, redisStore(second.client, { deadlineMs: 10_000, onFailure: 'closed' })]
    const limiters = stores.map((store) =>
      createLimiter({ name: 'crowd', limit: concurrency({ max: 5, ttl: '1m' }), store }),
    )
    let running = 0
    let most = 0
    const work = async (i: number) => {
      for (;;) {
        await using lease = await limiters[i % 2].lease('k')
        if (!lease.allowed) continue
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
        return
      }
    }
    await Promise.all(Array.from({ length: 100 }, (_, i) => work(i)))
    second.close()
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(5)
    expect((await limiters[0].peek('k')).remaining).toBe(5)
  })

  it('a process that is killed holds its place until its ttl is over, and then a waiter gets it', async () => {
    const heldMs = 3_000
    const held = { max: 1, ttl: `${heldMs}ms` } as const
    const child = fork(HOLDER, [JSON.stringify({ port: own.server.port, ...held })])
    const died = once(child, 'exit').then(() => Promise.reject(new Error('the holder died before it held')))
    died.catch(() => {})
    const [{ allowed, endsAtMs }] = await Promise.race([once(child, 'message'), died])
    expect(allowed).toBe(true)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const limiter = createLimiter({ name: 'held', limit: concurrency(held), store: own.store })
    expect((await limiter.lease('k')).allowed).toBe(false)
    await using lease = await limiter.acquireLease('k', { maxWaitMs: 20_000 })
    // By the clock of Redis.
    expect((lease.endsAtMs ?? 0) - heldMs).toBeGreaterThanOrEqual(endsAtMs)
  })

  it('a block and a reset are for leases, too', async () => {
    const limiter = jobs(1)
    const lease = await limiter.lease('blocked')
    await limiter.block('blocked', { duration: '1m' })
    expect(await lease.extend()).toBe(false)
    expect((await limiter.lease('blocked')).allowed).toBe(false)
    await limiter.reset('blocked')
    const fresh = await limiter.lease('blocked')
    await lease.release()
    expect([fresh.allowed, (await limiter.peek('blocked')).remaining]).toEqual([true, 0])
  })

  it('a policy is released, and what buckets gave stays taken', async () => {
    const policy = createPolicy({
      name: 'api',
      levels: [
        { name: 'running', key: 'user', limit: concurrency({ max: 2 }) },
        { name: 'calls', key: 'user', limit: tokenBucket({ capacity: 10, refill: '1/h' }) },
      ],
      store: own.store,
    })
    const remaining = async () => (await policy.peek({ user: 'u' })).levels.map(({ decision }) => decision.remaining)
    {
      await using first = await policy.reserve({ user: 'u' })
      const second = await policy.reserve({ user: 'u' })
      expect((await policy.reserve({ user: 'u' })).verdict).toMatchObject({ allowed: false, deniedBy: ['running'] })
      expect([first.verdict.allowed, await remaining()]).toEqual([true, [0, 8]])
      await second.cancel()
      await second.release()
      expect(await remaining()).toEqual([1, 9])
    }
    expect(await remaining()).toEqual([2, 9])
  })
})
