import type { RedisServer } from './redis-server.mjs'

export interface RedisClusterNode extends RedisServer {
  /** Its name among the others. */
  readonly id: string
  /** Runs a command on this server and gives what redis-cli prints. */
  command(...args: string[]): Promise<string>
}

/** A Redis Cluster of one's own. */
export interface RedisCluster {
  readonly nodes: readonly RedisClusterNode[]
  stop(): Promise<void>
}

export function startCluster(): Promise<RedisCluster>
