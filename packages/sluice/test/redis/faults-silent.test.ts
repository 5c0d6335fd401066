import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { createLimiter, tokenBucket } from '../../src/index.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { CLIENT_NAMES, type ClientName, connected, timesAsked } from './faults-clients.js'
import { until } from './faults-until.js'
import { FaultyWire } from './faults-wire.js'
import { SilentWire } from './silent-wire.js'

const limit = tokenBucket({ capacity: 10, refill: '1/h' })

/** A limiter over a wire that can go silent, once Redis has answered. */
async function start(name: ClientName) {
  const server = await startRedis()
  const wire = await SilentWire.to(server.port)
  const { client, close } = await connected(name, wire.port)
  const store = redisStore(client)
  const limiter = createLimiter({ name: 'a', limit, store })
  const isServed = async () => (await limiter.peek('key')).degraded === undefined
  await until('Redis answers', isServed)
  return {
    wire,
    store,
    limiter,
    isServed,
    async stop() {
      close()
      await wire.stop()
      await server.stop()
    },
  }
}

it.concurrent.each(CLIENT_NAMES)('a connection that has gone silent is replaced within seconds (%s)', async (name) => {
  const { wire, store, limiter, isServed, stop } = await start(name)
  try {
    await limiter.tryAcquire('key', { cost: 4 })
    const before = wire.connections
    wire.silence()
    await until('answers without Redis', async () => !(await isServed()))
    await until('Redis answers again', isServed, 10_000)
    expect((await limiter.peek('key')).remaining).toBe(6)
    expect(wire.connections).toBe(before + 1)
    expect(store.stats()).toMatchObject({ breaker: 'closed', reconnects: 1 })
  } finally {
    await stop()
  }
})

it.concurrent.each(CLIENT_NAMES)(
  'a long black hole sees few connections and few probes, and is over within 5 s of its end (%s)',
  async (name) => {
    const { wire, store, isServed, stop } = await start(name)
    try {
      wire.beginBlackHole()
      await until('the breaker opens', async () => !(await isServed()) && store.stats().breaker === 'open')
      const startedMs = performance.now()
      const before = wire.connections
      await until('the client has tried again and again', () => wire.connections === before + 3, 20_000)
      expect(performance.now() - startedMs).toBeGreaterThan(3_000)
      // Only the first connection was ever ready for any.
      expect(wire.scriptsLost).toBeLessThanOrEqual(20)
      wire.endBlackHole()
      await until('Redis answers again', isServed, 5_000)
      expect(store.stats().breaker).toBe('closed')
    } finally {
      await stop()
    }
  },
)

it.concurrent.each(CLIENT_NAMES)('a connection on which replies come late is not dropped (%s)', async (name) => {
  const server = await startRedis()
  const wire = await FaultyWire.to(server.port)
  const { client, close } = await connected(name, wire.port)
  try {
    const store = redisStore(client)
    const limiter = createLimiter({ name: 'a', limit, store })
    await until('Redis answers', async () => (await limiter.peek('key')).degraded === undefined)
    wire.delayMs = 400
    await until('the breaker opens', async () => {
      await limiter.peek('key')
      return store.stats().breaker === 'open'
    })
    const startedMs = performance.now()
    const asked = await timesAsked(server.port, 'evalsha')
    await until('many probes were late', async () => (await timesAsked(server.port, 'evalsha')) >= asked + 20, 20_000)
    // That is longer than a silence may last.
    expect(performance.now() - startedMs).toBeGreaterThan(1_500)
    expect(store.stats()).toMatchObject({ breaker: 'open', reconnects: 0 })
    wire.delayMs = 0
    await until('a probe closes the breaker', () => store.stats().breaker === 'closed')
  } finally {
    close()
    await wire.stop()
    await server.stop()
  }
})
