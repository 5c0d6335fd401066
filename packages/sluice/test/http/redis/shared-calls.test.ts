import { once } from 'node:events'
import { Redis } from 'ioredis'
import { shapedFetch } from 'sluice/http'
import { ioredisOptions, redisStore } from 'sluice/redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis } from '../../../../../scripts/redis-server.mjs'
import { serve } from '../adapters/servers.js'

describe('two callers on one Redis', () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  const clients: Redis[] = []

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(async () => {
    for (const client of clients) client.disconnect()
    await redis?.stop()
  })

  const caller = async () => {
    const client = new Redis(redis.port, '127.0.0.1', { ...ioredisOptions })
    clients.push(client)
    await once(client, 'ready')
    const store = redisStore(client, { deadlineMs: 5_000 })
    return shapedFetch({ name: 'calls', drain: '20/s', capacity: 100, store })
  }

  it('call at one rate together, and do as they are told', async () => {
    let requests = 0
    const server = await serve((_request, response) => {
      requests++
      response.writeHead(requests === 1 ? 503 : 200).end('ok')
    })
    const callers = [await caller(), await caller()]
    const beganMs = performance.now()
    const calls = Array.from({ length: 20 }, (_, i) => callers[i % 2](server.origin))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    const tookMs = performance.now() - beganMs
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 200))
    expect(requests).toBe(21)
    // Twenty spaces of 50 ms, of which a timer may be early by one.
    expect(tookMs).toBeGreaterThan(950)
    await Promise.all(callers.map((each) => each.close()))
    await server.close()
  })
})
