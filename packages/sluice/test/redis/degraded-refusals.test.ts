import { expect, it } from 'vitest'
import { startRedis } from '../../../../scripts/redis-server.mjs'
import { createLimiter, StoreUnavailableError, tokenBucket } from '../../src/index.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { connected } from './faults-clients.js'
import { downStore } from './faults-down.js'

const limit = tokenBucket({ capacity: 10, refill: '1/h' })

it.each(['open', 'closed', 'local'] as const)(
  'a reset or a block that Redis does not hear of is an error, whatever the rule (%s)',
  async (onFailure) => {
    const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure }) })
    for (const refused of [limiter.reset('key'), limiter.block('key', { duration: '1m' })]) {
      await expect(refused).rejects.toBeInstanceOf(StoreUnavailableError)
      await expect(refused).rejects.toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE' })
    }
  },
)

it('an error tells what went wrong, and still does when Redis is not asked any more', async () => {
  const store = downStore()
  const limiter = createLimiter({ name: 'a', limit, store })
  await expect(limiter.reset('key')).rejects.toMatchObject({ cause: expect.any(Error) })
  for (let i = 0; i < 3; i++) await limiter.peek('key')
  expect(store.stats().breaker).toBe('open')
  await expect(limiter.reset('key')).rejects.toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE' })
})

it('a Redis that falls silent makes a block fail by the deadline', async () => {
  const server = await startRedis()
  const { client, close } = await connected('ioredis', server.port)
  try {
    const limiter = createLimiter({ name: 'a', limit, store: redisStore(client, { deadlineMs: 30 }) })
    server.signal('SIGSTOP')
    await expect(limiter.block('key', { duration: '1m' })).rejects.toMatchObject({ code: 'SLUICE_STORE_UNAVAILABLE' })
  } finally {
    close()
    await server.stop()
  }
})

it('a block that Redis did not hear of holds for local answers of this process, until it is reset', async () => {
  const limiter = createLimiter({ name: 'a', limit, store: downStore({ onFailure: 'local' }) })
  await limiter.block('key', { duration: '1h' }).catch(() => {})
  expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: false, degraded: 'local' })
  expect((await limiter.tryAcquire('other')).allowed).toBe(true)
  await limiter.reset('key').catch(() => {})
  expect((await limiter.tryAcquire('key')).allowed).toBe(true)
})
