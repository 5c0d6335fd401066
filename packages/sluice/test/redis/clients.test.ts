import { GlideClient, Logger, ProtocolVersion } from '@valkey/valkey-glide'
import { Cluster, Redis } from 'ioredis'
import { Redis as Iovalkey, Cluster as IovalkeyCluster } from 'iovalkey'
import { createClient, createClientPool, createCluster, RESP_TYPES } from 'redis'
import { microseconds } from 'sluice/limits'
import { type ManualClock, storeContract, workedExamples } from 'sluice/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { freePort, type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import {
  type AsyncLimiter,
  createLimiter,
  createLimiters,
  InvalidTypeError,
  type Limiter,
  memoryStore,
  tokenBucket,
} from '../../src/index.js'
import { type RedisClient, runnerOf } from '../../src/stores/redis/clients/runner-of.js'
import { ioredisClusterOptions, ioredisOptions, nodeRedisOptions, redisStore } from '../../src/stores/redis/index.js'
import { RedisStore } from '../../src/stores/redis/redis-store.js'
import { injectedTime } from '../../src/stores/redis/time-source.js'
import { SLOW_LIMITS } from './fleet-limits.js'

// Or it would tell of every script that a server does not know.
Logger.setLoggerConfig('off')

/** A client that has not connected yet. */
interface Unconnected {
  readonly client: RedisClient
  connect(): Promise<unknown>
  close(): unknown
}

const ofIoredis =
  (options: object) =>
  (port: number): Unconnected => {
    const client = new Redis(port, { ...ioredisOptions, ...options, lazyConnect: true })
    client.on('error', () => {})
    return { client, connect: () => client.connect(), close: () => client.disconnect() }
  }

const ofIovalkey = (port: number): Unconnected => {
  const client = new Iovalkey(port, { ...ioredisOptions, lazyConnect: true })
  client.on('error', () => {})
  return { client, connect: () => client.connect(), close: () => client.disconnect() }
}

const ofNodeRedis =
  (options: { RESP?: 2 | 3; keyPrefix?: string }) =>
  (port: number): Unconnected => {
    const client = createClient({ url: `redis://127.0.0.1:${port}`, ...nodeRedisOptions, ...options })
    client.on('error', () => {})
    return { client, connect: () => client.connect(), close: () => client.isOpen && client.destroy() }
  }

const ofPool = (port: number): Unconnected => {
  const client = createClientPool({ url: `redis://127.0.0.1:${port}`, ...nodeRedisOptions })
  client.on('error', () => {})
  return { client, connect: () => client.connect(), close: () => client.isOpen && client.destroy() }
}

const ofGlide =
  (protocol: ProtocolVersion) =>
  async (port: number): Promise<Unconnected> => {
    const client = await GlideClient.createClient({
      addresses: [{ host: '127.0.0.1', port }],
      protocol,
      requestTimeout: 5_000,
      lazyConnect: true,
    })
    return { client, connect: () => client.ping(), close: () => client.close() }
  }

const CLIENTS: Readonly<Record<string, (port: number) => Unconnected | Promise<Unconnected>>> = {
  'ioredis with RESP2': ofIoredis({ protocol: 2 }),
  'ioredis with RESP3': ofIoredis({ protocol: 3 }),
  'ioredis with numbers as text': ofIoredis({ stringNumbers: true }),
  'ioredis with a key prefix': ofIoredis({ keyPrefix: 'tenant:' }),
  'ioredis with automatic pipelines': ofIoredis({ enableAutoPipelining: true }),
  iovalkey: ofIovalkey,
  'node-redis with RESP2': ofNodeRedis({ RESP: 2 }),
  'node-redis with RESP3': ofNodeRedis({ RESP: 3 }),
  'node-redis with a key prefix': ofNodeRedis({ keyPrefix: 'tenant:' }),
  'a pool of node-redis': ofPool,
  'valkey-glide with RESP2': ofGlide(ProtocolVersion.RESP2),
  'valkey-glide with RESP3': ofGlide(ProtocolVersion.RESP3),
}

const EXAMPLES = new Set(workedExamples.map(({ name }) => name))

let server: RedisServer
let admin: Redis
let prefixes = 0
const freshPrefix = () => `test-${++prefixes}:`

beforeAll(async () => {
  server = await startRedis()
  admin = new Redis(server.port)
})

afterAll(async () => {
  admin?.disconnect()
  await server?.stop()
})

describe.each(Object.entries(CLIENTS))('%s', (_, open) => {
  let opened: Unconnected

  beforeAll(async () => {
    opened = await open(server.port)
    await opened.connect()
  })

  afterAll(() => void opened?.close())

  const create = (clock: ManualClock) =>
    new RedisStore(
      runnerOf(opened.client),
      { prefix: freshPrefix(), deadlineMs: 20_000 },
      injectedTime(() => microseconds(clock.now())),
    )

  // Without the long examples, which are about arithmetic. At the same time, each with a prefix of its own.
  for (const { name, run } of storeContract(create, { traces: 5 })) {
    if (!EXAMPLES.has(name)) test.concurrent(name, run)
  }

  test.each(SLOW_LIMITS)('every method of a $algorithm limiter answers as one in memory does', async (limit) => {
    const store = redisStore(opened.client, { prefix: freshPrefix(), deadlineMs: 20_000 })
    const actual = await useAll(createLimiter({ name: 'test', limit, store }))
    const expected = await useAll(createLimiter({ name: 'test', limit, store: memoryStore() }))
    expect(actual).toEqual(expected)
    expect(store.stats().degraded).toEqual({ deadline: 0, error: 0, breaker: 0, overload: 0, foreign: 0 })
  })

  test('a script that Redis forgot is sent again, and nothing is taken twice', async () => {
    const store = redisStore(opened.client, { prefix: freshPrefix(), deadlineMs: 20_000 })
    const limiter = createLimiter({ name: 'test', limit: SLOW_LIMITS[0], store })
    for (let taken = 1; taken <= 3; taken++) {
      await admin.script('FLUSH')
      expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: true, remaining: 10 - taken })
      expect(store.stats().scriptsSent).toBe(taken)
    }
  })

  test('a script that Redis forgets while batches are on their way is no error', async () => {
    const store = redisStore(opened.client, { prefix: freshPrefix(), deadlineMs: 20_000, maxBatch: 3 })
    const limiter = createLimiter({ name: 'test', limit: SLOW_LIMITS[2], store })
    const decisions = []
    for (let round = 0; round < 10; round++) {
      const flushed = admin.script('FLUSH')
      const asked = Array.from({ length: 30 }, (_, i) => limiter.tryAcquire(`key-${i}`))
      decisions.push(...(await Promise.all([...asked, limiter.tryAcquire('hot', { cost: 3 })])))
      await flushed
    }
    expect(decisions.filter(({ degraded }) => degraded !== undefined)).toEqual([])
    // Thirty keys with a quota of 10 each, asked ten times; one for which three fit.
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(303)
    expect(store.stats()).toMatchObject({ pending: 0, batchesInFlight: 0, breaker: 'closed' })
    expect(store.stats().scriptsSent).toBeGreaterThan(0)
  })
})

describe.each(Object.entries(CLIENTS))('%s that is not connected', (_, open) => {
  test('gives degraded decisions by their deadline, and real ones once Redis is there', async () => {
    const port = await freePort()
    const opened = await open(port)
    const deadlineMs = 250
    let late: RedisServer | undefined
    try {
      const store = redisStore(opened.client, { deadlineMs, onFailure: 'closed' })
      const limiter = createLimiter({ name: 'test', limit: SLOW_LIMITS[0], store })
      const start = performance.now()
      expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: false, degraded: 'closed' })
      expect(performance.now() - start).toBeLessThan(deadlineMs + 500)
      late = await startRedis({ port })
      void opened.connect().catch(() => {})
      const real = await vi.waitUntil(
        async () => {
          const decision = await limiter.tryAcquire('key', { cost: 10 })
          return decision.degraded === undefined && decision
        },
        { timeout: 15_000 },
      )
      expect(real).toMatchObject({ quota: 10, remaining: 0 })
      expect(store.stats().breaker).toBe('closed')
    } finally {
      await opened.close()
      await late?.stop()
    }
  })
})

describe('options with which an outage would hurt', () => {
  const codes: unknown[] = []
  const listen = (warning: Error & { code?: string }) => void codes.push(warning.code)

  beforeEach(() => {
    codes.length = 0
    process.on('warning', listen)
  })
  afterEach(() => void process.off('warning', listen))

  // A warning is emitted in the next turn.
  const warnings = async (client: RedisClient) => {
    for (let i = 0; i < 3; i++) redisStore(client)
    await new Promise(setImmediate)
    return codes.filter((code) => code === 'SLUICE_REDIS_CLIENT_OPTIONS').length
  }
  const nodes = [{ host: '127.0.0.1', port: 1 }]
  const rootNodes = [{ url: 'redis://127.0.0.1:1' }]

  const UNSAFE: Readonly<Record<string, () => RedisClient>> = {
    ioredis: () => new Redis({ lazyConnect: true }),
    'ioredis with one option missing': () =>
      new Redis({ ...ioredisOptions, maxRetriesPerRequest: 1, lazyConnect: true }),
    'a Cluster of ioredis': () => new Cluster(nodes, { lazyConnect: true }),
    'a Cluster of ioredis with options for one server': () =>
      new Cluster(nodes, { ...ioredisOptions, lazyConnect: true }),
    iovalkey: () => new Iovalkey({ lazyConnect: true }),
    'a Cluster of iovalkey': () => new IovalkeyCluster(nodes, { lazyConnect: true }),
    'node-redis': () => createClient(),
    'a cluster of node-redis': () => createCluster({ rootNodes }),
  }
  test.each(Object.entries(UNSAFE))('are warned of once a client: %s', async (_, client) => {
    expect(await warnings(client())).toBe(1)
    expect(await warnings(client())).toBe(2)
  })

  const SAFE: Readonly<Record<string, () => RedisClient>> = {
    ioredis: () => new Redis({ ...ioredisOptions, lazyConnect: true }),
    'a Cluster of ioredis': () => new Cluster(nodes, { ...ioredisClusterOptions, lazyConnect: true }),
    iovalkey: () => new Iovalkey({ ...ioredisOptions, lazyConnect: true }),
    'a Cluster of iovalkey': () => new IovalkeyCluster(nodes, { ...ioredisClusterOptions, lazyConnect: true }),
    'node-redis': () => createClient({ ...nodeRedisOptions }),
    'a pool of node-redis': () => createClientPool({ ...nodeRedisOptions }),
    'a cluster of node-redis': () => createCluster({ rootNodes, defaults: { ...nodeRedisOptions } }),
    'node-redis with a type mapping': () =>
      createClient({ ...nodeRedisOptions }).withTypeMapping({ [RESP_TYPES.NUMBER]: String }) as RedisClient,
  }
  test.each(Object.entries(SAFE))('are not those that Sluice exports for %s', async (_, client) => {
    expect(await warnings(client())).toBe(0)
  })
})

test.each([[{}], [null], [undefined], ['redis://localhost'], [42], [[]], [() => {}], [{ evalsha() {} }], [new Map()]])(
  'what is no client is refused: %o',
  (wrong) => {
    expect(() => redisStore(wrong as never)).toThrow(InvalidTypeError)
    expect(() => redisStore(wrong as never)).toThrow(
      /^client must be a client of ioredis, iovalkey, redis \(node-redis\) or @valkey\/valkey-glide\b.*, got /,
    )
  },
)

/** Uses every method, and says what each answered, without the times. */
async function useAll(limiter: Limiter | AsyncLimiter): Promise<unknown> {
  const answers: unknown[] = []
  const note = ({ allowed, quota, remaining, degraded }: Awaited<ReturnType<AsyncLimiter['peek']>>) =>
    answers.push({ allowed, quota, remaining, degraded })
  const look = async () => note(await limiter.peek('key'))
  note(await limiter.tryAcquire('key'))
  note(await limiter.tryAcquire('key', { cost: 3 }))
  note(await limiter.tryAcquire('key', { cost: 7 }))
  note(await limiter.tryAcquire('key', { cost: 11 }))
  await look()
  note(await limiter.charge('key', { cost: 2 }))
  note(await limiter.refund('key', { cost: 1 }))
  const settled = await limiter.reserve('key', { cost: 4 })
  note(settled.decision)
  await settled.settle(1)
  await look()
  const more = await limiter.reserve('key')
  await more.settle(2)
  await look()
  const cancelled = await limiter.reserve('key', { cost: 2 })
  await cancelled.cancel()
  await look()
  note(await limiter.charge('key', { cost: 20 }))
  note(await limiter.tryAcquire('key'))
  await limiter.block('other', { duration: '1h' })
  note(await limiter.peek('other'))
  note(await limiter.tryAcquire('other'))
  await limiter.reset('other')
  await limiter.reset('key')
  await look()
  note(await limiter.tryAcquire('other', { cost: 10 }))
  return answers
}

test.each([
  ['an address', 'redis://localhost', 'that was made for this address'],
  ['a promise', Promise.resolve(), 'which is what this promise gives when awaited'],
  ['an object with the client in it', { client: {} }, 'as the first argument itself'],
])('who passes %s is told what to pass', (_, wrong, hint) => {
  expect(() => redisStore(wrong as never)).toThrow(hint)
})

test('who passes a client for a store is told to wrap it', () => {
  const client = { evalsha() {}, eval() {} }
  const limit = tokenBucket({ capacity: 1, refill: '1/s' })
  expect(() => createLimiter({ name: 'a', limit, store: client as never })).toThrow('redisStore(client)')
  expect(() => createLimiters({ a: limit }, redisStore(client as never) as never)).toThrow('{ store }')
})
