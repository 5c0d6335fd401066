/** The written-out limits of lua/main.lua and lua/fast.lua decide as the general form does, and batches as their requests do. */
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

it('an exchange of leases is answered the same among others in a batch as alone', async () => {
  const limits = [
    tokenBucket({ capacity: 40, refill: '30/s' }),
    tokenBucket({ capacity: 12, refill: '3/s' }),
    slidingWindow({ quota: 12, window: '700ms' }),
  ]
  const keys = Array.from({ length: 12 }, (_, i) => `k${i}`)
  for (let seed = 1; seed <= 15; seed++) {
    const random = randomNumbers(seed * 7_919)
    const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]
    const clock = new ManualClock(Date.UTC(2026, 0, 1) + seed * 12_345.678)
    const [together, alone] = [injected.createWithPrefix(clock), injected.createWithPrefix(clock)]
    const rounds = [1]
    for (let sequence = 1; sequence <= 25; sequence++) {
      clock.advance(pick([0, 0.001, 7, 60, 350, 700, 2_100, -5, -800]))
      const requests = keys.map((key) => {
        const returns = Array.from({ length: pick([0, 1, 1, 2]) }, () => {
          return {
            roundUs: pick([pick(rounds), rounds.at(-1) ?? 1]),
            spent: pick([0, 1, 3]),
            unspent: pick([0, 1, 30]),
          }
        })
        const leaseUs = pick([60_000, 250_000])
        // One in eight arrives twice.
        const sent = sequence - pick([0, 0, 0, 0, 0, 0, 0, 1])
        return {
          name: 'n',
          limit: pick(limits),
          key,
          node: 'a',
          sequence: Math.max(1, sent),
          want: pick([0, 1, 5, 50]),
          leaseUs,
          returns,
        }
      })
      const blocked = random() < 0.2 ? pick(keys) : undefined
      for (const { store } of [together, alone]) if (blocked) await store.block('n', blocked, 500_000)
      const answers = await Promise.all(requests.map((request) => together.store.leases.exchange(request)))
      for (const [i, request] of requests.entries()) {
        const [one, other] = [answers[i], await alone.store.leases.exchange(request)]
        if ('instead' in one || 'instead' in other) throw new Error('Redis did not answer')
        expect({ ...one, decisionFor: one.decisionFor(1) }).toEqual({ ...other, decisionFor: other.decisionFor(1) })
        if (one.granted > 0) rounds.push(one.roundUs)
      }
      await expectSameKeys(together.prefix, alone.prefix)
    }
  }
}, 60_000)

/** All states and guards have the same bytes, but for the end of a state under a block, and about the same expiries. */
async function expectSameKeys(prefix: string, otherPrefix: string): Promise<void> {
  const names = (await injected.client.keys(`${prefix}*`)).map((key) => key.slice(prefix.length))
  expect(await injected.client.keys(`${otherPrefix}*`)).toHaveLength(names.length)
  const kept = async (key: string) => {
    const value = (await injected.client.getBuffer(key)) ?? Buffer.alloc(0)
    // A block is written by a step that reads the end of the state from the expiry.
    if (value.length > 16 && value.length % 8 === 1) value.fill(0, value.length - 9)
    return { value, ttlMs: await injected.client.pttl(key) }
  }
  for (const name of names) {
    const [one, other] = [await kept(prefix + name), await kept(otherPrefix + name)]
    expect(one.value, name).toEqual(other.value)
    expect(Math.abs(one.ttlMs - other.ttlMs), name).toBeLessThan(5_000)
  }
}
