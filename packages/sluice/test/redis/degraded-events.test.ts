import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { createLimiter, tokenBucket } from '../../src/index.js'
import { type BreakerEvent, type DegradedEvent, redisStore } from '../../src/stores/redis/index.js'
import { downStore, unconnectedClient } from './faults-down.js'
import { until } from './faults-until.js'

const limit = tokenBucket({ capacity: 10, refill: '1/h' })
let degraded: DegradedEvent[] = []
let breaker: BreakerEvent[] = []
const onDegraded = (event: unknown) => degraded.push(event as DegradedEvent)
const onBreaker = (event: unknown) => breaker.push(event as BreakerEvent)

beforeEach(() => {
  degraded = []
  breaker = []
  subscribe('sluice:redis:degraded', onDegraded)
  subscribe('sluice:redis:breaker', onBreaker)
})

afterEach(() => {
  unsubscribe('sluice:redis:degraded', onDegraded)
  unsubscribe('sluice:redis:breaker', onBreaker)
})

it('each answer without Redis is published with its store, its reason and what went wrong', async () => {
  const store = downStore()
  const limiter = createLimiter({ name: 'a', limit, store })
  for (let i = 0; i < 5; i++) await limiter.tryAcquire('key')
  await limiter.reset('key').catch(() => {})
  expect(degraded.map(({ reason }) => reason)).toEqual(['error', 'error', 'error', 'breaker', 'breaker', 'breaker'])
  expect(degraded.every((event) => event.store === store)).toBe(true)
  expect(degraded[0].error).toBeInstanceOf(Error)
  expect(store.stats()).toMatchObject({ calls: 6, degraded: { error: 3, breaker: 3 } })
})

it('a breaker that opens is published once, and again when it closes', async () => {
  const { port, client, close } = await unconnectedClient()
  const store = redisStore(client, { deadlineMs: 5_000 })
  const limiter = createLimiter({ name: 'a', limit, store })
  for (let i = 0; i < 10; i++) await limiter.tryAcquire('key')
  expect(breaker).toEqual([{ store, state: 'open', error: expect.any(Error) }])
  const server = await startRedis({ port })
  try {
    await until('the breaker closes', () => breaker.length > 1)
    expect(breaker[1]).toEqual({ store, state: 'closed', error: undefined })
    expect((await limiter.tryAcquire('key')).degraded).toBeUndefined()
    expect(breaker).toHaveLength(2)
  } finally {
    close()
    await server.stop()
  }
})
