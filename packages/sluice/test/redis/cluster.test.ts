import { Redis } from 'ioredis'
import { microseconds } from 'sluice/limits'
import { type ManualClock, storeContract, workedExamples } from 'sluice/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type RedisCluster, startCluster } from '../../../../scripts/redis-cluster.mjs'
import { createLimiter, type Demand, fixedWindow, slidingLog, tokenBucket } from '../../src/index.js'
import type { LeaseReturn } from '../../src/limits/index.js'
import { runnerOf } from '../../src/stores/redis/clients/runner-of.js'
import { ioredisOptions, redisStore } from '../../src/stores/redis/index.js'
import { hashSlotOf, KeyLayout } from '../../src/stores/redis/key-layout.js'
import { RedisStore } from '../../src/stores/redis/redis-store.js'
import { injectedTime } from '../../src/stores/redis/time-source.js'
import { CLUSTER_CLIENTS, type ClusterClient } from './cluster-clients.js'
import { SLOW_LIMITS } from './fleet-limits.js'

const [bucket, , window] = SLOW_LIMITS
const SOUND = { deadline: 0, error: 0, breaker: 0, overload: 0, foreign: 0 }
const KEYS = Array.from({ length: 300 }, (_, i) => `key-${i}`)
const ODD = [
  ...['{', '}', '{}', '}{', '{{', '{a}', 'a{b}c', '{}{a}', '%', '%7B', '%7b', '%#', '%25', '%{', ' ', '\0', '\n', ':'],
  ...['ключ', '🔑', 'a\ud800', '\ufffd', 'e\u0301', 'é', '__proto__', 'a:b', 'a_b', '*', '?', '[a]', '\\', '"'],
  ...[127, 128, 129, 5_000].map((length) => 'x'.repeat(length)),
  ...['{'.repeat(128), '{'.repeat(129), 'ё'.repeat(128), '🔑'.repeat(64), '🔑'.repeat(65)],
]
const demand = (name: string, key: string, cost = 1, limit = window): Demand => ({ name, limit, key, cost })

const EXAMPLES = new Set(workedExamples.map(({ name }) => name))

let cluster: RedisCluster
let prefixes = 0
const freshPrefix = () => `test-${++prefixes}:`

beforeAll(async () => {
  cluster = await startCluster()
})
afterAll(() => cluster?.stop())

describe.each(Object.entries(CLUSTER_CLIENTS))('a cluster by %s', (_, connect) => {
  let opened: ClusterClient

  beforeAll(async () => {
    opened = await connect(cluster)
  })
  afterAll(() => void opened?.close())

  const freshStore = (options = {}) =>
    redisStore(opened.client, { prefix: freshPrefix(), deadlineMs: 20_000, onFailure: 'closed', ...options })

  const storeAt = (clock: ManualClock) =>
    new RedisStore(
      runnerOf(opened.client),
      { prefix: freshPrefix(), deadlineMs: 20_000 },
      injectedTime(() => microseconds(clock.now())),
    )

  test('decides the first burst after connecting as any other', async () => {
    const store = freshStore()
    const limiter = createLimiter({ name: 'test', limit: bucket, store })
    const decisions = await Promise.all(KEYS.map((key) => limiter.tryAcquire(key)))
    expect(store.stats().degraded).toEqual(SOUND)
    expect(decisions.map(({ remaining }) => remaining)).toEqual(KEYS.map(() => 9))
  })

  // The cases ask for keys of different slots together. Random series do too, and move the clock back: then it shows that
  // a state which took and was given back has seen a later time than one that never took.
  for (const { name, run } of storeContract(storeAt, { traces: 0 })) {
    if (!EXAMPLES.has(name) && !name.includes('random series')) test.concurrent(name, run)
  }

  test('what is asked in one turn leaves split by slot, however many', async () => {
    const store = freshStore()
    const limiter = createLimiter({ name: 'test', limit: bucket, store })
    const slots = new Set(KEYS.map((key) => hashSlotOf(key))).size
    for (const remaining of [9, 8, 7]) {
      const before = store.stats().batches
      const decisions = await Promise.all(KEYS.map((key) => limiter.tryAcquire(key)))
      expect(decisions.map((decision) => decision.remaining)).toEqual(KEYS.map(() => remaining))
      expect(store.stats().batches - before).toBe(slots)
    }
    expect(store.stats()).toMatchObject({ degraded: SOUND, pending: 0, batchesInFlight: 0 })
  })

  test.each(SLOW_LIMITS)('every method of a $algorithm limiter works in every slot', async (limit) => {
    const store = freshStore()
    const limiter = createLimiter({ name: 'test', limit, store })
    await Promise.all(
      KEYS.slice(0, 60).map(async (key) => {
        expect(await limiter.tryAcquire(key, { cost: 4 })).toMatchObject({ allowed: true, remaining: 6 })
        expect(await limiter.tryAcquire(key, { cost: 7 })).toMatchObject({ allowed: false, remaining: 6 })
        expect(await limiter.charge(key, { cost: 2 })).toMatchObject({ remaining: 4 })
        expect(await limiter.refund(key, { cost: 2 })).toMatchObject({ remaining: 6 })
        const reservation = await limiter.reserve(key, { cost: 5 })
        expect(await limiter.peek(key)).toMatchObject({ remaining: 1 })
        await reservation.cancel()
        expect(await limiter.peek(key)).toMatchObject({ remaining: 6 })
        expect(await limiter.peek(key, { cost: 7 })).toMatchObject({ allowed: false, remaining: 6 })
        if (limit.algorithm !== 'concurrency')
          expect(await limiter.set(key, { remaining: 3 })).toMatchObject({ allowed: true, remaining: 3 })
        await limiter.block(key, { duration: '1h' })
        expect(await limiter.peek(key)).toMatchObject({ allowed: false })
        await limiter.reset(key)
        expect(await limiter.peek(key)).toMatchObject({ allowed: true, remaining: 10 })
      }),
    )
    expect(store.stats().degraded).toEqual(SOUND)
  })

  test.each(SLOW_LIMITS)('a peek over several slots takes nothing from a $algorithm', async (limit) => {
    const store = freshStore()
    await store.charge(demand('spent', 'b', 10))
    for (const [other, allowed, left] of [
      ['spent', false, 0],
      ['free', true, 10],
    ] as const) {
      expect(await store.peek([demand('test', 'a', 3, limit), demand(other, 'b')])).toMatchObject({
        allowed,
        decisions: [
          { allowed: true, remaining: 10 },
          { allowed, remaining: left },
        ],
      })
    }
    expect(store.stats().degraded).toEqual(SOUND)
  })

  test('lends units of keys in every slot, in the turn of other calls for them', async () => {
    const store = freshStore()
    const terms = { name: 'lent', limit: bucket, node: 'node', leaseUs: 250_000 }
    await Promise.all(
      KEYS.slice(0, 60).map(async (key) => {
        const lease = (sequence: number, want: number, returns: readonly LeaseReturn[] = []) =>
          store.leases.exchange({ ...terms, key, sequence, want, returns })
        const [first, direct] = await Promise.all([lease(1, 3), store.decide([demand('lent', key, 1, bucket)])])
        expect(first).toMatchObject({ granted: 3, isBlocked: false })
        expect(direct.allowed).toBe(true)
        const returns = [{ roundUs: 'roundUs' in first ? first.roundUs : 0, spent: 1, unspent: 2 }]
        expect(await lease(2, 100, returns)).toMatchObject({ granted: 8 })
        expect(await lease(2, 100, returns)).toMatchObject({ granted: 0 })
      }),
    )
    expect(store.stats().degraded).toEqual(SOUND)
  })

  test.each(SLOW_LIMITS)('a request that another slot denies takes nothing from a $algorithm', async (limit) => {
    const store = freshStore()
    await store.charge(demand('spent', 'b', 10))
    for (const already of [0, 2]) {
      const left = 10 - already
      await store.charge(demand('test', 'a', already, limit))
      const denied = await store.decide([demand('test', 'a', 3, limit), demand('spent', 'b')])
      expect(denied).toMatchObject({
        allowed: false,
        decisions: [
          { allowed: true, remaining: left },
          { allowed: false, remaining: 0 },
        ],
      })
      const { decisions } = await store.decide([demand('test', 'a', 0, limit)])
      expect(decisions[0].remaining).toBe(left)
    }
    const allowed = await store.decide([demand('test', 'a', 3, limit), demand('free', 'b')])
    expect(allowed).toMatchObject({ allowed: true, decisions: [{ remaining: 5 }, { remaining: 9 }] })
  })

  test('keys and names may hold anything', async () => {
    const store = freshStore()
    const demands = ODD.slice(0, 12).flatMap((name) => ODD.map((key) => demand(name, key)))
    const answers = await Promise.all(demands.map((each) => store.decide([each])))
    expect(answers.filter(({ decisions }) => decisions[0].remaining !== 9)).toEqual([])
    expect(store.stats().degraded).toEqual(SOUND)
  })

  test('concurrent requests over three slots are never given more than each of them has', async () => {
    const prefix = freshPrefix()
    const stores = [freshStore({ prefix }), freshStore({ prefix, maxBatch: 2 })]
    const limits = [
      fixedWindow({ quota: 20, window: '365d' }),
      tokenBucket({ capacity: 30, refill: '1/h' }),
      slidingLog({ quota: 40, window: '365d' }),
    ]
    const request = limits.map((limit, i) => demand('test', KEYS[i], 1, limit))
    expect(new Set(request.map(({ key }) => hashSlotOf(key))).size).toBe(3)
    const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => stores[i % 2].decide(request)))
    let taken = answers.filter(({ allowed }) => allowed).length
    expect(taken).toBeLessThanOrEqual(20)
    const peek = async () =>
      (await Promise.all(request.map((each) => stores[0].decide([{ ...each, cost: 0 }])))).map(
        ({ decisions }) => decisions[0].remaining,
      )
    expect(await peek()).toEqual([20 - taken, 30 - taken, 40 - taken])
    // What some held for a moment while others were denied is there for the next.
    while ((await stores[0].decide(request)).allowed) taken++
    expect(taken).toBe(20)
    expect(await peek()).toEqual([0, 10, 20])
    for (const store of stores) expect(store.stats().degraded).toEqual(SOUND)
  })
})

describe('keys in a cluster', () => {
  const layout = new KeyLayout('sluice:')
  let node: Redis

  beforeAll(() => {
    node = new Redis(cluster.nodes[0].port)
  })
  afterAll(() => node?.disconnect())

  test('are in the hash slots that Redis says', async () => {
    const keys = [...ODD, ...KEYS, ...KEYS.map((key, i) => `${ODD[i % ODD.length]}${key}`)]
    const pipeline = node.pipeline()
    for (const key of keys) pipeline.cluster('KEYSLOT', layout.of('{name}', SLOW_LIMITS[0], key))
    const replies = (await pipeline.exec()) ?? []
    expect(keys.map((key) => hashSlotOf(layout.of('{name}', SLOW_LIMITS[0], key)))).toEqual(
      replies.map(([, slot]) => slot),
    )
  })

  test('share a hash slot with all other limits of the same key', async () => {
    const pipeline = node.pipeline()
    for (const name of ODD)
      for (const limit of SLOW_LIMITS) pipeline.cluster('KEYSLOT', layout.of(name, limit, 'user:42'))
    const replies = (await pipeline.exec()) ?? []
    expect(new Set(replies.map(([, slot]) => slot))).toEqual(new Set([hashSlotOf('user:42')]))
  })

  test('are never those of another name, key or algorithm', () => {
    // A lone surrogate is the replacement character, everywhere.
    const texts = ODD.filter((text) => text.isWellFormed())
    const keys = texts.flatMap((name) =>
      texts.flatMap((key) => SLOW_LIMITS.map((limit) => layout.of(name, limit, key))),
    )
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(
      texts.length ** 2 * SLOW_LIMITS.length,
    )
  })
})

test('who passes a client of one server is told once that it is part of a cluster', async () => {
  const codes: unknown[] = []
  const onWarning = (warning: Error & { code?: unknown }) => codes.push(warning.code)
  process.on('warning', onWarning)
  const client = new Redis(cluster.nodes[0].port, { ...ioredisOptions, lazyConnect: true })
  try {
    await client.connect()
    const limit = tokenBucket({ capacity: 5, refill: '1/s' })
    const limiter = createLimiter({ name: 'alone', limit, store: redisStore(client, { deadlineMs: 20_000 }) })
    for (let i = 0; i < 30; i++) await limiter.tryAcquire(`user:${i}`)
    await vi.waitUntil(() => codes.length > 0)
    expect(codes).toEqual(['SLUICE_REDIS_NOT_A_CLUSTER_CLIENT'])
  } finally {
    process.off('warning', onWarning)
    client.disconnect()
  }
})
