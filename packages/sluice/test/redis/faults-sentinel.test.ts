import { Redis } from 'ioredis'
import { createSentinel } from 'redis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AsyncLimiter, createLimiter, tokenBucket } from '../../src/index.js'
import { ioredisOptions, nodeRedisSentinelOptions, type RedisClient, redisStore } from '../../src/stores/redis/index.js'
import { onServer, type TestClient } from './faults-clients.js'
import { until } from './faults-until.js'
import { GROUP_NAME, type SentinelGroup, startSentinelGroup } from './sentinel-group.js'
import { SilentWire } from './silent-wire.js'

const limit = tokenBucket({ capacity: 10, refill: '1/h' })
const host = '127.0.0.1'

async function ioredis({ sentinel, primary }: SentinelGroup, wire: SilentWire, deaf: SilentWire): Promise<TestClient> {
  const client = new Redis({
    ...ioredisOptions,
    name: GROUP_NAME,
    // The first one that is asked never answers.
    sentinels: [deaf, sentinel].map(({ port }) => ({ host, port })),
    natMap: { [`${host}:${primary.port}`]: { host, port: wire.port } },
    lazyConnect: true,
  })
  client.on('error', () => {})
  await client.connect()
  return { client, close: () => client.disconnect() }
}

async function nodeRedis({ sentinel, primary }: SentinelGroup, wire: SilentWire): Promise<TestClient> {
  const client = createSentinel({
    ...nodeRedisSentinelOptions,
    name: GROUP_NAME,
    sentinelRootNodes: [{ host, port: sentinel.port }],
    nodeAddressMap: { [`${host}:${primary.port}`]: { host, port: wire.port } },
  })
  client.on('error', () => {})
  await client.connect()
  return { client: client as unknown as RedisClient, close: () => void client.destroy() }
}

/** A limiter for each client. The way from the clients to the primary is a wire; the Sentinel has its own. */
let group: SentinelGroup
let wire: SilentWire
let deaf: SilentWire
let clients: readonly TestClient[] = []
let limiters: readonly AsyncLimiter[]

beforeAll(async () => {
  group = await startSentinelGroup()
  wire = await SilentWire.to(group.primary.port)
  deaf = await SilentWire.to(group.sentinel.port)
  deaf.beginBlackHole()
  clients = await Promise.all([ioredis(group, wire, deaf), nodeRedis(group, wire)])
  limiters = clients.map(({ client }, i) => createLimiter({ name: `limiter ${i}`, limit, store: redisStore(client) }))
})

afterAll(async () => {
  for (const { close } of clients) close()
  await wire?.stop()
  await deaf?.stop()
  await group?.stop()
})

/** Waits until all clients are served by Redis, or none is. */
function untilServed(isServed: boolean, withinMs?: number): Promise<void> {
  return until(
    `served by Redis: ${isServed}`,
    async () => {
      const decisions = await Promise.all(limiters.map((limiter) => limiter.peek('key')))
      return decisions.every(({ degraded }) => (degraded === undefined) === isServed)
    },
    withinMs,
  )
}

it('a connection that has gone silent is replaced, though the Sentinel sees nothing wrong', async () => {
  await untilServed(true)
  wire.silence()
  await untilServed(false)
  await untilServed(true, 10_000)
})

it('clients follow a failover from a primary that is frozen', async () => {
  await untilServed(true)
  group.primary.signal('SIGSTOP')
  await untilServed(false)
  await untilServed(true, 10_000)
  for (const limiter of limiters) expect((await limiter.tryAcquire('key')).degraded).toBeUndefined()
  expect(await onServer(group.replica.port, (redis) => redis.keys('*'))).toHaveLength(limiters.length)
})
