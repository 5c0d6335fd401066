import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { concurrency, createLimiter } from '../../src/index.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { connected } from './faults-clients.js'
import { downStore, unconnectedClient } from './faults-down.js'
import { until } from './faults-until.js'

const limit = concurrency({ max: 4, ttl: '1m' })

it('an open store grants every lease, and says when it would end', async () => {
  const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'open' }) })
  const before = Date.now()
  const lease = await limiter.lease('key')
  expect(lease).toMatchObject({ allowed: true, decision: { degraded: 'open' } })
  expect(lease.endsAtMs).toBeGreaterThan(before + 59_000)
  expect(lease.endsAtMs).toBeLessThan(Date.now() + 61_000)
  expect(await lease.extend()).toBe(true)
  await lease.release()
  expect(await lease.extend()).toBe(false)
})

it('a closed store grants no lease', async () => {
  const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'closed' }) })
  expect(await limiter.lease('key')).toMatchObject({ allowed: false, endsAtMs: undefined })
})

it('a local lease is one of a share, and is given back there', async () => {
  const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'local', instances: 4 }) })
  const lease = await limiter.lease('key')
  expect((await limiter.lease('key')).allowed).toBe(false)
  expect(await lease.extend()).toBe(true)
  await lease.release()
  expect((await limiter.lease('key')).allowed).toBe(true)
})

it('a lease that Redis knew nothing of gives nothing back to it', async () => {
  const { port, client, close } = await unconnectedClient()
  const store = redisStore(client, { deadlineMs: 5_000 })
  const limiter = createLimiter({ name: 'a', limit, store, onFailure: 'open' })
  const lease = await limiter.lease('key')
  expect(lease.decision.degraded).toBe('open')
  const server = await startRedis({ port })
  try {
    await until('Redis answers', async () => (await limiter.peek('key')).degraded === undefined)
    await limiter.lease('key')
    await lease.release()
    expect((await limiter.peek('key')).remaining).toBe(3)
  } finally {
    close()
    await server.stop()
  }
})

it('a lease that Redis gave is lost when a closed store cannot extend it', async () => {
  const server = await startRedis()
  const { client, close } = await connected('ioredis', server.port)
  const limiter = createLimiter({
    name: 'a',
    limit,
    store: redisStore(client, { deadlineMs: 5_000, onFailure: 'closed' }),
  })
  try {
    const lease = await limiter.lease('key')
    expect(lease.decision.degraded).toBeUndefined()
    await server.stop()
    expect(await lease.extend()).toBe(false)
    await lease.release()
  } finally {
    close()
    await server.stop()
  }
})
