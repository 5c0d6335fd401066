import type { ScriptRunner } from './runner.js'

/** What is used of an ioredis or iovalkey client, or of a Cluster of either. */
export interface IoredisClient {
  evalsha(sha: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>
  readonly isCluster?: boolean
  readonly options?: object
}

/**
 * Options for ioredis and iovalkey with which a call is sent once or not at all, and an outage is seen at once.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { ioredisOptions, redisStore } from 'sluice/redis'
 *
 * const store = redisStore(new Redis('redis://localhost:6379', { ...ioredisOptions, lazyConnect: true }))
 * ```
 */
export const ioredisOptions = Object.freeze({
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
})

const SAFE_NODE_OPTIONS = { maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false }

/**
 * The same for a Cluster of ioredis or iovalkey. Its servers are connected to at once and not at the first call; a ready
 * check would then fail whenever it meets a server that is still connecting.
 */
export const ioredisClusterOptions = Object.freeze({
  enableOfflineQueue: false,
  enableReadyCheck: false,
  retryDelayOnFailover: 0,
  redisOptions: Object.freeze({ ...SAFE_NODE_OPTIONS, lazyConnect: false }),
})

export function isIoredis(client: object): client is IoredisClient {
  return typeof (client as IoredisClient).evalsha === 'function' && typeof (client as IoredisClient).eval === 'function'
}

export function ioredisRunner(client: IoredisClient): ScriptRunner {
  return {
    cluster: client.isCluster === true,
    evalSha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
    eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
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
    : differing(options, ioredisOptions)
}

function differing(options: object, safe: object): readonly string[] {
  return Object.entries(safe)
    .filter(([name, value]) => (options as Record<string, unknown>)[name] !== value)
    .map(([name, value]) => `${name}: ${value}`)
}
