import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { createLimiter, tokenBucket } from '../../src/index.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { CLIENT_NAMES, connected, timesAsked } from './faults-clients.js'
import { until } from './faults-until.js'
import { FaultyWire } from './faults-wire.js'

const limit = tokenBucket({ capacity: 10, refill: '1/h' })

/** Counts turns of the event loop. */
class Turns {
  #count = 0
  #next = setImmediate(() => this.#turn())

  #turn(): void {
    this.#count++
    this.#next = setImmediate(() => this.#turn())
  }

  end(): number {
    clearImmediate(this.#next)
    return this.#count
  }
}

it.each(CLIENT_NAMES)('an outage costs a few deadlines, and then nothing until Redis is back (%s)', async (name) => {
  const server = await startRedis()
  const { client, close } = await connected(name, server.port)
  try {
    const store = redisStore(client, { deadlineMs: 50 })
    const limiter = createLimiter({ name: 'a', limit, store })
    await until('Redis answers', async () => (await limiter.peek('key')).degraded === undefined)
    server.signal('SIGSTOP')
    for (let i = 0; i < 3; i++) expect((await limiter.peek('key')).degraded).toBe('open')
    expect(store.stats()).toMatchObject({ breaker: 'open', degraded: { deadline: 3 } })

    const { batches } = store.stats()
    for (let i = 0; i < 200; i++) {
      const turns = new Turns()
      expect((await limiter.peek('key')).degraded).toBe('open')
      // No answer waits for a timer or for another call.
      expect(turns.end()).toBeLessThanOrEqual(2)
    }
    expect(store.stats()).toMatchObject({ batches, breaker: 'open', degraded: { breaker: 200 } })

    server.signal('SIGCONT')
    await until('a probe closes the breaker', () => store.stats().breaker === 'closed')
    expect((await limiter.peek('key')).degraded).toBeUndefined()
  } finally {
    close()
    await server.stop()
  }
})

it('probes take nothing', async () => {
  const server = await startRedis()
  const { client, close } = await connected('ioredis', server.port)
  try {
    const store = redisStore(client, { deadlineMs: 50 })
    const limiter = createLimiter({ name: 'a', limit, store })
    await limiter.tryAcquire('key', { cost: 4 })
    server.signal('SIGSTOP')
    for (let i = 0; i < 3; i++) await limiter.peek('key')
    server.signal('SIGCONT')
    await until('a probe closes the breaker', () => store.stats().breaker === 'closed')
    expect((await limiter.peek('key')).remaining).toBe(6)
    expect(await timesAsked(server.port, 'evalsha', 'eval')).toBeGreaterThan(store.stats().batches)
  } finally {
    close()
    await server.stop()
  }
})

it.each(CLIENT_NAMES)('a Redis that always answers too late counts as an outage (%s)', async (name) => {
  const server = await startRedis()
  const wire = await FaultyWire.to(server.port)
  const { client, close } = await connected(name, wire.port)
  try {
    const store = redisStore(client, { deadlineMs: 30 })
    const limiter = createLimiter({ name: 'a', limit, store })
    await until('Redis answers', async () => (await limiter.peek('key')).degraded === undefined)
    wire.delayMs = 45
    for (let i = 0; i < 20 && store.stats().breaker === 'closed'; i++) await limiter.peek('key')
    expect(store.stats().breaker).toBe('open')
    wire.delayMs = 0
    await until('a probe closes the breaker', () => store.stats().breaker === 'closed')
  } finally {
    close()
    await wire.stop()
    await server.stop()
  }
})
