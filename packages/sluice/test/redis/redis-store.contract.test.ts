import { Redis } from 'ioredis'
import { microseconds } from 'sluice/limits'
import { type ManualClock, storeContract } from 'sluice/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { ioredisRunner } from '../../src/stores/redis/clients/ioredis.js'
import { RedisStore } from '../../src/stores/redis/redis-store.js'
import { injectedTime } from '../../src/stores/redis/time-source.js'

describe('the Lua twin on an injected time', () => {
  let server: RedisServer
  let client: Redis
  let stores = 0

  beforeAll(async () => {
    server = await startRedis()
    client = new Redis(server.port)
  })

  afterAll(async () => {
    client?.disconnect()
    await server?.stop()
  })

  // Every store has a prefix of its own, so that each finds Redis empty.
  const create = (clock: ManualClock) =>
    new RedisStore(
      ioredisRunner(client),
      { prefix: `test-${++stores}:`, deadlineMs: 60_000 },
      injectedTime(() => microseconds(clock.now())),
    )

  for (const { name, run } of storeContract(create, { traces: 1_000 })) test(name, run, 120_000)
})
