import { once } from 'node:events'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { fixedWindow, slidingLog, tokenBucket } from '../../src/limits/index.js'
import { ioredisOptions, redisStore } from '../../src/stores/redis/index.js'
import { runFleet } from './fleet-processes.js'

const CAPACITY = 500
const REFILL = 2_000
const bucket = { name: 'bucket', limit: tokenBucket({ capacity: CAPACITY, refill: `${REFILL}/s` }) }

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = new Redis(server.port, ioredisOptions)
  await once(client, 'ready')
})

afterAll(async () => {
  client?.disconnect()
  await server?.stop()
})

/** If the machine itself is held up until the bucket is full, units are lost. A run to which that happens is repeated. */
const TRIES = 3

/** Runs the fleet on an empty Redis. Every run keeps the limit, and one of them uses all of it. */
async function run(limits: Parameters<typeof runFleet>[1]) {
  for (let i = 1; ; i++) {
    await client.flushall()
    const found = await runFleet(server.port, limits)
    const allowed = CAPACITY + REFILL * found.seconds
    expect(found.degraded).toBe(0)
    expect(found.admittedInTime).toBeLessThanOrEqual(allowed)
    if (found.admittedInTime >= 0.995 * allowed) return found
    expect(i, `${found.admittedInTime} of ${allowed}`).toBeLessThan(TRIES)
  }
}

it('four processes together are given what one limit allows, all of it and never more', async () => {
  const { admittedInTime, asked } = await run([bucket])
  expect(asked).toBeGreaterThan(2 * admittedInTime)
})

it('four processes together are given what a group of three limits allows, and all three count the same', async () => {
  const day = { name: 'day', limit: fixedWindow({ quota: 1_000_000, window: '1000d' }) }
  const hour = { name: 'hour', limit: slidingLog({ quota: 100_000, window: '100d' }) }
  const { admitted, firstTakenUs } = await run([bucket, day, hour])
  const store = redisStore(client, { deadlineMs: 10_000 })
  const peek = [bucket, day, hour].map((each) => ({ ...each, key: 'everyone', cost: 0 }))
  const { decisions, takenUs } = await store.decide(peek)
  // Never whole since the first took, the bucket has gained every microsecond.
  const gained = (REFILL * (takenUs[0] - firstTakenUs)) / 1e6
  expect(decisions.map(({ remaining }) => remaining)).toEqual([
    Math.min(CAPACITY, Math.floor(CAPACITY + gained - admitted)),
    1_000_000 - admitted,
    100_000 - admitted,
  ])
})
