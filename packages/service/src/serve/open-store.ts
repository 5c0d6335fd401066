import { setTimeout as later } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { type AsyncStore, InvalidValueError, memoryStore, type OnFailure, type SyncStore } from 'sluice'
import { leasedStore } from 'sluice/leased'
import { ioredisClusterOptions, ioredisOptions, redisStore } from 'sluice/redis'

/** Where states are kept, from the option `--store`. */
export interface OpenedStore {
  readonly store: SyncStore | AsyncStore
  /** Where idempotency keys of refunds are claimed. */
  readonly claims: SyncStore | AsyncStore
  /** The store as a person is told: without user and password. */
  readonly shown: string
  /**
   * Resolves when the store can be asked, or after a second without a connection. A service that listened before would let
   * its first requests pass by the rule `open` at each start, however empty their limits are.
   */
  connected(): Promise<void>
  /** Gives leases back, then ends its connections. Never rejects. */
  close(): Promise<void>
}

/** How a Redis store behaves. */
export interface RedisSettings {
  readonly prefix?: string | undefined
  readonly onFailure?: OnFailure | undefined
  readonly instances?: number | undefined
  readonly deadlineMs?: number | undefined
  /** Takes units of busy keys on lease. */
  readonly lease?: boolean | undefined
  readonly leaseMs?: number | undefined
}

/** Hears how the connection of a store is. */
export interface StoreListener {
  failed(error: Error): void
  answers(): void
}

const FORMS =
  'memory, redis://host:6379, rediss://host:6379 or redis-cluster://host:6379,host:6380 (rediss-cluster:// with TLS)'

/** Opens a store. Returns the reason as a text if the option has no valid form. Does not wait for a connection. */
export function openStore(text: string, settings: RedisSettings, listener: StoreListener): OpenedStore | string {
  if (text === 'memory') return openMemory()
  const match = /^(redis|rediss)(-cluster)?:\/\/(.+)$/.exec(text)
  if (match === null) return `the store must be ${FORMS}, got '${withoutPassword(text)}'`
  const [, scheme, isCluster, rest] = match
  const urls = (isCluster === undefined ? [rest] : rest.split(',')).map((each) => `${scheme}://${each}`)
  const wrong = urls.find((url) => !URL.canParse(url) || new URL(url).hostname === '')
  if (wrong !== undefined) return `the store must be ${FORMS}, got '${withoutPassword(text)}'`
  const client = isCluster === undefined ? new Redis(urls[0], ioredisOptions) : clusterOf(urls)
  client.on('error', (error) => listener.failed(error))
  client.on('ready', () => listener.answers())
  const { prefix, onFailure, instances, deadlineMs, lease, leaseMs } = settings
  try {
    const redis = redisStore(client, definedOnly({ prefix, onFailure, instances, deadlineMs }))
    const leased = lease === true ? leasedStore(redis, definedOnly({ leaseMs })) : undefined
    const close = async () => {
      // Units that are not given back are missing elsewhere until their leases end, so Redis gets some time to take them.
      await Promise.race([leased?.close(), later(LONGEST_GIVE_BACK_MS, undefined, { ref: false })])
      redis.close()
      client.disconnect()
    }
    const store = leased ?? redis
    return { store, claims: store, shown: withoutPassword(text), connected: () => connected(client), close }
  } catch (error) {
    client.disconnect()
    if (error instanceof InvalidValueError) return error.message
    throw error
  }
}

/**
 * A process keeps a bounded number of reservations for each store. So claims have a store of their own: keys of refunds, which
 * are kept for an hour, take no room from reservations.
 */
function openMemory(): OpenedStore {
  const nothing = async () => {}
  return { store: memoryStore(), claims: memoryStore(), shown: 'memory', connected: nothing, close: nothing }
}

/** How long a close waits for Redis to take leases back. */
const LONGEST_GIVE_BACK_MS = 500

/** How long a start waits for Redis. */
const LONGEST_CONNECT_MS = 1_000

function connected(client: Redis | Cluster): Promise<void> {
  if (client.status === 'ready') return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      client.off('ready', done)
      resolve()
    }
    const timer = setTimeout(done, LONGEST_CONNECT_MS)
    client.once('ready', done)
  })
}

function clusterOf(urls: readonly string[]): Cluster {
  const { username, password, protocol } = new URL(urls[0])
  const nodes = urls.map((url) => {
    const { hostname, port } = new URL(url)
    return { host: hostname, port: Number(port) || 6379 }
  })
  return new Cluster(nodes, {
    ...ioredisClusterOptions,
    redisOptions: {
      ...ioredisClusterOptions.redisOptions,
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' && { tls: {} }),
    },
  })
}

function withoutPassword(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//').slice(0, 200)
}

function definedOnly<T extends object>(settings: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as never
}
