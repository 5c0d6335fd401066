import fc from 'fast-check'
import { createLimiter, memoryStore, tokenBucket } from 'sluice'
import { serviceStore } from 'sluice/client'
import { ManualClock } from 'sluice/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { blockedLives, checkBlockedLife } from '../../../sluice/test/property/blocked-life.js'
import { Services } from './in-process.js'

describe('blocks through a service', () => {
  const services = new Services()
  const limit = tokenBucket({ capacity: 5, refill: '1/h' })

  afterAll(() => services.stop())

  it('with blockFor, admits no unit to a key within its block, and decides as without it outside of blocks', async () => {
    const check = async (life: Parameters<typeof checkBlockedLife>[2]) => {
      const clock = new ManualClock(1_745_000_000_000)
      const own = new Services()
      try {
        const store = serviceStore(await own.start(memoryStore({ clock })), { deadlineMs: 60_000 })
        await checkBlockedLife(store, clock, life)
      } finally {
        await own.stop()
      }
    }
    await fc.assert(fc.asyncProperty(blockedLives, check), { numRuns: 60 })
  }, 120_000)

  it('of 40 guesses at the same time from two clients five pass, and one makes the block', async () => {
    const url = await services.start(memoryStore({ clock: new ManualClock(1_745_000_000_000) }))
    const clients = [serviceStore(url, { deadlineMs: 10_000 }), serviceStore(url, { deadlineMs: 10_000 })].map(
      (store) => createLimiter({ name: 'login', limit, store, blockFor: { first: '1h' } }),
    )
    const decisions = await Promise.all(Array.from({ length: 40 }, (_, i) => clients[i % 2].tryAcquire('key')))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(5)
    expect((await clients[0].peek('key')).retryAfterMs).toBe(3_600_000)
  })

  it('hold in the client while the service is away', async () => {
    const own = new Services()
    const store = serviceStore(await own.start(memoryStore()), { deadlineMs: 10_000, onFailure: 'open' })
    const limiter = createLimiter({ name: 'login', limit, store, blockFor: '1h' })
    await limiter.tryAcquire('key', { cost: 6 })
    await own.stop()
    expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: false, degraded: 'open' })
    expect(await limiter.tryAcquire('other')).toMatchObject({ allowed: true, degraded: 'open' })
  })
})
