import { createShaper, StoreUnavailableError } from 'sluice'
import { type RedisStore, redisStore } from 'sluice/redis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { connected, type TestClient } from '../../redis/faults-clients.js'
import { until } from '../../redis/faults-until.js'

const numbers = { name: 'bank', drain: '100/s', capacity: 200 } as const
const SPACING_MS = 10
const MICROSECOND_MS = 0.001

let server: RedisServer
let client: TestClient

beforeEach(async () => {
  server = await startRedis()
  client = await connected('ioredis', server.port)
})

afterEach(async () => {
  client?.close()
  await server?.stop()
})

async function killRedis(): Promise<void> {
  server.signal('SIGKILL')
  await server.stop()
}

/** The slots of so many callers that come at once. */
async function turns(shaper: ReturnType<typeof createShaper>, many: number): Promise<number[]> {
  const all = await Promise.all(Array.from({ length: many }, () => shaper.wait()))
  return all.map(({ atMs }) => atMs).sort((one, other) => one - other)
}

/** How many were answered without Redis. */
function degraded(store: RedisStore): number {
  return Object.values(store.stats().degraded).reduce((total, times) => total + times, 0)
}

function closest(slots: readonly number[]): number {
  return Math.min(...slots.slice(1).map((atMs, i) => atMs - slots[i]))
}

describe('a shaper whose Redis goes away', () => {
  it('leaves at the rate of its own process by default, and at that of all processes when Redis is back', async () => {
    const store = redisStore(client.client)
    const shaper = createShaper({ ...numbers, store })
    expect(closest(await turns(shaper, 20))).toBeGreaterThanOrEqual(SPACING_MS - MICROSECOND_MS)
    // These callers have their slots already, and keep them.
    const during = turns(shaper, 50)
    await until('they have slots', async () => store.stats().pending === 0)
    await killRedis()
    expect((await during).length).toBe(50)
    await shaper.wait()
    await until('no caller asks Redis any more', async () => {
      await shaper.wait()
      return store.stats().breaker === 'open'
    })
    const before = degraded(store)
    const startedMs = performance.now()
    expect(closest(await turns(shaper, 30))).toBeGreaterThanOrEqual(SPACING_MS - MICROSECOND_MS)
    expect(performance.now() - startedMs).toBeGreaterThan(28 * SPACING_MS)
    expect(degraded(store) - before).toBeGreaterThanOrEqual(30)

    server = await startRedis({ port: server.port })
    await until('Redis answers', async () => {
      await shaper.wait()
      return store.stats().breaker === 'closed'
    })
    const back = degraded(store)
    expect(closest(await turns(shaper, 20))).toBeGreaterThanOrEqual(SPACING_MS - MICROSECOND_MS)
    expect(degraded(store)).toBe(back)
    await shaper.close()
  })

  it("rejects with onFailure 'closed', and goes on when Redis is back", async () => {
    const store = redisStore(client.client)
    const shaper = createShaper({ ...numbers, store, onFailure: 'closed' })
    await turns(shaper, 5)
    await killRedis()
    const refused = await Promise.allSettled(Array.from({ length: 20 }, () => shaper.wait()))
    for (const each of refused) {
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'SLUICE_STORE_UNAVAILABLE' } })
    }
    await expect(shaper.run(() => 'done')).rejects.toThrow(StoreUnavailableError)
    expect(shaper.size).toBe(0)
    server = await startRedis({ port: server.port })
    await until('a caller leaves', () => shaper.wait().then(isSo, isNot))
    await shaper.close()
  })

  it("lets all callers leave at once with onFailure 'open', and spaces them again when Redis is back", async () => {
    const store = redisStore(client.client)
    const shaper = createShaper({ ...numbers, store, onFailure: 'open' })
    await turns(shaper, 5)
    await killRedis()
    await shaper.wait()
    const startedMs = performance.now()
    await turns(shaper, 100)
    expect(performance.now() - startedMs).toBeLessThan(100 * SPACING_MS)
    server = await startRedis({ port: server.port })
    await until('Redis answers', async () => {
      await shaper.wait()
      return store.stats().breaker === 'closed'
    })
    expect(closest(await turns(shaper, 20))).toBeGreaterThanOrEqual(SPACING_MS - MICROSECOND_MS)
    await shaper.close()
  })

  it('does not keep callers waiting for a Redis that stands still', async () => {
    const store = redisStore(client.client)
    const shaper = createShaper({ ...numbers, store })
    await turns(shaper, 5)
    server.signal('SIGSTOP')
    const startedMs = performance.now()
    await turns(shaper, 10)
    // The deadline of 50 ms, ten slots, and time for a busy machine.
    expect(performance.now() - startedMs).toBeLessThan(1_000)
    server.signal('SIGCONT')
    await until('Redis answers', async () => {
      await shaper.wait()
      return store.stats().breaker === 'closed'
    })
    await shaper.close()
  })
})

const isSo = () => true
const isNot = () => false
