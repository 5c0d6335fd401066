import { Cluster } from 'ioredis'
import { Cluster as IovalkeyCluster } from 'iovalkey'
import { createCluster } from 'redis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisCluster, startCluster } from '../../../../scripts/redis-cluster.mjs'
import { createLimiter, tokenBucket } from '../../src/index.js'
import { ioredisClusterOptions, nodeRedisOptions, type RedisClient, redisStore } from '../../src/stores/redis/index.js'
import type { TestClient } from './faults-clients.js'
import { until } from './faults-until.js'
import { SilentWire } from './silent-wire.js'

const limit = tokenBucket({ capacity: 10, refill: '1/h' })
const host = '127.0.0.1'
/** Enough that most lanes of each server have some. */
const KEYS = Array.from({ length: 300 }, (_, i) => `key ${i}`)

type Addresses = Record<string, { host: string; port: number }>

async function ioredis(Type: typeof Cluster | typeof IovalkeyCluster, natMap: Addresses): Promise<TestClient> {
  const client = new Type(Object.values(natMap), { ...ioredisClusterOptions, natMap, lazyConnect: true })
  client.on('error', () => {})
  await client.connect()
  return { client, close: () => client.disconnect() }
}

async function nodeRedis(nodeAddressMap: Addresses): Promise<TestClient> {
  // The client writes into these sockets' options.
  const rootNodes = Object.values(nodeAddressMap).map((socket) => ({ socket: { ...socket } }))
  const client = createCluster({ rootNodes, nodeAddressMap, defaults: nodeRedisOptions })
  client.on('error', () => {})
  await client.connect()
  return { client: client as unknown as RedisClient, close: () => client.destroy() }
}

const CLIENTS: Readonly<Record<string, (addresses: Addresses) => Promise<TestClient>>> = {
  ioredis: (addresses) => ioredis(Cluster, addresses),
  iovalkey: (addresses) => ioredis(IovalkeyCluster, addresses),
  'node-redis': nodeRedis,
}

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster()
})

afterAll(() => cluster?.stop())

it.concurrent.each(Object.keys(CLIENTS))(
  'a connection to one server of a cluster that has gone silent is replaced within seconds (%s)',
  async (name) => {
    const wires = await Promise.all(cluster.nodes.map(({ port }) => SilentWire.to(port)))
    const addresses = Object.fromEntries(
      cluster.nodes.map(({ port }, i) => [`${host}:${port}`, { host, port: wires[i].port }]),
    )
    const { client, close } = await CLIENTS[name](addresses)
    try {
      const store = redisStore(client, { prefix: `${name}:`, deadlineMs: 200 })
      const limiter = createLimiter({ name: 'a', limit, store })
      const served = async () => {
        const decisions = await Promise.all(KEYS.map((key) => limiter.peek(key)))
        return decisions.filter(({ degraded }) => degraded === undefined).length
      }
      await until('all servers answer', async () => (await served()) === KEYS.length)
      wires[0].silence()
      await until('one server does not answer', async () => (await served()) < 0.8 * KEYS.length)
      await until('all servers answer again', async () => (await served()) === KEYS.length, 10_000)
      // The other servers' connections were left alone.
      expect(store.stats()).toMatchObject({ breaker: 'closed', reconnects: 1 })
      // Three calls for each key of that server, and few probes, though it has a hundred lanes.
      expect(wires[0].scriptsLost).toBeLessThanOrEqual(KEYS.length + 250)
    } finally {
      close()
      await Promise.all(wires.map((wire) => wire.stop()))
    }
  },
)
