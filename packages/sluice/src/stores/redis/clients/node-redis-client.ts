import { nodeRedisConnections } from './node-redis-connections.js'
import type { ScriptRunner } from './script-runner.js'

interface EvalOptions {
  readonly keys: string[]
  readonly arguments: string[]
}

/** The part of a node-redis client, pool, sentinel or cluster that the store uses. */
export interface NodeRedisClient {
  evalSha(sha: string, options: EvalOptions): Promise<unknown>
  eval(script: string, options: EvalOptions): Promise<unknown>
  readonly options?: object
}

/**
 * Options for node-redis with which an outage is seen at once. It never sends a call twice.
 *
 * @example
 * ```ts
 * import { createClient } from 'redis'
 * import { nodeRedisOptions, redisStore } from 'sluice/redis'
 *
 * const client = createClient({ url: 'redis://localhost:6379', ...nodeRedisOptions })
 * client.on('error', console.error)
 * const store = redisStore(client)
 * await client.connect()
 * ```
 */
export const nodeRedisOptions = Object.freeze({ disableOfflineQueue: true })

/** Its own pings, and no longer silence than this: a Sentinel does not let the store drop its connections. */
const WATCHED = { pingInterval: 1_000, socket: Object.freeze({ socketTimeout: 2_000 }) }

/**
 * Options for a Sentinel of node-redis with which an outage is seen at once, a call is sent once, and a connection that
 * has gone silent is replaced within seconds.
 *
 * @example
 * ```ts
 * import { createSentinel } from 'redis'
 * import { nodeRedisSentinelOptions, redisStore } from 'sluice/redis'
 *
 * const sentinelRootNodes = [{ host: 'sentinel-1', port: 26_379 }]
 * const client = createSentinel({ name: 'limits', sentinelRootNodes, ...nodeRedisSentinelOptions })
 * client.on('error', console.error)
 * const store = redisStore(client)
 * await client.connect()
 * ```
 */
export const nodeRedisSentinelOptions = Object.freeze({
  maxCommandRediscovers: 0,
  nodeClientOptions: Object.freeze({
    ...nodeRedisOptions,
    ...WATCHED,
    // By default the client would not connect again after a time-out.
    socket: Object.freeze({
      ...WATCHED.socket,
      reconnectStrategy: (retries: number) => Math.min(50 * 2 ** retries, 1_000) + Math.random() * 200,
    }),
  }),
  sentinelClientOptions: Object.freeze(WATCHED),
})

export function isNodeRedis(client: object): client is NodeRedisClient {
  return typeof (client as NodeRedisClient).evalSha === 'function'
}

export function nodeRedisRunner(client: NodeRedisClient): ScriptRunner {
  const cluster = typeof (client as { getSlotRandomNode?: unknown }).getSlotRandomNode === 'function'
  const { _options: clusterOptions } = client as { _options?: { defaults?: object } }
  const queues = queuesOf(cluster ? clusterOptions && (clusterOptions.defaults ?? {}) : client.options)
  return {
    cluster,
    evalSha: (sha, keys, args) => client.evalSha(sha, { keys: [...keys], arguments: [...args] }),
    eval: (script, keys, args) => client.eval(script, { keys: [...keys], arguments: [...args] }),
    connections: (key) => nodeRedisConnections(client, cluster, key),
    unsafeOptions: queues ? ['disableOfflineQueue: true'] : [],
    safeOptions: cluster ? '{ defaults: nodeRedisOptions }' : 'nodeRedisOptions',
  }
}

/** Do the options, if they can be seen, make calls wait while there is no connection? */
function queuesOf(options: object | undefined): boolean {
  return options !== undefined && (options as { disableOfflineQueue?: boolean }).disableOfflineQueue !== true
}
