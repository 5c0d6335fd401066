import { Redis } from 'ioredis'
import type { Store } from 'sluice'
import { ioredisOptions, redisStore } from 'sluice/redis'
import { storeContract } from 'sluice/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { isLong } from '../property/arbitraries.js'
import { startInjected } from './injected-store.js'

describe('the Lua twin on an injected time', () => {
  let injected: Awaited<ReturnType<typeof startInjected>>

  beforeAll(async () => {
    injected = await startInjected()
  })

  afterAll(() => injected?.stop())

  for (const { name, run } of storeContract((clock) => injected.create(clock), { traces: isLong ? 1_000 : 300 }))
    test(name, run, 120_000)
})

describe('a store whose client has ended', () => {
  let server: RedisServer
  const clients = new Map<Store, Redis>()

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(async () => {
    for (const client of clients.values()) client.disconnect()
    await server?.stop()
  })

  const create = async () => {
    const client = new Redis(server.port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true })
    await client.connect()
    const store = redisStore(client, { prefix: `test-${clients.size}:`, deadlineMs: 10_000 })
    clients.set(store, client)
    return store
  }
  const fail = (store: Store) => clients.get(store)?.disconnect()
  for (const { name, run } of storeContract(create, { fail }).filter(({ name }) =>
    /the failures of the store/.test(name),
  ))
    test(name, run)
})
