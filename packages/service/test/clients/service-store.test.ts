import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { concurrency, createLimiter, createPolicy, createShaper, fixedWindow, memoryStore, tokenBucket } from 'sluice'
import { type ServiceBreakerEvent, type ServiceDegradedEvent, serviceStore } from 'sluice/client'
import { ManualClock } from 'sluice/testing'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { Services } from './in-process.js'

const limit = tokenBucket({ capacity: 1_000, refill: '1/h' })
const services = new Services()

afterEach(() => services.stop())

const start = () => services.start(memoryStore({ clock: new ManualClock(1_745_000_100_000) }))

it('sends the calls of one turn as one request, and carries them out in their order', async () => {
  const store = serviceStore(await start(), { deadlineMs: 5_000 })
  const [a, b] = ['a', 'b'].map((name) => createLimiter({ name, limit, store }))
  const answers = await Promise.all([
    a.tryAcquire('key', { cost: 3 }),
    b.tryAcquire('key'),
    a.charge('key', { cost: 2 }),
    a.refund('key'),
    a.peek('key'),
  ])
  expect(answers.map(({ remaining }) => remaining)).toEqual([997, 999, 995, 996, 996])
  expect(store.stats()).toMatchObject({ calls: 5, requests: 1, pending: 0, requestsInFlight: 0 })
})

it('sends no more than maxBatch calls together, and no more than maxConnections requests at a time', async () => {
  const store = serviceStore(await start(), { deadlineMs: 5_000, maxBatch: 10, maxConnections: 2 })
  const limiter = createLimiter({ name: 'a', limit, store })
  const asked = Array.from({ length: 95 }, () => limiter.tryAcquire('key'))
  await new Promise(setImmediate)
  expect(store.stats()).toMatchObject({ pending: 95, requests: 2, requestsInFlight: 2 })
  const answers = await Promise.all(asked)
  expect(answers.map(({ remaining }) => remaining).sort((a, b) => b - a)).toEqual(
    Array.from({ length: 95 }, (_, i) => 999 - i),
  )
  expect(store.stats()).toMatchObject({ calls: 95, requests: 10, requestsInFlight: 0 })
})

it('answers by onFailure at once if too many calls wait, but sends refunds', async () => {
  const store = serviceStore(await start(), { deadlineMs: 5_000, maxPending: 2, onFailure: 'closed' })
  const limiter = createLimiter({ name: 'a', limit, store })
  const reservation = await limiter.reserve('key', { cost: 10 })
  const asked = [1, 2, 3].map(() => limiter.tryAcquire('key'))
  const cancelled = reservation.cancel()
  expect((await Promise.all(asked)).map(({ degraded }) => degraded)).toEqual([undefined, undefined, 'closed'])
  await cancelled
  expect(store.stats().degraded).toEqual({ deadline: 0, error: 0, breaker: 0, overload: 1 })
  expect((await limiter.peek('key')).remaining).toBe(998)
})

it('keys may hold any text', async () => {
  const store = serviceStore(await start(), { deadlineMs: 5_000 })
  const limiter = createLimiter({ name: '\u0000 "name" 😀', limit, store })
  for (const key of ['"', '\\', '\u0000\n', '😀', '\ud800', '__proto__', 'k'.repeat(400_000)]) {
    expect((await limiter.tryAcquire(key)).remaining, key.slice(0, 10)).toBe(999)
    expect((await limiter.tryAcquire(key)).remaining, key.slice(0, 10)).toBe(998)
  }
  const long = ['x', 'y', 'z'].map((letter) => limiter.tryAcquire(letter.repeat(300_000)))
  expect((await Promise.all(long)).map(({ degraded }) => degraded)).toEqual([undefined, undefined, undefined])
})

it('policies, leases and shapers work on it', async () => {
  const store = serviceStore(await services.start(memoryStore()), { deadlineMs: 5_000 })
  const policy = createPolicy({
    name: 'shop',
    levels: [
      { name: 'user', key: 'user', limit: fixedWindow({ quota: 2, window: '1h' }) },
      { name: 'all', limit: tokenBucket({ capacity: 3, refill: '1/h' }) },
    ],
    store,
  })
  const verdicts = []
  for (const user of ['ann', 'ann', 'ann', 'bob', 'cem']) verdicts.push(await policy.check({ user }))
  expect(verdicts.map(({ deniedBy }) => deniedBy)).toEqual([[], [], ['user'], [], ['all']])
  await policy.reset({ user: 'ann' }, { levels: ['user'] })
  expect((await policy.peek({ user: 'ann' })).levels.map(({ decision }) => decision.remaining)).toEqual([2, 0])

  const places = createLimiter({ name: 'jobs', limit: concurrency({ max: 1, ttl: '1m' }), store })
  const lease = await places.lease('printer')
  const waiting = places.acquireLease('printer')
  expect((await places.lease('printer')).decision.allowed).toBe(false)
  await lease.release()
  expect((await waiting).decision.allowed).toBe(true)

  const shaper = createShaper({ name: 'mail', drain: '1000/s', capacity: 10, store })
  const sent = await Promise.all([1, 2, 3].map((number) => shaper.run(() => number)))
  expect(sent).toEqual([1, 2, 3])
  await shaper.close()
})

it('a policy on it has no run-time overrides, and says so', async () => {
  const store = serviceStore(await start(), { deadlineMs: 5_000 })
  const policy = createPolicy({ name: 'shop', levels: [{ name: 'user', key: 'user', limit }], store })
  await expect(async () => policy.override('user', 'ann', limit)).rejects.toThrow(
    'store must be one that keeps overrides',
  )
})

it('sends the given header fields, under the path of the address', async () => {
  const seen: { url: string | undefined; headers: IncomingHttpHeaders }[] = []
  const server = createServer(({ url, headers }, response) => {
    seen.push({ url, headers })
    response.end('{"answers":[{}]}')
  })
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const store = serviceStore(`http://${host}/limits/`, { deadlineMs: 5_000, headers: { Authorization: 'Bearer abc' } })
  await store.reset('a', 'key')
  expect(seen).toEqual([
    {
      url: '/limits/v1/store',
      headers: expect.objectContaining({ host, authorization: 'Bearer abc', 'content-type': 'application/json' }),
    },
  ])
  server.closeAllConnections()
})

it('publishes each answer without the service, and when the breaker opens and closes', async () => {
  const degraded: ServiceDegradedEvent[] = []
  const breaker: ServiceBreakerEvent[] = []
  const listeners = {
    'sluice:client:degraded': (event: unknown) => void degraded.push(event as ServiceDegradedEvent),
    'sluice:client:breaker': (event: unknown) => void breaker.push(event as ServiceBreakerEvent),
  }
  for (const [name, listener] of Object.entries(listeners)) {
    subscribe(name, listener)
    onTestFinished(() => void unsubscribe(name, listener))
  }
  const url = await start()
  await services.stop()
  const store = serviceStore(url, { deadlineMs: 5_000 })
  const limiter = createLimiter({ name: 'a', limit, store })
  for (let i = 0; i < 5; i++) await limiter.tryAcquire('key')
  expect(degraded.map(({ reason }) => reason)).toEqual(['error', 'error', 'error', 'breaker', 'breaker'])
  expect(degraded[0]).toEqual({ store, reason: 'error', error: expect.objectContaining({ code: 'ECONNREFUSED' }) })
  expect(breaker).toEqual([{ store, state: 'open', error: expect.any(Error) }])
})
