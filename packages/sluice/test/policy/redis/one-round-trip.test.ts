import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPolicy, fixedWindow, type Level, slidingLog, tokenBucket } from '../../../src/index.js'
import { onServer } from '../../redis/faults-clients.js'
import { type Processes, startProcesses } from './processes.js'

const LEVELS: readonly Level[] = [
  { name: 'global', limit: tokenBucket({ capacity: 100, refill: '1/s' }) },
  {
    name: 'merchant',
    key: 'merchant',
    limit: [fixedWindow({ quota: 50, window: '1h' }), slidingLog({ quota: 9, window: '1h' })],
  },
  { name: 'ip', key: 'ip', limit: tokenBucket({ capacity: 20, refill: '1/s' }), shadow: true },
]
const request = { merchant: 'm', ip: '192.0.2.1' }

let processes: Processes
beforeAll(async () => {
  processes = await startProcesses()
})
afterAll(() => processes?.stop())

/** How often the server has run the script for any client. */
const scriptCalls = async () => {
  const info = await onServer(processes.server.port, (redis) => redis.info('commandstats'))
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1] ?? 0)
}

it('a check of four limits is one call of the script, once the overrides are known', async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const store = processes.store(clock, 'a:')
  const policy = createPolicy({ name: 'api', levels: LEVELS, store })
  await policy.check(request)
  const [batches, calls] = [store.stats().batches, await scriptCalls()]
  for (let i = 1; i <= 5; i++) {
    expect((await policy.check(request)).levels).toHaveLength(4)
    expect([store.stats().batches, await scriptCalls()]).toEqual([batches + i, calls + i])
  }
  for (const call of [policy.peek(request), policy.charge(request), policy.refund(request)]) await call
  // Nine calls of one turn, in two batches.
  expect(store.stats().batches).toBe(batches + 7)
})

it('what is known of overrides is asked for at most once a second, however many requests there are', async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const store = processes.store(clock, 'b:')
  const policy = createPolicy({ name: 'api', levels: LEVELS, store })
  for (let i = 0; i < 100; i++) {
    await policy.check(request)
    clock.advance(100)
  }
  expect(store.stats().calls).toBeGreaterThanOrEqual(100 + 9)
  expect(store.stats().calls).toBeLessThanOrEqual(100 + 10)
})

it('a burst of checks in one turn is two calls of the script', async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const store = processes.store(clock, 'c:')
  const policy = createPolicy({ name: 'api', levels: LEVELS, store })
  await policy.check(request)
  const { batches } = store.stats()
  const verdicts = await Promise.all(
    Array.from({ length: 20 }, (_, i) => policy.check({ ...request, merchant: `m${i}` })),
  )
  expect(store.stats().batches).toBe(batches + 2)
  expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(20)
})
