import { createLimiter, fixedWindow, slidingLog, tokenBucket } from 'sluice'
import { serviceStore } from 'sluice/client'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { until } from '../../../../sluice/test/redis/faults-until.js'
import { ServiceProcess } from '../service-process.js'

let redis: RedisServer
let service: ServiceProcess

/** Starts the service, and waits until its own decision on Redis works. */
async function startService(port?: number): Promise<ServiceProcess> {
  const args = ['--store', `redis://127.0.0.1:${redis.port}`, '--deadline-ms', '500']
  const started = await ServiceProcess.start(args, port)
  await until('the service is ready', async () => (await fetch(`${started.url}/readyz`)).ok)
  return started
}

beforeEach(async () => {
  redis = await startRedis()
  service = await startService()
})

afterEach(async () => {
  await service.kill()
  await redis.stop()
})

const limits = [
  tokenBucket({ capacity: 10, refill: '1/h' }),
  fixedWindow({ quota: 10, window: '100d' }),
  slidingLog({ quota: 10, window: '100d' }),
]

it('units stay taken when the service is restarted, and reset and block reach windows that the new one has not seen', async () => {
  for (const [i, limit] of limits.entries()) {
    const before = serviceStore(service.url, { deadlineMs: 5_000 })
    await createLimiter({ name: `n${i}`, limit, store: before }).tryAcquire('key', { cost: 4 })
  }
  await service.kill()
  service = await startService(service.port)
  const store = serviceStore(service.url, { deadlineMs: 5_000 })
  for (const [i, limit] of limits.entries()) {
    const limiter = createLimiter({ name: `n${i}`, limit, store })
    await limiter.block('key', { duration: '1m' })
    expect(await limiter.peek('key')).toMatchObject({ allowed: false, remaining: 0 })
    await limiter.reset('key')
    expect(await limiter.peek('key')).toMatchObject({ allowed: true, remaining: 10 })
  }
})

it('while Redis is away, the service follows the rule of the limiter, then that of the client’s store', async () => {
  const closed = serviceStore(service.url, { deadlineMs: 5_000, onFailure: 'closed' })
  const unruled = serviceStore(service.url, { deadlineMs: 5_000 })
  const limiters = {
    local: createLimiter({ name: 'a', limit: limits[0], store: closed, onFailure: 'local' }),
    closed: createLimiter({ name: 'b', limit: limits[0], store: closed }),
    // The service's own rule.
    open: createLimiter({ name: 'c', limit: limits[0], store: unruled }),
  }
  redis.signal('SIGSTOP')
  for (const [rule, limiter] of Object.entries(limiters)) {
    expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: rule !== 'closed', degraded: rule })
  }
  // The service itself answered all of them. Units of its local share come back to it.
  const reservation = await limiters.local.reserve('key', { cost: 5 })
  expect(reservation.decision).toMatchObject({ remaining: 4, degraded: 'local' })
  await reservation.cancel()
  expect(await limiters.local.peek('key')).toMatchObject({ remaining: 9, degraded: 'local' })
  for (const store of [closed, unruled]) {
    expect(store.stats().degraded).toEqual({ deadline: 0, error: 0, breaker: 0, overload: 0 })
  }
  redis.signal('SIGCONT')
})
