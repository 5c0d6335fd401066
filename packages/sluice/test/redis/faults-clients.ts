import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { ioredisOptions, nodeRedisOptions, type RedisClient } from '../../src/stores/redis/index.js'

/** A client with the options that we document, and how to be rid of it. */
export interface TestClient {
  readonly client: RedisClient
  close(): void
}

export type ClientName = keyof typeof CLIENTS

const CLIENTS = {
  async ioredis(port: number): Promise<TestClient> {
    const client = new Redis(port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
    // Later errors reach the calls themselves.
    client.on('error', () => {})
    await client.connect()
    return { client, close: () => client.disconnect() }
  },
  async 'node-redis'(port: number): Promise<TestClient> {
    const client = createClient({ socket: { host: '127.0.0.1', port }, ...nodeRedisOptions })
    client.on('error', () => {})
    await client.connect()
    return { client: client as unknown as RedisClient, close: () => client.destroy() }
  },
}

export const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[]

/** A client that is connected. */
export function connected(name: ClientName, port: number): Promise<TestClient> {
  return CLIENTS[name](port)
}

/** Says something to a server over a connection of its own. */
export async function onServer<T>(port: number, run: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(port, '127.0.0.1')
  try {
    return await run(redis)
  } finally {
    redis.disconnect()
  }
}

/** How often a server has been asked to run a command, refusals included. */
export async function timesAsked(port: number, ...commands: readonly string[]): Promise<number> {
  const info = await onServer(port, (redis) => redis.info('commandstats'))
  let times = 0
  for (const [, command, calls, rejected] of info.matchAll(/^cmdstat_(\w+):calls=(\d+).*?rejected_calls=(\d+)/gm)) {
    if (commands.includes(command)) times += Number(calls) + Number(rejected)
  }
  return times
}
