import { createLimiter, tokenBucket } from 'sluice'
import { serviceStore } from 'sluice/client'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { until } from '../../../sluice/test/redis/faults-until.js'
import { FaultyWire } from '../../../sluice/test/redis/faults-wire.js'
import { expectRulesToHold, ServiceLoad } from './service-load.js'
import { ServiceProcess } from './service-process.js'

const limit = tokenBucket({ capacity: 10, refill: '1/h' })
let service: ServiceProcess

beforeEach(async () => {
  service = await ServiceProcess.start()
})

afterEach(() => service.kill())

it('a service that is killed and started again: no call waits beyond its deadline, and every rule holds', async () => {
  const load = new ServiceLoad(service.url)
  try {
    await until('the service answers', () => load.isServed(500))
    // Stopped first, so that calls are on their way when it dies.
    service.signal('SIGSTOP')
    await until('calls wait', () => load.store.stats().pending > 20)
    await service.kill()
    await until('answers without the service', () => load.isDegraded(1_000) && load.store.stats().breaker === 'open')
    const before = load.recount()
    service = await ServiceProcess.start([], service.port)
    await until('the service answers again', () => load.isServed(500))
    await load.stop()
    load.expectPromptAnswers()
    // Each of the two services kept the limit.
    expectRulesToHold(before)
    expectRulesToHold(load.recount())
  } finally {
    await load.stop()
  }
})

it('a service that hangs costs a few deadlines, and then nothing until it is back', async () => {
  const store = serviceStore(service.url, { deadlineMs: 50 })
  const limiter = createLimiter({ name: 'a', limit, store })
  await until('the service answers', async () => (await limiter.peek('key')).degraded === undefined)
  service.signal('SIGSTOP')
  for (let i = 0; i < 3; i++) expect((await limiter.peek('key')).degraded).toBe('open')
  expect(store.stats()).toMatchObject({ breaker: 'open', degraded: { deadline: 3 } })
  const { requests } = store.stats()
  for (let i = 0; i < 200; i++) expect((await limiter.peek('key')).degraded).toBe('open')
  expect(store.stats()).toMatchObject({ requests, breaker: 'open', degraded: { breaker: 200 } })
  service.signal('SIGCONT')
  await until('a probe closes the breaker', () => store.stats().breaker === 'closed')
  expect((await limiter.peek('key')).degraded).toBeUndefined()
})

it('a service that always answers too late counts as an outage, until it is fast enough', async () => {
  const wire = await FaultyWire.to(service.port)
  try {
    const store = serviceStore(`http://127.0.0.1:${wire.port}`, { deadlineMs: 40 })
    const limiter = createLimiter({ name: 'a', limit, store })
    await until('the service answers', async () => (await limiter.peek('key')).degraded === undefined)
    wire.delayMs = 80
    for (let i = 0; i < 20 && store.stats().breaker === 'closed'; i++) await limiter.peek('key')
    expect(store.stats()).toMatchObject({ breaker: 'open', requestsInFlight: 0 })
    wire.delayMs = 0
    await until('a probe closes the breaker', () => store.stats().breaker === 'closed')
    await until('the service answers', async () => (await limiter.peek('key')).degraded === undefined)
  } finally {
    await wire.stop()
  }
})

it('a connection that is cut within an answer costs its calls an answer by onFailure, and the next call nothing', async () => {
  const wire = await FaultyWire.to(service.port)
  try {
    const store = serviceStore(`http://127.0.0.1:${wire.port}`, { deadlineMs: 5_000 })
    const limiter = createLimiter({ name: 'a', limit, store })
    await limiter.tryAcquire('key')
    wire.cutNextReply()
    const cut = await Promise.all([limiter.tryAcquire('key'), limiter.tryAcquire('key')])
    expect(cut.map(({ degraded }) => degraded)).toEqual(['open', 'open'])
    // The service carried both out; the client did not send them again.
    expect(await limiter.tryAcquire('key')).toMatchObject({ allowed: true, remaining: 6 })
  } finally {
    await wire.stop()
  }
})
