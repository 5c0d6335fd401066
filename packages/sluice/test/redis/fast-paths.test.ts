/** The written-out limits of lua/main.lua and lua/fast.lua decide as the general form does. */
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Answer, type Demand, fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/index.js'
import type { RedisStore } from '../../src/stores/redis/redis-store.js'
import { startInjected } from './injected-store.js'

/** Is in every batch that must not consist of one limit only. */
const other = (cost: number): Demand => ({
  name: 'other',
  limit: tokenBucket({ capacity: 1_000_000, refill: '1/s' }),
  key: 'other',
  cost,
})

/** The ways of a demand through the script, each on a store of its own. */
const WAYS: Readonly<Record<string, (store: RedisStore, demand: Demand) => Promise<Answer>>> = {
  'alone in its batch': (store, demand) => store.decide([demand]),
  'in a batch with another limit': async (store, demand) => {
    const [answer] = await Promise.all([store.decide([demand]), store.decide([other(1)])])
    return answer
  },
  'together with another demand': (store, demand) => store.decide([demand, other(0)]),
  // A shadow takes the general form, and so do all demands beside it.
  'in the general form': (store, demand) => store.decide([demand, { ...other(0), shadow: true }]),
}

const LIMITS: Readonly<Record<string, Limit>> = {
  'token bucket': tokenBucket({ capacity: 12, refill: '3/s' }),
  'fixed window': fixedWindow({ quota: 12, window: '700ms' }),
  'sliding window': slidingWindow({ quota: 12, window: '700ms' }),
}

let injected: Awaited<ReturnType<typeof startInjected>>
beforeAll(async () => {
  injected = await startInjected()
})
afterAll(() => injected?.stop())

/** Numbers from 0 to 1, the same for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x297a2d39) >>> 0
    return state / 2 ** 32
  }
}

it.each(Object.entries(LIMITS))('a %s is decided the same on every way through the script', async (_, limit) => {
  for (let seed = 1; seed <= 15; seed++) {
    const random = randomNumbers(seed * 7_919)
    const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]
    const clock = new ManualClock(Date.UTC(2026, 0, 1) + seed * 12_345.678)
    const stores = Object.entries(WAYS).map(([way, ask]) => ({ way, ask, store: injected.create(clock) }))
    for (let step = 0; step < 60; step++) {
      clock.advance(pick([0, 0, 0.001, 7, 60, 350, 699, 700, 2_100, -5, -800]))
      const demand = { name: 'n', limit, key: pick(['a', 'b']), cost: pick([0, 1, 1, 2, 5, 12, 13]) }
      const isCharge = random() < 0.05
      const decisions = await Promise.all(
        stores.map(async ({ ask, store }) =>
          isCharge ? store.charge({ ...demand, cost: 9 }) : (await ask(store, demand)).decisions[0],
        ),
      )
      for (const [i, { way }] of stores.entries()) {
        expect(decisions[i], `seed ${seed}, step ${step}, ${way}: ${JSON.stringify(demand)}`).toEqual(decisions[3])
      }
    }
  }
})

it('a key that is unusual does not change the decisions of the keys around it', async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  for (const limit of Object.values(LIMITS)) {
    const store = injected.create(clock)
    const ask = (key: string) => store.decide([{ name: 'n', limit, key, cost: 1 }])
    await ask('a')
    await store.block('n', 'blocked', 60_000_000)
    const answers = await Promise.all(['a', 'blocked', 'a', 'b'].map(ask))
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, false, true, true])
    expect(answers.map(({ decisions }) => decisions[0].remaining)).toEqual([10, 0, 9, 11])
    expect(answers[1].decisions[0].retryAfterMs).toBe(60_000)
  }
})
