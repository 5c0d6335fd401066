import { expect, it } from 'vitest'
import {
  type AsyncStore,
  concurrency,
  createLimiter,
  createPolicy,
  type Decision,
  fixedWindow,
  type Limit,
  tokenBucket,
  unlimited,
  WaitTooLongError,
} from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

const EVERYTHING: Decision = {
  allowed: true,
  quota: Infinity,
  remaining: Infinity,
  retryAfterMs: 0,
  nextUnitAfterMs: 0,
  resetAfterMs: 0,
  delayMs: 0,
}
const bucket = tokenBucket({ capacity: 2, refill: '1/h' })
const nothing = tokenBucket({ capacity: 0, refill: '5/s' })

onBothStores((own) => {
  const limiterOf = (limit: Limit, options: { blockFor?: '1m' } = {}) =>
    createLimiter({ name: 'api', limit, store: own.store as AsyncStore, ...options })
  const policyOf = () =>
    createPolicy({
      name: 'shop',
      levels: [
        { name: 'user', key: 'user', limit: bucket, overrides: [{ when: { user: 'vip' }, limit: unlimited() }] },
      ],
      store: own.store as AsyncStore,
    })

  it('an unlimited limiter acquires at once, and its charges, refunds, resets and reservations change nothing', async () => {
    const limiter = limiterOf(unlimited(), { blockFor: '1m' })
    for (let i = 0; i < 3; i++) expect(await limiter.tryAcquire('a', { cost: 1e15 })).toEqual(EVERYTHING)
    expect(await limiter.acquire('a', { cost: 1e15, maxWaitMs: 0 })).toEqual(EVERYTHING)
    const waiters = Array.from({ length: 300 }, (_, i) => limiter.acquire('a', { cost: i % 3 }))
    for (const decision of await Promise.all(waiters)) expect(decision).toEqual(EVERYTHING)
    expect(await limiter.charge('a', { cost: 5 })).toEqual(EVERYTHING)
    expect(await limiter.refund('a', { cost: 5 })).toEqual(EVERYTHING)
    const reservation = await limiter.reserve('a', { cost: 3 })
    expect(reservation.decision).toEqual(EVERYTHING)
    await reservation.settle(7)
    const timed = await limiter.reserve('a', { cost: 3, ttl: '1m' })
    expect(timed.decision).toEqual(EVERYTHING)
    await timed.cancel()
    await limiter.reset('a')
    expect(await limiter.peek('a')).toEqual(EVERYTHING)
  })

  it('a reservation with a ttl on an unlimited key is settled once', async () => {
    const limiter = limiterOf(unlimited())
    const reservation = await limiter.reserve('a', { cost: 3, ttl: '1m', id: 'order-1' })
    expect(reservation.decision).toEqual(EVERYTHING)
    expect(await limiter.settle('order-1', 5)).toBe(true)
    expect(await limiter.settle('order-1', 5)).toBe(false)
  })

  it('an unlimited key that is blocked is denied until the block ends', async () => {
    const limiter = limiterOf(unlimited())
    await limiter.block('a', { duration: '1m' })
    expect(await limiter.tryAcquire('a')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 60_000 })
    expect((await limiter.tryAcquire('b')).allowed).toBe(true)
    own.clock.advance(60_000)
    expect(await limiter.tryAcquire('a')).toEqual(EVERYTHING)
  })

  it('a limit of 0 rejects a waiter at once, and allows a cost of 0', async () => {
    for (const limit of [nothing, fixedWindow({ quota: 0, window: '1m' })]) {
      const limiter = limiterOf(limit)
      await expect(limiter.acquire('a')).rejects.toThrow(WaitTooLongError)
      await expect(limiter.acquire('a')).rejects.toMatchObject({ retryAfterMs: Infinity })
      expect(await limiter.acquire('a', { cost: 0 })).toMatchObject({ allowed: true, quota: 0, remaining: 0 })
    }
  })

  it('a concurrency limit of 0 gives no lease, and a waiter for one is rejected at once', async () => {
    const limiter = limiterOf(concurrency({ max: 0 }))
    expect((await limiter.lease('a')).allowed).toBe(false)
    await expect(limiter.acquireLease('a')).rejects.toThrow('more than the limit can ever give')
  })

  it('an override with unlimited() exempts a customer, and a block holds for that customer too', async () => {
    const policy = policyOf()
    for (let i = 0; i < 10; i++) {
      const { allowed, levels } = await policy.check({ user: 'vip' })
      expect([allowed, levels[0].decision]).toEqual([true, EVERYTHING])
    }
    await policy.check({ user: 'other' }, { cost: 2 })
    expect((await policy.check({ user: 'other' })).deniedBy).toEqual(['user'])
    await policy.block({ user: 'vip' }, { duration: '1m' })
    expect(await policy.check({ user: 'vip' })).toMatchObject({ allowed: false, retryAfterMs: 60_000 })
    own.clock.advance(60_000)
    expect((await policy.check({ user: 'vip' })).allowed).toBe(true)
  })

  it('run-time overrides exempt a customer and shut one out, until they are removed', async () => {
    const policy = policyOf()
    expect((await policy.check({ user: 'a' }, { cost: 2 })).allowed).toBe(true)
    expect((await policy.check({ user: 'a' })).allowed).toBe(false)
    await policy.override('user', 'a', unlimited())
    expect((await policy.check({ user: 'a' }, { cost: 1_000 })).allowed).toBe(true)
    await policy.override('user', 'a', nothing)
    expect(await policy.check({ user: 'a' })).toMatchObject({ allowed: false, retryAfterMs: Infinity })
    await policy.override('user', 'b', nothing)
    expect((await policy.check({ user: 'b' })).deniedBy).toEqual(['user'])
    await policy.removeOverride('user', 'b')
    expect((await policy.check({ user: 'b' })).allowed).toBe(true)
  })
})
