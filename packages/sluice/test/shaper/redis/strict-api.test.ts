import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type SoakOptions, soak } from '../../../../../bench/soak/soak.mjs'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'

const API = fileURLToPath(new URL('../../../../../bench/soak/strict-api.mjs', import.meta.url))

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(async () => {
  await server?.stop()
})

/** If the API itself is held up, requests look like a crowd to it. A run in which that took longer than this is repeated. */
const MOST_HELD_UP_MS = 25
const TRIES = 3

/** Some seconds of `npm run soak`, as seen by an API that was not held up. */
async function seen(load: Pick<SoakOptions, 'callers' | 'perSecond' | 'allowed'>, ms = 5_000) {
  for (let i = 1; ; i++) {
    const found = await soak({ redisPort: server.port, ...load, ms })
    if (found.heldUpMs <= MOST_HELD_UP_MS || i === TRIES) return found
  }
}

it('four processes with a spiky load use the rate of a strict API, and are not banned', async () => {
  const found = await seen({ callers: 4, perSecond: 100 })
  expect(found).toMatchObject({ bans: 0, refused: 0, failed: 0, degraded: 0, arrivals: found.calls })
  expect(found.mostInASecond).toBeLessThanOrEqual(105)
  expect(found.share).toBeGreaterThan(0.95)
})

it('two processes at 8 a second are not banned by an API that allows 10 in any second, as docs/outbound.md says', async () => {
  const found = await seen({ callers: 2, perSecond: 8, allowed: 10 }, 3_000)
  expect(found).toMatchObject({ bans: 0, refused: 0, failed: 0, degraded: 0, arrivals: found.calls })
})

it('the strict API bans a client for good that sends one request too many in a second', async () => {
  const api = fork(API, [JSON.stringify({ mostInASecond: 10 })])
  try {
    const [{ port }] = await once(api, 'message')
    const statuses = []
    for (let i = 0; i < 13; i++) statuses.push((await fetch(`http://127.0.0.1:${port}/call`)).status)
    expect(statuses).toEqual([...Array(10).fill(200), 403, 403, 403])
    api.send('report')
    const [counts] = await once(api, 'message')
    expect(counts).toMatchObject({ arrivals: 13, mostInASecond: 13, bans: 1, refused: 3 })
  } finally {
    api.kill('SIGKILL')
  }
})
