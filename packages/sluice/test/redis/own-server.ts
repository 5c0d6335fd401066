import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { type RedisStore, redisStore } from '../../src/stores/redis/index.js'
import { connected, type TestClient } from './faults-clients.js'

/** What a test file has for itself from before its first test until after its last. */
export interface OwnServer {
  server: RedisServer
  /** Looks at what the store has written, over a connection of its own. */
  redis: Redis
  client: TestClient
  store: RedisStore
}

/** Starts a server with a store on it before the tests of a file, and stops it after them. */
export function ownServer(): OwnServer {
  const own = {} as OwnServer
  beforeAll(async () => {
    own.server = await startRedis()
    own.redis = new Redis(own.server.port)
    own.client = await connected('ioredis', own.server.port)
    own.store = redisStore(own.client.client, { deadlineMs: 10_000, onFailure: 'closed' })
  })
  afterAll(async () => {
    own.client?.close()
    own.redis?.disconnect()
    await own.server?.stop()
  })
  return own
}
