import fc from 'fast-check'
import { type BlockFor, createLimiter, createPolicy, slidingLog, tokenBucket } from 'sluice'
import { redisStore } from 'sluice/redis'
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blockedLives, checkBlockedLife } from '../property/blocked-life.js'
import { connected } from './faults-clients.js'
import { startInjected } from './injected-store.js'
import { ownServer } from './own-server.js'

describe('blocks on Redis, on an injected time', () => {
  let injected: Awaited<ReturnType<typeof startInjected>>

  beforeAll(async () => {
    injected = await startInjected()
  })

  afterAll(() => injected?.stop())

  it('with blockFor, admits no unit to a key within its block, and decides as without it outside of blocks', async () => {
    const check = async (life: Parameters<typeof checkBlockedLife>[2]) => {
      const clock = new ManualClock(1_745_000_000_000)
      await checkBlockedLife(injected.create(clock), clock, life)
    }
    await fc.assert(fc.asyncProperty(blockedLives, check), { numRuns: 300 })
  }, 120_000)

  it('survive takes and refunds of a long log, and end with it', async () => {
    const clock = new ManualClock(1_745_000_000_000)
    const blockFor = { first: '1m', forget: '1h' } as const
    const limit = slidingLog({ quota: 200, window: '1h' })
    const limiter = createLimiter({ name: 'long', limit, store: injected.create(clock), blockFor })
    for (let i = 0; i < 200; i++) {
      await limiter.tryAcquire('key')
      clock.advance(1)
    }
    expect((await limiter.tryAcquire('key')).allowed).toBe(false)
    await limiter.refund('key', { cost: 3 })
    expect((await limiter.tryAcquire('key')).retryAfterMs).toBe(60_000)
    clock.advance(60_000)
    for (let i = 0; i < 3; i++) expect((await limiter.tryAcquire('key')).allowed).toBe(true)
    await limiter.refund('key')
    await limiter.tryAcquire('key')
    // The offence of a minute ago is remembered behind the state. Two minutes are shorter than the wait for a unit.
    await limiter.tryAcquire('key')
    await limiter.refund('key', { cost: 200 })
    expect((await limiter.peek('key')).retryAfterMs).toBe(120_000)
  })
})

describe('blocks on Redis', () => {
  const own = ownServer()
  const limit = tokenBucket({ capacity: 5, refill: '1/h' })

  it('of 40 denials at the same time from two processes, one makes the block', async () => {
    const other = await connected('ioredis', own.server.port)
    const blockFor = { first: '1h' } as const
    const limiters = [own.store, redisStore(other.client, { deadlineMs: 10_000 })].map((store) =>
      createLimiter({ name: 'parallel', limit, store, blockFor }),
    )
    const decisions = await Promise.all(Array.from({ length: 80 }, (_, i) => limiters[i % 2].tryAcquire('key')))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5)
    for (const { retryAfterMs } of decisions.slice(5)) expect(retryAfterMs).toBeLessThanOrEqual(3_600_000)
    other.close()
  })

  it('an admitted request is one call, and so is the one that makes the block', async () => {
    const limiter = createLimiter({ name: 'calls', limit, store: own.store, blockFor: '1h' })
    const policy = createPolicy({ name: 'calls', levels: [{ name: 'a', limit, blockFor: '1h' }], store: own.store })
    await policy.check({})
    const calls = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await own.redis.info('commandstats'))?.[1])
    const before = await calls()
    for (let i = 0; i < 6; i++) await limiter.tryAcquire('key')
    for (let i = 0; i < 6; i++) await policy.check({})
    expect((await calls()) - before).toBe(12)
    expect((await limiter.peek('key')).retryAfterMs).toBeGreaterThan(3_599_000)
  })

  it('every key expires when its state is whole and its block is over and forgotten', async () => {
    const blockFor = { first: '1m', most: '1m', forget: '1h' } as const
    const quick = tokenBucket({ capacity: 1, refill: '1000/s' })
    const ttlAfter = async (prefix: string, rule: BlockFor) => {
      const store = redisStore(own.client.client, { prefix, deadlineMs: 10_000 })
      await createLimiter({ name: 'test', limit: quick, store, blockFor: rule }).tryAcquire('key', { cost: 2 })
      const [key] = await own.redis.keys(`${prefix}*`)
      return own.redis.pttl(key)
    }
    const remembered = await ttlAfter('remembered:', blockFor)
    expect([remembered > 3_650_000, remembered <= 3_660_001]).toEqual([true, true])
    const fixed = await ttlAfter('fixed:', '1m')
    expect([fixed > 50_000, fixed <= 60_001]).toEqual([true, true])
  })

  it('hold in this process while Redis is away', async () => {
    const wire = await connected('ioredis', own.server.port)
    const store = redisStore(wire.client, { deadlineMs: 200, onFailure: 'open' })
    const limiter = createLimiter({ name: 'away', limit, store, blockFor: '1h' })
    await limiter.tryAcquire('key', { cost: 6 })
    const reserved = createLimiter({ name: 'away-reserved', limit, store, blockFor: '1h' })
    await reserved.reserve('key', { cost: 6, ttl: '1m' })
    wire.close()
    for (const each of [limiter, reserved]) {
      expect(await each.tryAcquire('key')).toMatchObject({ allowed: false, degraded: 'open' })
      expect(await each.tryAcquire('other')).toMatchObject({ allowed: true, degraded: 'open' })
    }
    store.close()
  })

  it('a rule that no parser made is refused, and nothing is taken', async () => {
    const blockFor = { firstUs: 1, factor: 1, mostUs: 0, forgetUs: 0 }
    const demand = { name: 'wrong', limit, key: 'key', cost: 1, blockFor }
    await expect(own.store.decide([demand])).rejects.toThrow('blockFor of a demand')
  })
})
