import fc from 'fast-check'
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { claimOnce, createLimiter, createPolicy, StoreUnavailableError, tokenBucket } from '../../src/index.js'
import { microseconds } from '../../src/limits/index.js'
import { ioredisRunner } from '../../src/stores/redis/clients/ioredis-client.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { RedisStore } from '../../src/stores/redis/redis-store.js'
import { injectedTime } from '../../src/stores/redis/time-source.js'
import { deeds, playDeeds, QUOTA } from '../reservations/reservation-model.js'
import { connected } from './faults-clients.js'
import { until } from './faults-until.js'
import { startInjected } from './injected-store.js'
import { ownServer } from './own-server.js'

const START_MS = 1_745_000_000_000
const limit = tokenBucket({ capacity: 10, refill: '1/d' })

describe('reservations on a time that is moved by hand', () => {
  let injected: Awaited<ReturnType<typeof startInjected>>
  let prefixes = 0

  beforeAll(async () => {
    injected = await startInjected()
  })

  afterAll(() => injected?.stop())

  /** Two stores, as two processes have them, that share their keys. */
  function twoStores(clock: ManualClock): RedisStore[] {
    const prefix = `reserve-${++prefixes}:`
    const time = injectedTime(() => microseconds(clock.now()))
    return [1, 2].map(() => new RedisStore(ioredisRunner(injected.client), { prefix, deadlineMs: 60_000 }, time))
  }

  const twoLimiters = (clock: ManualClock) =>
    twoStores(clock).map((store) => createLimiter({ name: 'test', limit, store }))

  it('agree with a model over two stores, whatever is reserved, settled, cancelled and left', async () => {
    const one = tokenBucket({ capacity: QUOTA, refill: '1/d' })
    await fc.assert(
      fc.asyncProperty(deeds, async (list) => {
        const clock = new ManualClock(START_MS)
        const stores = twoStores(clock)
        const limiters = stores.map((store) => createLimiter({ name: 'test', limit: one, store }))
        const sweeps = stores.map((store) => () => store.reservations.sweep())
        await playDeeds(limiters, sweeps, clock, list)
        for (const store of stores) store.close()
      }),
      { numRuns: 150 },
    )
  }, 120_000)

  it('are settled by the other store, and only once', async () => {
    const [one, other] = twoLimiters(new ManualClock(START_MS))
    const { id } = await one.reserve('key', { cost: 4, ttl: '30s' })
    const settled = await Promise.all([one, other, one, other].map((each) => each.settle(id, 1)))
    expect(settled.filter(Boolean)).toHaveLength(1)
    expect((await one.peek('key')).remaining).toBe(9)
  })

  it('take once if both stores open the same id at the same time', async () => {
    const limiters = twoLimiters(new ManualClock(START_MS))
    const options = { cost: 4, ttl: '30s', id: 'same' } as const
    const both = await Promise.all([...limiters, ...limiters].map((each) => each.reserve('key', options)))
    expect(both.map(({ decision }) => decision.remaining)).toEqual([6, 6, 6, 6])
    expect((await limiters[0].peek('key')).remaining).toBe(6)
  })

  it('come to their end during a settle: the units come back once', async () => {
    const clock = new ManualClock(START_MS)
    const [one, other] = twoStores(clock)
    const limiter = createLimiter({ name: 'test', limit, store: one })
    const reservation = await limiter.reserve('key', { cost: 4, ttl: '30s' })
    clock.advance(30_000)
    // The call that settles leaves after the end, together with sweeps of both stores.
    await Promise.all([reservation.settle(1), one.reservations.sweep(), other.reservations.sweep()])
    expect((await limiter.peek('key')).remaining).toBe(10)
    expect(await limiter.settle(reservation.id, 1)).toBe(false)
    expect((await limiter.peek('key')).remaining).toBe(10)
  })

  it('give back more than a page of reservations in one sweep', async () => {
    const clock = new ManualClock(START_MS)
    const [one, other] = twoStores(clock)
    const large = tokenBucket({ capacity: 1_000, refill: '1/d' })
    const limiter = createLimiter({ name: 'test', limit: large, store: one })
    await Promise.all(Array.from({ length: 350 }, () => limiter.reserve('key', { cost: 2, ttl: '30s' })))
    clock.advance(30_000)
    await other.reservations.sweep()
    expect((await limiter.peek('key')).remaining).toBe(1_000)
  })

  /** Keeps `count` reservations that this version cannot read, which end at `endsMs`. Returns their Redis keys. */
  async function unreadable(prefix: string, count: number, endsMs: number): Promise<string[]> {
    const ends = `${prefix}r:{reservations-0}`
    const records = ['1,1\n{"version":2}', 'broken', '']
    const members = Array.from({ length: count }, (_, i) => `newer-${i}`)
    const calls = injected.client.pipeline()
    for (const [i, member] of members.entries()) {
      calls.set(`${ends}:${member}`, records[i % records.length])
      calls.zadd(ends, endsMs, member)
    }
    await calls.exec()
    return members.map((member) => `${ends}:${member}`)
  }

  it.each([
    [250, 1],
    [2_500, 3],
  ])(
    'come back although %d reservations that cannot be read ended before them, within %d sweeps',
    async (count, sweeps) => {
      const clock = new ManualClock(START_MS)
      const { store, prefix } = injected.createWithPrefix(clock)
      const limiter = createLimiter({ name: 'test', limit, store })
      const kept = await unreadable(prefix, count, START_MS + 1)
      for (let i = 0; i < 3; i++) {
        await limiter.reserve('key', { cost: 4, ttl: '1s' })
        clock.advance(1_000)
        for (let sweep = 0; sweep < sweeps; sweep++) await store.reservations.sweep()
        expect((await limiter.peek('key')).remaining).toBe(10)
      }
      expect(await injected.client.exists(...kept)).toBe(count)
      store.close()
    },
  )

  it('cannot be opened under the id of a broken record, and other calls of the batch succeed', async () => {
    const { store, prefix } = injected.createWithPrefix(new ManualClock(START_MS))
    await injected.client.set(`${prefix}r:{reservations-0}:limiter:4:test:mine`, 'broken')
    const limiter = createLimiter({ name: 'test', limit, store })
    const [{ decision }, other] = await Promise.all([
      limiter.reserve('key', { cost: 4, ttl: '30s', id: 'mine' }),
      limiter.tryAcquire('key'),
    ])
    expect(decision.degraded).toBe('open')
    expect(other).toMatchObject({ remaining: 9, allowed: true })
    expect(other.degraded).toBeUndefined()
    store.close()
  })

  it('of a policy are settled by the attributes in another process', async () => {
    const levels = [
      { name: 'requests', key: ['user'], cost: 1, limit },
      { name: 'tokens', key: ['user'], cost: 'tokens', limit: tokenBucket({ capacity: 100, refill: '1/d' }) },
    ] as const
    const [one, other] = twoStores(new ManualClock(START_MS)).map((store) =>
      createPolicy({ name: 'api', levels, store }),
    )
    const { id, verdict } = await one.reserve(
      { user: 'a\ud800', tokens: 40 },
      { ttl: '30s', id: 'x\udc00'.repeat(200) },
    )
    const again = await other.reserve({ user: 'a\ud800', tokens: 40 }, { ttl: '30s', id })
    expect(again.verdict).toEqual(verdict)
    expect(await other.settle(id, { tokens: 25 })).toBe(true)
    const { levels: left } = await one.peek({ user: 'a\ud800', tokens: 0 })
    expect(left.map(({ decision }) => decision.remaining)).toEqual([9, 75])
  })

  it('of a policy whose levels have changed are opened again by the same request, and by no other', async () => {
    const [store] = twoStores(new ManualClock(START_MS))
    const user = { name: 'user', key: ['user'], limit }
    const before = createPolicy({ name: 'api', levels: [user], store })
    const after = createPolicy({ name: 'api', levels: [{ name: 'all', limit }, user], store })
    const options = { ttl: '30s', id: 'same' } as const
    const { verdict, endsAtMs } = await before.reserve({ user: 'a' }, options)
    const again = await after.reserve({ user: 'a' }, options)
    expect([again.verdict, again.endsAtMs]).toEqual([verdict, endsAtMs])
    expect((await after.peek({ user: 'a' })).levels.map(({ decision }) => decision.remaining)).toEqual([10, 9])
    const wrong = { code: 'SLUICE_INVALID_VALUE', option: 'id' }
    await expect(after.reserve({ user: 'b' }, options)).rejects.toMatchObject(wrong)
    await expect(after.reserve({ user: 'a' }, { ...options, cost: 2 })).rejects.toMatchObject(wrong)
  })

  it('are opened without Redis if their keys hold other values, and other calls of the batch succeed', async () => {
    const { store, prefix } = injected.createWithPrefix(new ManualClock(START_MS))
    await injected.client.set(`${prefix}r:{reservations-0}`, 'something else')
    const limiter = createLimiter({ name: 'test', limit, store })
    const [{ decision, id }, other] = await Promise.all([
      limiter.reserve('key', { cost: 4, ttl: '30s' }),
      limiter.tryAcquire('key'),
    ])
    expect(decision.degraded).toBe('open')
    expect(other).toMatchObject({ remaining: 9, allowed: true })
    expect(await limiter.cancel(id)).toBe(true)
    expect((await limiter.peek('key')).remaining).toBe(9)
    store.close()
  })
})

describe('reservations on the clock of Redis', () => {
  const own = ownServer()

  it('come back by themselves, by any process that uses reservations', async () => {
    const limiter = createLimiter({ name: 'test', limit, store: own.store })
    await limiter.reserve('key', { cost: 4, ttl: '50ms' })
    expect((await limiter.peek('key')).remaining).toBe(6)
    await until('the units are back', async () => (await limiter.peek('key')).remaining === 10)
    expect(await own.redis.keys('sluice:r:*')).toEqual([])
    own.store.close()
  })

  it('leave nothing in Redis without an expiry', async () => {
    const limiter = createLimiter({ name: 'test', limit, store: own.store })
    await limiter.reserve('kept', { cost: 4, ttl: '1m' })
    await claimOnce(own.store, 'kept', { ttl: '1h' })
    const keys = await own.redis.keys('sluice:r:*')
    expect(keys).toHaveLength(3)
    for (const key of keys) expect(await own.redis.pttl(key)).toBeGreaterThan(60_000)
    own.store.close()
  })
})

describe('while Redis is away', () => {
  it('the process keeps the reservations that it opens, and those that Redis keeps cannot be settled', async () => {
    const server = await startRedis()
    const { client, close } = await connected('ioredis', server.port)
    const store = redisStore(client, { deadlineMs: 5_000, onFailure: 'local' })
    const limiter = createLimiter({ name: 'a', limit, store })
    let again: typeof server | undefined
    try {
      await limiter.reserve('key', { cost: 4, ttl: '1m', id: 'kept' })
      await server.stop()
      await expect(limiter.settle('kept', 1)).rejects.toBeInstanceOf(StoreUnavailableError)
      await expect(claimOnce(store, 'a', { ttl: '1m' })).rejects.toBeInstanceOf(StoreUnavailableError)
      const local = await limiter.reserve('key', { cost: 5, ttl: '1m' })
      expect(local.decision).toMatchObject({ degraded: 'local', remaining: 5 })
      expect(await limiter.settle(local.id, 2)).toBe(true)
      await expect(limiter.cancel(local.id)).rejects.toBeInstanceOf(StoreUnavailableError)
      expect((await limiter.peek('key')).remaining).toBe(8)
      again = await startRedis({ port: server.port })
      await until('Redis answers', async () => (await limiter.peek('key')).degraded === undefined)
      // This server has lost everything.
      expect(await limiter.settle('kept', 1)).toBe(false)
      expect((await limiter.peek('key')).remaining).toBe(10)
    } finally {
      store.close()
      close()
      await server.stop()
      await again?.stop()
    }
  })
})
