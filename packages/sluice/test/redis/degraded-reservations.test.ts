import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { createLimiter, tokenBucket } from '../../src/index.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { connected } from './faults-clients.js'
import { downStore, unconnectedClient } from './faults-down.js'
import { until } from './faults-until.js'

const limit = tokenBucket({ capacity: 10, refill: '1/d' })

it('a reservation that was made locally gives back locally', async () => {
  const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'local', instances: 2 }) })
  const first = await limiter.reserve('key', { cost: 5 })
  expect(first.decision).toMatchObject({ allowed: true, remaining: 0, degraded: 'local' })
  expect((await limiter.reserve('key')).decision.allowed).toBe(false)
  await first.settle(2)
  expect((await limiter.peek('key')).remaining).toBe(3)
  const second = await limiter.reserve('key', { cost: 3 })
  await second.cancel()
  await second.cancel()
  expect((await limiter.peek('key')).remaining).toBe(3)
})

it('a reservation that Redis knew nothing of gives nothing back to it', async () => {
  const { port, client, close } = await unconnectedClient()
  const store = redisStore(client, { deadlineMs: 5_000 })
  const open = createLimiter({ name: 'a', limit, store, onFailure: 'open' })
  const local = createLimiter({ name: 'a', limit, store, onFailure: 'local' })
  const reservations = [
    await open.reserve('key', { cost: 4 }),
    await open.reserve('key', { cost: 4 }),
    await local.reserve('key', { cost: 4 }),
    await local.reserve('key', { cost: 4 }),
  ]
  expect(reservations.map(({ decision }) => decision.degraded)).toEqual(['open', 'open', 'local', 'local'])
  const server = await startRedis({ port })
  try {
    await until('Redis answers', async () => (await open.peek('key')).degraded === undefined)
    expect((await open.tryAcquire('key', { cost: 7 })).remaining).toBe(3)
    await reservations[0].cancel()
    await reservations[1].settle(1)
    await reservations[2].cancel()
    await reservations[3].settle(1)
    expect(await open.peek('key')).toMatchObject({ remaining: 3 })
  } finally {
    close()
    await server.stop()
  }
})

it('a reservation that Redis made keeps its units when they cannot be given back', async () => {
  const server = await startRedis()
  const { client, close } = await connected('ioredis', server.port)
  const store = redisStore(client, { deadlineMs: 5_000, onFailure: 'local' })
  const limiter = createLimiter({ name: 'a', limit, store })
  try {
    const reservation = await limiter.reserve('key', { cost: 4 })
    expect(reservation.decision.degraded).toBeUndefined()
    await server.stop()
    await reservation.cancel()
    const whole = await limiter.peek('key')
    expect(whole).toMatchObject({ remaining: 10, degraded: 'local' })
  } finally {
    close()
    await server.stop()
  }
})
