import { describe, expect, it } from 'vitest'
import { type AsyncLimiter, createLimiter, type Decision, tokenBucket } from '../../src/index.js'
import { limitsOver, QUOTA } from './fleet-limits.js'
import { ownServer } from './own-server.js'

/** PX counts whole milliseconds from one that has begun. */
const ROUNDING_MS = 2
const HOUR_MS = 3_600_000

const own = ownServer()

/** How many milliseconds the longest-lived state of a limit's key has left; −2 if there is no state. */
async function lifeOf({ name }: AsyncLimiter, key: string): Promise<number> {
  const keys = await own.redis.keys(`sluice:*:{${key}}${name}`)
  return Math.max(-2, ...(await Promise.all(keys.map((each) => own.redis.pttl(each)))))
}

const limits = (['50ms', '1s', '1h', '1000d'] as const).flatMap((window) => [...limitsOver(window)])

describe.each(limits)('%s', (name, limit) => {
  it('leaves a key that lives until the quota is whole, and no longer', async () => {
    const limiter = createLimiter({ name, limit, store: own.store })
    const outlives = async (decision: Decision) => {
      const life = await lifeOf(limiter, 'span')
      expect(life).toBeLessThanOrEqual(decision.resetAfterMs + ROUNDING_MS)
      // It may have gone meanwhile, but not if that is far off.
      if (decision.resetAfterMs > 60_000) expect(life).toBeGreaterThan(decision.resetAfterMs - 30_000)
    }
    await outlives(await limiter.tryAcquire('span'))
    await outlives(await limiter.tryAcquire('span', { cost: 2 }))
    await outlives(await limiter.charge('span', { cost: 3 * QUOTA }))
    await outlives(await limiter.tryAcquire('span'))
    await outlives(await limiter.refund('span', { cost: 2 }))
    await outlives(await limiter.charge('span', { cost: 1 }))
    await limiter.reset('span')
    expect(await lifeOf(limiter, 'span')).toBe(-2)
  })

  it('leaves a key that lives as long as a block', async () => {
    const limiter = createLimiter({ name, limit, store: own.store })
    await limiter.block('blocked', { duration: '1h' })
    const bare = await lifeOf(limiter, 'blocked')
    expect(bare).toBeGreaterThan(HOUR_MS - 30_000)
    expect(bare).toBeLessThanOrEqual(HOUR_MS + ROUNDING_MS)
    const { resetAfterMs } = await limiter.charge('blocked', { cost: 2 })
    expect(await lifeOf(limiter, 'blocked')).toBeLessThanOrEqual(Math.max(HOUR_MS, resetAfterMs) + ROUNDING_MS)
    await limiter.reset('blocked')
    expect(await lifeOf(limiter, 'blocked')).toBe(-2)
  })
})

it('the limit that writes last says when the state expires', async () => {
  const [slow, fast] = (['1/h', '1000/s'] as const).map((refill) =>
    createLimiter({ name: 'last', limit: tokenBucket({ capacity: 1_000, refill }), store: own.store }),
  )
  await slow.tryAcquire('key', { cost: 10 })
  expect(await lifeOf(slow, 'key')).toBeGreaterThan(9 * HOUR_MS)
  await fast.tryAcquire('key', { cost: 10 })
  expect(await lifeOf(slow, 'key')).toBeLessThanOrEqual(20 + ROUNDING_MS)
})
