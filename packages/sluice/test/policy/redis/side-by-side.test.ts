import { expect, it } from 'vitest'
import { createLimiter, leakyBucket, tokenBucket } from '../../../src/index.js'
import { onBothStores } from './both-stores.js'

/** Numbers from 0 to 1, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x297a2d39) >>> 0
    return state / 2 ** 32
  }
}

// The emptiest bucket takes 50 / 3 s to fill, and a series lasts less than that: no state becomes whole.
const rates = [1, 2, 3] as const
const capacities = [50, 80, 110, 1_000] as const
const LASTS_MS = 16_000

onBothStores((own) => {
  it('versions of a token bucket give at most the larger burst and the faster rate until the state is whole', async () => {
    for (let seed = 1; seed <= 120; seed++) {
      const random = randomNumbers(seed * 7_919)
      const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]
      const numbers = Array.from({ length: 2 + Math.floor(random() * 2) }, () => ({
        capacity: pick(capacities),
        rate: pick(rates),
      }))
      const limits = numbers.map(({ capacity, rate }) => tokenBucket({ capacity, refill: `${rate}/s` }))
      const limiters = limits.map((limit) => createLimiter({ name: `versions ${seed}`, limit, store: own.store }))
      const most = Math.max(...numbers.map(({ capacity }) => capacity))
      const fastest = Math.max(...numbers.map(({ rate }) => rate))
      const startMs = own.clock.now()
      let taken = 0
      for (const limiter of limiters) {
        const { remaining } = await limiter.peek('key')
        if (remaining > 0 && (await limiter.tryAcquire('key', { cost: remaining })).allowed) taken += remaining
      }
      for (let step = 0; step < 40 && own.clock.now() - startMs < LASTS_MS; step++) {
        const limiter = pick(limiters)
        const { remaining } = await limiter.peek('key')
        const cost = random() < 0.5 ? remaining : 1
        if (random() < 0.15) await (await limiter.reserve('key', { cost })).cancel()
        else if (cost > 0 && (await limiter.tryAcquire('key', { cost })).allowed) taken += cost
        own.clock.advance(pick([0, 0, 10, 200, 500, 1_500]))
        const bound = most + (fastest * (own.clock.now() - startMs)) / 1_000
        expect(taken, `seed ${seed}, step ${step}: ${JSON.stringify(limits)}`).toBeLessThanOrEqual(bound)
      }
    }
  })

  it('a version with a smaller bucket cuts the tokens that a larger one left', async () => {
    const small = createLimiter({ name: 'x', store: own.store, limit: tokenBucket({ capacity: 1, refill: '1/s' }) })
    const large = createLimiter({ name: 'x', store: own.store, limit: tokenBucket({ capacity: 100, refill: '1/h' }) })
    await large.tryAcquire('key', { cost: 60 })
    await small.tryAcquire('key')
    // 40 were left; the small bucket keeps 1 of them and takes it.
    expect((await large.peek('key')).remaining).toBe(0)
  })

  it('a version with a smaller queue cuts the queue that a larger one left when it takes a slot', async () => {
    const small = createLimiter({ name: 'x', store: own.store, limit: leakyBucket({ capacity: 10, drain: '1/s' }) })
    const large = createLimiter({ name: 'x', store: own.store, limit: leakyBucket({ capacity: 100, drain: '1/s' }) })
    await large.tryAcquire('key', { cost: 100 })
    own.clock.advance(1_000)
    expect((await large.peek('key')).remaining).toBe(1)
    // The small queue reads 10 of the 100, of which one has left.
    expect(await small.tryAcquire('key')).toMatchObject({ allowed: true, delayMs: 9_000 })
    expect((await large.peek('key')).remaining).toBe(90)
  })

  it('a cancelled reservation leaves a whole state, with which another version starts fresh', async () => {
    const small = createLimiter({ name: 'x', store: own.store, limit: tokenBucket({ capacity: 5, refill: '3/h' }) })
    const large = createLimiter({ name: 'x', store: own.store, limit: tokenBucket({ capacity: 50, refill: '1/h' }) })
    await (await small.reserve('key')).cancel()
    expect((await large.tryAcquire('key', { cost: 50 })).allowed).toBe(true)
  })
})
