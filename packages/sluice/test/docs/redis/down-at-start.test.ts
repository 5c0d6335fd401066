import type { Redis } from 'ioredis'
import { createClient } from 'redis'
import { createLimiter, fixedWindow } from 'sluice'
import { nodeRedisOptions, type RedisStore, redisStore } from 'sluice/redis'
import { afterEach, expect, test, vi } from 'vitest'
import { freePort, startRedis } from '../../../../../scripts/redis-server.mjs'
import { runExamples } from '../page-examples.js'

interface Started {
  readonly client: Redis
  readonly store: RedisStore
  ready(): Promise<void>
}

const limit = fixedWindow({ quota: 2, window: '1h' })

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

test('docs/redis.md: a program starts while Redis is down, says that its answers are degraded, and uses Redis when it is up', async () => {
  const port = await freePort()
  vi.stubEnv('REDIS_URL', `redis://127.0.0.1:${port}`)
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  const [{ client, store, ready }] = await runExamples<Started>('redis.md', 'When Redis is down at the start')
  try {
    const limiter = createLimiter({ name: 'search', limit, store })
    for (let i = 0; i < 5; i++)
      expect(await limiter.tryAcquire('ada')).toMatchObject({ allowed: true, degraded: 'open' })
    await vi.waitFor(() => expect(logged).toHaveBeenCalled())
    const server = await startRedis({ port })
    try {
      await ready()
      await vi.waitFor(async () => expect((await limiter.peek('ada')).degraded).toBeUndefined(), { timeout: 10_000 })
      await limiter.reset('ada')
      const answers = [
        await limiter.tryAcquire('ada'),
        await limiter.tryAcquire('ada'),
        await limiter.tryAcquire('ada'),
      ]
      expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, false])
      await ready() // resolves at once
    } finally {
      await server.stop()
    }
  } finally {
    client.disconnect()
  }
})

test('connect() of node-redis waits while Redis is down, and decisions do not', async () => {
  const port = await freePort()
  const client = createClient({ url: `redis://127.0.0.1:${port}`, ...nodeRedisOptions })
  client.on('error', () => {})
  const limiter = createLimiter({ name: 'search', limit, store: redisStore(client) })
  const connecting = client.connect()
  try {
    expect(await limiter.tryAcquire('ada')).toMatchObject({ allowed: true, degraded: 'open' })
    const server = await startRedis({ port })
    try {
      await connecting
      await vi.waitFor(async () => expect((await limiter.peek('ada')).degraded).toBeUndefined(), { timeout: 10_000 })
    } finally {
      client.destroy()
      await server.stop()
    }
  } finally {
    if (client.isOpen) client.destroy()
  }
})
