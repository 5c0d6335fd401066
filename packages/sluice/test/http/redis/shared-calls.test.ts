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

  it('call at one rate together', async () => {
    let requests = 0
    const server = await serve((_request, response) => {
      requests++
      response.end('ok')
    })
    const callers = [await caller(), await caller()]
    const beganMs = performance.now()
    const calls = Array.from({ length: 20 }, (_, i) => callers[i % 2](server.origin))
    const statuses = (await Promise.all(calls)).map(({ status }) => status)
    const tookMs = performance.now() - beganMs
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 200))
    expect(requests).toBe(20)
    // Nineteen gaps of 50 ms. A timer may be early by one gap.
    expect(tookMs).toBeGreaterThan(900)
    await Promise.all(callers.map((each) => each.close()))
    await server.close()
  })

  it('obey the server, each for itself', async () => {
    const seen: { readonly path: string | undefined; readonly atMs: number }[] = []
    const server = await serve((request, response) => {
      seen.push({ path: request.url, atMs: performance.now() })
      if (seen.length === 1) response.writeHead(503, { 'Retry-After': '2' })
      response.end('ok')
    })
    const [told, other] = [await caller(), await caller()]
    const refused = told(`${server.origin}/told`)
    // Once its request was seen, only a refusal makes it wait.
    const isRefused = () => seen.length === 1 && told.size === 1
    await expect.poll(isRefused, { interval: 5, timeout: 10_000 }).toBe(true)
    const calls = [1, 2, 3].flatMap(() => [told(`${server.origin}/told`), other(`${server.origin}/other`)])
    const statuses = (await Promise.all([refused, ...calls])).map(({ status }) => status)
    expect(statuses).toEqual(Array.from({ length: 7 }, () => 200))
    const timesOf = (path: string) => seen.filter((each) => each.path === path).map(({ atMs }) => atMs)
    const [first, ...after] = timesOf('/told')
    const others = timesOf('/other')
    expect([after.length, others.length]).toEqual([4, 3])
    // A timer may be early by a little.
    expect(after[0] - first).toBeGreaterThan(1_950)
    expect(others[0]).toBeLessThan(after[0])
    await Promise.all([told.close(), other.close()])
    await server.close()
  })
})
