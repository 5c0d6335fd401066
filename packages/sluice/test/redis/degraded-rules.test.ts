import { Cluster } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { createLimiter, type OnFailure, tokenBucket } from '../../src/index.js'
import { ioredisClusterOptions, redisStore } from '../../src/stores/redis/index.js'
import { downStore } from './faults-down.js'

const limit = tokenBucket({ capacity: 10, refill: '1/h' })
const RULES: readonly OnFailure[] = ['open', 'closed', 'local']

describe('without Redis', () => {
  it('a store lets everything go, unless told otherwise, and says so', async () => {
    const limiter = createLimiter({ name: 'a', limit, store: downStore() })
    for (let i = 0; i < 30; i++) {
      expect(await limiter.tryAcquire('key', { cost: 4 })).toEqual({
        allowed: true,
        quota: 10,
        remaining: 6,
        retryAfterMs: 0,
        nextUnitAfterMs: 0,
        resetAfterMs: 0,
        delayMs: 0,
        degraded: 'open',
      })
    }
  })

  it('a store that is closed denies everything, and asks to come back', async () => {
    const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'closed' }) })
    const decision = await limiter.tryAcquire('key')
    expect(decision).toMatchObject({ allowed: false, remaining: 0, degraded: 'closed' })
    expect(decision.retryAfterMs).toBeGreaterThan(0)
    expect((await limiter.tryAcquire('key', { cost: 11 })).retryAfterMs).toBe(Infinity)
    expect(await limiter.peek('key')).toMatchObject({ allowed: false, degraded: 'closed' })
  })

  it.each(RULES.flatMap((store) => RULES.map((own) => [own, store] as const)))(
    'a limiter that says %s is not told what a store says that is %s',
    async (own, onFailure) => {
      const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure }), onFailure: own })
      expect((await limiter.tryAcquire('key')).degraded).toBe(own)
      expect((await limiter.charge('key')).degraded).toBe(own)
      expect((await limiter.refund('key')).degraded).toBe(own)
      expect((await limiter.peek('key')).degraded).toBe(own)
    },
  )

  it('a local limit is one share of the whole', async () => {
    const store = downStore({ onFailure: 'local', instances: 4 })
    const limiter = createLimiter({ name: 'a', limit, store })
    const allowed = []
    for (let i = 0; i < 4; i++) allowed.push((await limiter.tryAcquire('key')).allowed)
    expect(allowed).toEqual([true, true, false, false])
    expect((await limiter.tryAcquire('another')).quota).toBe(2)
  })

  it('a cost that only a share is too small for may be met when Redis is back', async () => {
    const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'local', instances: 4 }) })
    const { allowed, retryAfterMs } = await limiter.tryAcquire('key', { cost: 5 })
    expect(allowed).toBe(false)
    expect(retryAfterMs).toBeLessThan(Infinity)
    expect((await limiter.tryAcquire('key', { cost: 11 })).retryAfterMs).toBe(Infinity)
  })

  it('a charge counts locally, and a refund of unknown units adds nothing', async () => {
    const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'local' }) })
    expect((await limiter.charge('key', { cost: 7 })).remaining).toBe(3)
    expect((await limiter.refund('key', { cost: 7 })).remaining).toBe(3)
  })
})

describe('a request of several limits without Redis', () => {
  const demand = (name: string, onFailure: OnFailure, cost = 1) => ({ name, limit, key: 'key', cost, onFailure })

  it('is denied if one of them is closed, and then takes nothing from a local one', async () => {
    const store = downStore()
    const { allowed, decisions } = await store.decide([
      demand('a', 'local', 4),
      demand('b', 'closed'),
      demand('c', 'open'),
    ])
    expect(allowed).toBe(false)
    expect(decisions.map(({ degraded }) => degraded)).toEqual(['local', 'closed', 'open'])
    const after = await store.decide([demand('a', 'local', 0)])
    expect(after.decisions[0].remaining).toBe(10)
  })

  it('is denied if a local one has too little, and then takes nothing from another', async () => {
    const store = downStore()
    const both = (cost: number) =>
      store.decide([demand('a', 'local', 1), demand('b', 'local', cost), demand('c', 'open')])
    expect((await both(6)).allowed).toBe(true)
    expect((await both(6)).allowed).toBe(false)
    const after = await store.decide([demand('a', 'local', 0), demand('b', 'local', 0)])
    expect(after.decisions.map(({ remaining }) => remaining)).toEqual([9, 4])
  })

  it('is let go if all are open', async () => {
    const { allowed, decisions } = await downStore().decide([demand('a', 'open', 20), demand('b', 'open')])
    expect(allowed).toBe(true)
    expect(decisions.map(({ degraded }) => degraded)).toEqual(['open', 'open'])
  })

  it('is answered in a cluster too, however much open demands for one state come to', async () => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: 1 }], { ...ioredisClusterOptions, lazyConnect: true })
    cluster.disconnect()
    const store = redisStore(cluster)
    const { allowed, decisions } = await store.decide([
      demand('a', 'open', Number.MAX_SAFE_INTEGER),
      demand('a', 'open', Number.MAX_SAFE_INTEGER),
      { ...demand('b', 'closed'), key: 'another slot' },
    ])
    expect(allowed).toBe(false)
    expect(decisions.map(({ degraded }) => degraded)).toEqual(['open', 'open', 'closed'])
  })

  it.each(RULES)('a key that this process has blocked is denied, even by a store that is %s', async (onFailure) => {
    const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure }) })
    await expect(limiter.block('key', { duration: '1h' })).rejects.toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE' })
    expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: false, degraded: onFailure })
    expect((await limiter.tryAcquire('other')).allowed).toBe(onFailure !== 'closed')
  })

  it('a share of a very slow limit among very many is still a limit', async () => {
    const slow = tokenBucket({ capacity: 700, refill: '350/30d' })
    const limiter = createLimiter({ name: 'a', limit: slow, store: downStore({ onFailure: 'local', instances: 500 }) })
    expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: true, quota: 1, degraded: 'local' })
    expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: false, degraded: 'local' })
  })
})
