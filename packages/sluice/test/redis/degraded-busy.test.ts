import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../scripts/redis-server.mjs'
import { createLimiter, tokenBucket } from '../../src/index.js'
import { redisStore } from '../../src/stores/redis/index.js'
import { CLIENT_NAMES, connected } from './faults-clients.js'

const limit = tokenBucket({ capacity: 100, refill: '1/h' })
const DEADLINE_MS = 50

function beBusy(forMs: number): void {
  const endMs = performance.now() + forMs
  while (performance.now() < endMs);
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server?.stop())

describe.each(CLIENT_NAMES)('a process that is busy for longer than the deadline (%s)', (name) => {
  it('uses the replies that came meanwhile', async () => {
    const { client, close } = await connected(name, server.port)
    try {
      const store = redisStore(client, { deadlineMs: DEADLINE_MS, prefix: `${name}:replies:` })
      const limiter = createLimiter({ name: 'a', limit, store })
      await limiter.peek('key')
      for (let round = 0; round < 3; round++) {
        const decisions = Promise.all(Array.from({ length: 20 }, () => limiter.tryAcquire('key')))
        // One turn for the store to send, and one for the client.
        await turn()
        await turn()
        beBusy(4 * DEADLINE_MS)
        expect((await decisions).filter(({ degraded }) => degraded !== undefined)).toEqual([])
      }
      expect(store.stats().late).toBe(0)
    } finally {
      close()
    }
  })

  it('does not take its own delay for an outage when it could not even ask', async () => {
    const { client, close } = await connected(name, server.port)
    try {
      const store = redisStore(client, { deadlineMs: DEADLINE_MS, prefix: `${name}:asks:` })
      const limiter = createLimiter({ name: 'a', limit, store })
      await limiter.peek('key')
      for (let round = 0; round < 4; round++) {
        const decision = limiter.tryAcquire('key')
        beBusy(2 * DEADLINE_MS)
        expect((await decision).degraded).toBeUndefined()
      }
      expect(store.stats().breaker).toBe('closed')
    } finally {
      close()
    }
  })
})
