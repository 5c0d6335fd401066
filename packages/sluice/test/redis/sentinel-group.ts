import { type RedisServer, startRedis, startSentinel } from '../../../../scripts/redis-server.mjs'
import { onServer } from './faults-clients.js'
import { until } from './faults-until.js'

export const GROUP_NAME = 'limits'

/** A primary, its replica, and a Sentinel that lets the replica take over. */
export interface SentinelGroup {
  readonly sentinel: RedisServer
  readonly primary: RedisServer
  readonly replica: RedisServer
  stop(): Promise<void>
}

/** Starts one, and waits until the Sentinel knows the replica. A primary is down after half a second of silence. */
export async function startSentinelGroup(): Promise<SentinelGroup> {
  const servers: RedisServer[] = []
  const stop = async () => void (await Promise.all(servers.map((server) => server.stop())))
  const started = async (starting: Promise<RedisServer>) => {
    const server = await starting
    servers.push(server)
    return server
  }
  try {
    const args = ['--repl-diskless-sync-delay', '0']
    const primary = await started(startRedis({ args }))
    const replica = await started(startRedis({ args: [...args, '--replicaof', '127.0.0.1', String(primary.port)] }))
    await until('the replica is a copy', () => isLinked(replica.port), 15_000)
    const sentinel = await started(
      startSentinel([
        `sentinel monitor ${GROUP_NAME} 127.0.0.1 ${primary.port} 1`,
        `sentinel down-after-milliseconds ${GROUP_NAME} 500`,
        `sentinel failover-timeout ${GROUP_NAME} 2000`,
      ]),
    )
    await until('the Sentinel knows the replica', () => knowsReplica(sentinel.port), 15_000)
    return { sentinel, primary, replica, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const isLinked = async (port: number) =>
  (await onServer(port, (redis) => redis.info('replication'))).includes('master_link_status:up')

const knowsReplica = (port: number) =>
  onServer(port, async (redis) => {
    const replicas = (await redis.call('SENTINEL', 'REPLICAS', GROUP_NAME)) as unknown[]
    // Until it has asked the replica itself, it would not choose it.
    return replicas.length > 0 && JSON.stringify(replicas).includes('"master-link-status","ok"')
  })
