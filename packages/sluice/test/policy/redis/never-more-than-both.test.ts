import { expect, it } from 'vitest'
import { createLimiter, type Limit, leakyBucket, tokenBucket } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

/** Numbers from 0 to 1, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x297a2d39) >>> 0
    return state / 2 ** 32
  }
}

const rates = [1, 3, 10, 100] as const
const capacities = [1, 5, 11, 100, 1_000] as const

onBothStores((own) => {
  it.each(['token bucket', 'leaky bucket'])(
    'limits of a %s side by side give no more than the larger burst and the faster rate',
    async (kind) => {
      for (let seed = 1; seed <= 60; seed++) {
        const random = randomNumbers(seed * 7_919)
        const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]
        const numbers = Array.from({ length: 2 + Math.floor(random() * 2) }, () => ({
          capacity: pick(capacities),
          rate: pick(rates),
        }))
        const limits: Limit[] = numbers.map(({ capacity, rate }) =>
          kind === 'token bucket'
            ? tokenBucket({ capacity, refill: `${rate}/s` })
            : leakyBucket({ capacity, drain: `${rate}/s` }),
        )
        const limiters = limits.map((limit) => createLimiter({ name: `${kind} ${seed}`, limit, store: own.store }))
        const most = Math.max(...numbers.map(({ capacity }) => capacity))
        const fastest = Math.max(...numbers.map(({ rate }) => rate))
        const startMs = own.clock.now()
        let taken = 0
        for (let step = 0; step < 40; step++) {
          const limiter = pick(limiters)
          const { remaining } = await limiter.peek('key')
          const cost = random() < 0.5 ? remaining : 1
          if (random() < 0.15) await (await limiter.reserve('key', { cost })).cancel()
          else if (cost > 0 && (await limiter.tryAcquire('key', { cost })).allowed) taken += cost
          own.clock.advance(pick([0, 0, 10, 200, 1_000, 1_500, 9_000]))
          const bound = most + (fastest * (own.clock.now() - startMs)) / 1_000
          expect(taken, `seed ${seed}, step ${step}: ${JSON.stringify(limits)}`).toBeLessThanOrEqual(bound)
        }
      }
    },
  )

  it('a state that is whole for all is none, whoever looks at it first', async () => {
    const small = createLimiter({ name: 'x', store: own.store, limit: tokenBucket({ capacity: 1, refill: '1/s' }) })
    const large = createLimiter({ name: 'x', store: own.store, limit: tokenBucket({ capacity: 100, refill: '1/h' }) })
    await small.peek('key')
    await large.tryAcquire('key')
    own.clock.advance(101 * 3_600_000)
    await small.peek('key')
    expect(await large.tryAcquire('key', { cost: 50 })).toMatchObject({ allowed: true, remaining: 50 })
  })

  it('a reservation that was cancelled leaves a state that is whole for its only user', async () => {
    const small = createLimiter({ name: 'x', store: own.store, limit: tokenBucket({ capacity: 5, refill: '3/h' }) })
    const large = createLimiter({ name: 'x', store: own.store, limit: tokenBucket({ capacity: 50, refill: '1/h' }) })
    await large.peek('other')
    await (await small.reserve('key')).cancel()
    expect((await large.tryAcquire('key', { cost: 50 })).allowed).toBe(true)
  })

  it('a debt does not become smaller because a slower limit adds to it', async () => {
    const fast = createLimiter({ name: 'x', store: own.store, limit: tokenBucket({ capacity: 10, refill: '1000/s' }) })
    const slow = createLimiter({ name: 'x', store: own.store, limit: tokenBucket({ capacity: 10, refill: '1/h' }) })
    await fast.charge('key', { cost: 1e9 })
    const { retryAfterMs } = await fast.tryAcquire('key')
    await slow.charge('key')
    expect((await fast.tryAcquire('key')).retryAfterMs).toBeGreaterThanOrEqual(retryAfterMs)
  })
})
