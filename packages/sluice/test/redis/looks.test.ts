/** What asks for no units only looks: nothing in Redis changes, and nothing lives longer for it. */
import { Redis } from 'ioredis'
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import {
  concurrency,
  createLimiter,
  createPolicy,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../src/index.js'
import { microseconds } from '../../src/limits/index.js'
import { ioredisRunner } from '../../src/stores/redis/clients/ioredis-client.js'
import { RedisStore } from '../../src/stores/redis/redis-store.js'
import { injectedTime } from '../../src/stores/redis/time-source.js'
import { timesAsked } from './faults-clients.js'

/** Of each algorithm, the numbers that units were taken by, and others to look by. */
const CASES: readonly { readonly algorithm: string; readonly own: Limit; readonly others: readonly Limit[] }[] = [
  {
    own: tokenBucket({ capacity: 10, refill: '10/s' }),
    others: [tokenBucket({ capacity: 1_000, refill: '1/7d' }), tokenBucket({ capacity: 2, refill: '1000/s' })],
  },
  {
    own: leakyBucket({ capacity: 10, drain: '10/s' }),
    others: [leakyBucket({ capacity: 1_000, drain: '1/7d' }), leakyBucket({ capacity: 2, drain: '1000/s' })],
  },
  {
    own: fixedWindow({ quota: 10, window: '1s' }),
    others: [
      fixedWindow({ quota: 1_000, window: '30d' }),
      fixedWindow({ quota: 2, window: '10ms' }),
      fixedWindow({ quota: 10, window: '1s', align: 'first' }),
    ],
  },
  {
    own: slidingWindow({ quota: 10, window: '1s' }),
    others: [
      slidingWindow({ quota: 1_000, window: '30d', slices: 30 }),
      slidingWindow({ quota: 2, window: '10ms' }),
      slidingWindow({ quota: 10, window: '1s', align: 'first' }),
    ],
  },
  {
    own: slidingLog({ quota: 100, window: '1s' }),
    others: [slidingLog({ quota: 1_000, window: '30d' }), slidingLog({ quota: 2, window: '10ms' })],
  },
  {
    own: concurrency({ max: 100, ttl: '1s' }),
    others: [concurrency({ max: 1_000, ttl: '30d' }), concurrency({ max: 2, ttl: '10ms' })],
  },
].map((each) => ({ algorithm: each.own.algorithm, ...each }))

let server: RedisServer
let redis: Redis
let looking: Redis
let clock: ManualClock
let store: RedisStore
/** The same as another user, who may write nothing. */
let readOnly: RedisStore

beforeAll(async () => {
  server = await startRedis()
  redis = new Redis(server.port)
  await redis.acl('SETUSER', 'looker', 'on', 'nopass', '~*', '+@all', '-@write')
  looking = new Redis({ port: server.port, username: 'looker', password: 'any' })
})
afterAll(async () => {
  redis?.disconnect()
  looking?.disconnect()
  await server?.stop()
})
beforeEach(async () => {
  await redis.flushall()
  clock = new ManualClock(Date.UTC(2026, 0, 1))
  const time = injectedTime(() => microseconds(clock.now()))
  const storeOf = (client: Redis) =>
    new RedisStore(ioredisRunner(client), { deadlineMs: 20_000, onFailure: 'closed' }, time)
  store = storeOf(redis)
  readOnly = storeOf(looking)
})

/** All that is in Redis: values, and when they expire. */
async function contents(): Promise<object> {
  const keys = (await redis.keys('*')).sort()
  const entries = keys.map(async (key) => [
    key,
    (await redis.dumpBuffer(key))?.toString('hex'),
    await redis.pexpiretime(key),
  ])
  return Promise.all(entries)
}

/** How often anything was written, changed or not. */
const writes = () =>
  timesAsked(
    server.port,
    'set',
    'del',
    'unlink',
    'setrange',
    'append',
    'expire',
    'pexpire',
    'pexpireat',
    'hset',
    'zadd',
  )

/** States of every kind under the name and keys that are given back: begun, in debt, blocked, whole again, long. */
async function seed(own: Limit): Promise<readonly string[]> {
  const demand = (key: string, cost: number) => ({ name: 'n', limit: own, key, cost })
  await store.charge(demand('whole', 1))
  await store.block('n', 'block over', 1_000)
  clock.advance(5_000)
  await store.charge(demand('begun', 3))
  await store.charge(demand('debt', 150))
  await store.block('n', 'blocked', 60_000_000)
  await store.charge(demand('begun and blocked', 3))
  await store.block('n', 'begun and blocked', 60_000_000)
  for (let i = 0; i < 70; i++) {
    clock.advance(0.01)
    await store.charge(demand('long', 1))
  }
  return ['whole', 'block over', 'begun', 'debt', 'blocked', 'begun and blocked', 'long', 'new']
}

describe.each(CASES)('$algorithm', ({ own, others }) => {
  it('a look changes nothing in Redis, whatever the numbers that it is by', async () => {
    const keys = await seed(own)
    const before = await contents()
    const written = await writes()
    for (const of of [store, readOnly]) {
      for (const limit of [own, ...others]) {
        const limiter = createLimiter({ name: 'n', limit, store: of })
        for (const key of keys) {
          const demand = { name: 'n', limit, key, cost: 0 }
          const taken = { atUs: microseconds(clock.now()), cost: 1, delayMs: 0 }
          const looks = [
            await limiter.peek(key),
            await limiter.peek(key, { cost: 0 }),
            await limiter.peek(key, { cost: 5 }),
            await limiter.peek(key, { cost: 1_000_000 }),
            await limiter.tryAcquire(key, { cost: 0 }),
            await of.charge(demand),
            await of.refund(demand, undefined),
            await of.refund(demand, taken),
            await of.refund({ ...demand, cost: 1 }, { ...taken, degraded: 'open' }),
          ]
          // The one that may not write was answered by Redis all the same.
          expect(looks.map(({ degraded }) => degraded)).toEqual(looks.map(() => undefined))
        }
        const { decisions } = await of.decide(keys.map((key) => ({ name: 'n', limit, key, cost: 0 })))
        const peeked = await of.peek(keys.map((key) => ({ name: 'n', limit, key, cost: 2 })))
        expect([...decisions, ...peeked.decisions].filter(({ degraded }) => degraded !== undefined)).toEqual([])
      }
    }
    expect(await contents()).toEqual(before)
    expect(await writes()).toBe(written)
  })

  it('a request that takes elsewhere only looks where it costs nothing', async () => {
    const keys = await seed(own)
    const before = await contents()
    for (const limit of others) {
      const looks = keys.map((key) => ({ name: 'n', limit, key, cost: 0, shadow: true }))
      const takes = { name: 'other', limit: own, key: 'k', cost: 1 }
      expect((await store.decide([takes, ...looks])).decisions[0].allowed).toBe(true)
      await store.reset('other', 'k')
    }
    expect(await contents()).toEqual(before)
  })

  it('to peek at a request and to explain it change nothing, also where an override is in force', async () => {
    const policyBy = (limit: Limit, of: RedisStore) =>
      createPolicy({ name: 'p', levels: [{ name: 'level', key: 'user', limit }], store: of })
    await policyBy(own, store).check({ user: 'begun' }, { cost: 2 })
    await policyBy(own, store).check({ user: 'raised' }, { cost: 2 })
    await policyBy(own, store).override('level', 'raised', others[0])
    clock.advance(10)
    const before = await contents()
    const written = await writes()
    for (const of of [store, readOnly]) {
      for (const limit of [own, ...others]) {
        for (const user of ['begun', 'raised', 'new']) {
          expect((await policyBy(limit, of).peek({ user })).degraded).toBeUndefined()
          const [explanation] = await policyBy(limit, of).explain({ user }, { cost: 5 })
          expect(explanation).toMatchObject({ matches: true, cost: 5, limits: [{ decision: {} }] })
          expect(explanation.limits?.[0].decision.degraded).toBeUndefined()
        }
      }
    }
    expect(await contents()).toEqual(before)
    expect(await writes()).toBe(written)
  })
})

it('a look under other numbers leaves the state as it is for the next request', async () => {
  for (const { own, others } of CASES) {
    const demand = { name: own.algorithm, limit: own, cost: 2 }
    for (const key of ['looked at', 'not']) await store.charge({ ...demand, key })
    for (const limit of others) await store.decide([{ ...demand, limit, key: 'looked at', cost: 0 }])
    const taken = ['looked at', 'not'].map((key) => store.decide([{ ...demand, key, cost: 1 }]))
    const [{ decisions: one }, { decisions: other }] = await Promise.all(taken)
    expect(one).toEqual(other)
    expect(one[0]).toMatchObject({ allowed: true, remaining: one[0].quota - 3 })
  }
})
