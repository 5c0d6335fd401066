import { shapedFetch } from 'sluice/http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve } from '../adapters/servers.js'
import { startRedisStores } from './redis-stores.js'

describe('two callers on one Redis', () => {
  let redis: Awaited<ReturnType<typeof startRedisStores>>
  beforeAll(async () => {
    redis = await startRedisStores()
  })
  afterAll(() => redis?.stop())

  const caller = async () => {
    const store = await redis.store()
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
