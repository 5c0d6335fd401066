import { afterAll, beforeAll, expect, it } from 'vitest'
import { soak } from '../../../../../bench/soak/soak.mjs'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(async () => {
  await server?.stop()
})

// A minute of it is `npm run soak`. Requests that left in time may still arrive together on a machine that is busy with
// other things, so one good run of three is enough here.
it('two processes with a spiky load use what a strict API gives, and are not banned', { retry: 2 }, async () => {
  const found = await soak({ redisPort: server.port, callers: 2, perSecond: 100, ms: 5_000 })
  expect(found).toMatchObject({ bans: 0, refused: 0, failed: 0, degraded: 0, arrivals: found.calls })
  expect(found.mostInASecond).toBeLessThanOrEqual(105)
  expect(found.share).toBeGreaterThan(0.95)
})
