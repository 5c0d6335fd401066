import { GlideClusterClient, Logger } from '@valkey/valkey-glide'
import { Cluster } from 'ioredis'
import { Cluster as IovalkeyCluster } from 'iovalkey'
import { createCluster } from 'redis'
import { vi } from 'vitest'
import type { RedisCluster } from '../../../../scripts/redis-cluster.mjs'
import type { RedisClient } from '../../src/stores/redis/clients/runner-of.js'
import { ioredisClusterOptions, nodeRedisOptions } from '../../src/stores/redis/index.js'

// Or it would tell of every redirection.
Logger.setLoggerConfig('off')

/** A client that knows all of a cluster. */
export interface ClusterClient {
  readonly client: RedisClient
  close(): unknown
}

const addressesOf = ({ nodes }: RedisCluster) => nodes.map(({ port }) => ({ host: '127.0.0.1', port }))

async function ioredis(Type: typeof Cluster | typeof IovalkeyCluster, cluster: RedisCluster) {
  const client = new Type(addressesOf(cluster), { ...ioredisClusterOptions, lazyConnect: true })
  client.on('error', () => {})
  await client.connect()
  const isReady = ({ status }: { status: string }) => status === 'ready'
  await vi.waitUntil(() => client.nodes('master').filter(isReady).length === cluster.nodes.length, { timeout: 10_000 })
  return { client, close: () => client.disconnect() }
}

async function nodeRedis(cluster: RedisCluster) {
  const rootNodes = cluster.nodes.map(({ url }) => ({ url }))
  const client = createCluster({ rootNodes, defaults: { ...nodeRedisOptions } })
  client.on('error', () => {})
  await client.connect()
  return { client, close: () => client.destroy() }
}

async function glide(cluster: RedisCluster) {
  const client = await GlideClusterClient.createClient({ addresses: addressesOf(cluster), requestTimeout: 5_000 })
  return { client, close: () => client.close() }
}

/** The cluster clients of every package, with the options that Sluice wants. */
export const CLUSTER_CLIENTS: Readonly<Record<string, (cluster: RedisCluster) => Promise<ClusterClient>>> = {
  ioredis: (cluster) => ioredis(Cluster, cluster),
  iovalkey: (cluster) => ioredis(IovalkeyCluster, cluster),
  'node-redis': nodeRedis,
  'valkey-glide': glide,
}
