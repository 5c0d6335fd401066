import type { Connection, ScriptRunner } from './script-runner.js'

/** The part of an ioredis or iovalkey client, or of a Cluster of either, that the store uses. */
export interface IoredisClient {
  evalsha(sha: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>
  readonly isCluster?: boolean
  readonly options?: object
}

/** Options with which a call is sent once or not at all. */
const SAFE_NODE_OPTIONS = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false }
const SAFE_OPTIONS = { enableOfflineQueue: false, ...SAFE_NODE_OPTIONS }

/** A server that does not even accept a connection gets another attempt after so long. */
const CONNECT_TIMEOUT_MS = 5_000

/**
 * Options for ioredis and iovalkey with which a call is sent once or not at all, an outage is seen at once, and a Redis
 * that is back is connected to within seconds: the client tries at least every 1.2 s, and a Sentinel that does not answer
 * within a second is passed over.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { ioredisOptions, redisStore } from 'sluice/redis'
 *
 * const client = new Redis('redis://localhost:6379', ioredisOptions)
 * client.on('error', console.error)
 * const store = redisStore(client)
 * ```
 */
export const ioredisOptions = Object.freeze({
  ...SAFE_OPTIONS,
  connectTimeout: CONNECT_TIMEOUT_MS,
  retryStrategy: (attempt: number) => Math.min(50 * 2 ** (attempt - 1), 1_000) + Math.random() * 200,
  sentinelCommandTimeout: 1_000,
})

/**
 * The same for a Cluster of ioredis or iovalkey. Its servers are connected to at once and not at the first call; a ready
 * check would then fail whenever it meets a server that is still connecting.
 */
export const ioredisClusterOptions = Object.freeze({
  enableOfflineQueue: false,
  enableReadyCheck: false,
  retryDelayOnFailover: 0,
  redisOptions: Object.freeze({ ...SAFE_NODE_OPTIONS, connectTimeout: CONNECT_TIMEOUT_MS, lazyConnect: false }),
})

export function isIoredis(client: object): client is IoredisClient {
  return typeof (client as IoredisClient).evalsha === 'function' && typeof (client as IoredisClient).eval === 'function'
}

export function ioredisRunner(client: IoredisClient): ScriptRunner {
  return {
    cluster: client.isCluster === true,
    evalSha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
    eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
    connections: () => connections(client),
    unsafeOptions: unsafeOptions(client),
    safeOptions: client.isCluster === true ? 'ioredisClusterOptions' : 'ioredisOptions',
  }
}

function unsafeOptions({ isCluster, options }: IoredisClient): readonly string[] {
  if (options === undefined) return []
  return isCluster === true
    ? [
        ...differing(options, { enableOfflineQueue: false, retryDelayOnFailover: 0 }),
        ...differing((options as { redisOptions?: object }).redisOptions ?? {}, SAFE_NODE_OPTIONS).map(
          (option) => `redisOptions.${option}`,
        ),
      ]
    : differing(options, SAFE_OPTIONS)
}

function differing(options: object, safe: object): readonly string[] {
  return Object.entries(safe)
    .filter(([name, value]) => (options as Record<string, unknown>)[name] !== value)
    .map(([name, value]) => `${name}: ${value}`)
}

/** The fields of a client, or of a cluster's client for one server, that show its connection. */
interface Node {
  readonly status?: string
  readonly manuallyClosing?: boolean
  readonly commandQueue?: { readonly length: number }
  readonly stream?: { readonly destroyed: boolean; readonly bytesRead?: number; destroy(): unknown }
}

interface Reconnecting {
  readonly retryStrategy?: unknown
  readonly clusterRetryStrategy?: unknown
}

/** The connections on which a call waits for a reply. */
function connections(client: IoredisClient): readonly Connection[] {
  const { retryStrategy, clusterRetryStrategy } = (client.options ?? {}) as Reconnecting
  // A client that does not connect again keeps its connections: a server that was only slow would be lost for good.
  if (typeof (client.isCluster ? clusterRetryStrategy : retryStrategy) !== 'function') return []
  // A cluster connects to a server again as soon as another sends it there.
  const nodes = client.isCluster ? (client as { nodes?(): readonly Node[] }).nodes?.() : [client as Node]
  return (nodes ?? []).flatMap(connectionOf)
}

function connectionOf({ status, manuallyClosing, commandQueue, stream }: Node): readonly Connection[] {
  const isOpen = (status === 'ready' || status === 'connect') && manuallyClosing !== true
  if (!isOpen || stream === undefined || stream.destroyed || !commandQueue?.length) return []
  return [
    {
      id: stream,
      isReady: status === 'ready',
      bytesRead: stream.bytesRead ?? 0,
      // Not `disconnect(true)`, which waits for the server to hang up.
      drop: () => stream.destroy(),
    },
  ]
}
