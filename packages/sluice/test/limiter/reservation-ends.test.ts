import { type AsyncStore, createLimiter, createPolicy, memoryStore, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { laterStore } from '../http/adapters/later-store.js'

const limit = tokenBucket({ capacity: 100, refill: '1/h' })

/** Stores that answer at once and later, on a clock that the test moves. */
const STORES = {
  'at once': (clock: ManualClock) => memoryStore({ clock }) as unknown as AsyncStore,
  later: (clock: ManualClock) => laterStore(memoryStore({ clock })),
}

describe.each(Object.entries(STORES))('a reservation on a store that answers %s', (_when, storeOn) => {
  it.each([undefined, '2m'] as const)(
    'of a limiter is ended by the first call, which returns true (ttl %s)',
    async (ttl) => {
      const limiter = createLimiter({ name: 'llm', limit, store: storeOn(new ManualClock(0)) })
      const options = ttl === undefined ? { cost: 40 } : { cost: 40, ttl }
      const settled = await limiter.reserve('a', options)
      expect([await settled.settle(30), await settled.settle(1), await settled.cancel()]).toEqual([true, false, false])
      const whole = await limiter.reserve('a', options)
      expect([await whole.settle(40), await whole.cancel()]).toEqual([true, false])
      const cancelled = await limiter.reserve('a', { ...options, cost: 10 })
      expect([await cancelled.cancel(), await cancelled.settle(5)]).toEqual([true, false])
      expect((await limiter.peek('a')).remaining).toBe(30)
      const denied = await limiter.reserve('a', { ...options, cost: 90 })
      expect([denied.decision.allowed, await denied.settle(1), await denied.cancel()]).toEqual([false, false, false])
    },
  )

  it('tells that its ttl is over, so that a late cost can be charged', async () => {
    const clock = new ManualClock(0)
    const limiter = createLimiter({ name: 'llm', limit, store: storeOn(clock) })
    const reservation = await limiter.reserve('a', { cost: 50, ttl: '1s' })
    await clock.advanceAsync(2_000)
    expect(await reservation.settle(40)).toBe(false)
    expect((await limiter.peek('a')).remaining).toBe(100)
  })

  it.each([undefined, '2m'] as const)('of a policy says whether a call took effect (ttl %s)', async (ttl) => {
    const levels = [{ name: 'tokens', key: 'user', cost: 'tokens', limit }] as const
    const policy = createPolicy({ name: 'llm', levels, store: storeOn(new ManualClock(0)) })
    const options = ttl === undefined ? {} : { ttl }
    const settled = await policy.reserve({ user: 'a', tokens: 50 }, options)
    expect([await settled.settle({ tokens: 20 }), await settled.settle({ tokens: 1 })]).toEqual([true, false])
    const cancelled = await policy.reserve({ user: 'a', tokens: 50 }, options)
    expect([await cancelled.cancel(), await cancelled.cancel()]).toEqual([true, false])
    expect((await policy.peek({ user: 'a', tokens: 1 })).levels[0].decision.remaining).toBe(80)
  })

  it.each([undefined, '2m'] as const)(
    'of a policy refuses a number that no level would count (ttl %s)',
    async (ttl) => {
      const levels = [
        { name: 'requests', key: 'user', cost: 1, limit },
        { name: 'tokens', key: 'user', cost: 'tokens', limit },
      ] as const
      const policy = createPolicy({ name: 'llm', levels, store: storeOn(new ManualClock(0)) })
      const options = ttl === undefined ? {} : { ttl }
      const reservation = await policy.reserve({ user: 'a', tokens: 50 }, options)
      await expect(async () => reservation.settle(10)).rejects.toThrow(
        'no level takes the cost of the call, so settle needs the attributes that levels take their costs from, as in settle({ tokens: 10 })',
      )
      expect(await reservation.settle({ tokens: 10 })).toBe(true)
      const withoutTokens = await policy.reserve({ user: 'b', tokens: undefined }, options)
      expect(await withoutTokens.settle(3)).toBe(true)
    },
  )
})
