import { once } from 'node:events'
import { ManualClock } from 'sluice/testing'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startRedis } from '../../../../../scripts/redis-server.mjs'
import { createPolicy, fixedWindow, StoreUnavailableError } from '../../../src/index.js'
import { type Processes, startProcesses } from './processes.js'

const own = fixedWindow({ quota: 1, window: '30d' })
const raised = fixedWindow({ quota: 9, window: '30d' })
const LEVELS = [{ name: 'merchant', key: 'merchant', limit: own }] as const

let processes: Processes
let clock: ManualClock
beforeEach(async () => {
  processes = await startProcesses()
  clock = new ManualClock(Date.UTC(2026, 0, 1))
})
afterEach(() => processes?.stop())

const policyOn = (store: ReturnType<Processes['store']>) => createPolicy({ name: 'api', levels: LEVELS, store })
const start = () => policyOn(processes.store(clock, 'test:', { onFailure: 'closed' }))

async function quotaOf(policy: ReturnType<typeof start>, merchant: string): Promise<number> {
  const { levels, degraded } = await policy.peek({ merchant })
  expect(degraded).toBeUndefined()
  return levels[0].decision.quota
}

it('when Redis has lost everything, so have all who ask it, and what is set then counts again', async () => {
  const [one, two] = [start(), start()]
  await one.override('merchant', 'm', raised)
  expect([await quotaOf(one, 'm'), await quotaOf(two, 'm')]).toEqual([9, 9])
  clock.advance(2_000)
  expect([await quotaOf(one, 'm'), await quotaOf(two, 'm')]).toEqual([9, 9])
  await processes.client.flushall()
  clock.advance(2_000)
  expect([await quotaOf(one, 'm'), await quotaOf(two, 'm')]).toEqual([1, 1])
  await one.override('merchant', 'n', raised)
  clock.advance(2_000)
  for (const policy of [one, two, start()])
    expect([await quotaOf(policy, 'm'), await quotaOf(policy, 'n')]).toEqual([1, 9])
})

it('when Redis has lost everything and an override is set before a process asks again, all agree', async () => {
  const [writer, reader] = [start(), start()]
  await writer.override('merchant', 'old', raised)
  expect([await quotaOf(writer, 'old'), await quotaOf(reader, 'old')]).toEqual([9, 9])
  clock.advance(500)
  await processes.client.flushall()
  await writer.override('merchant', 'new', raised)
  clock.advance(60_000)
  for (const policy of [start(), reader, writer])
    expect([await quotaOf(policy, 'old'), await quotaOf(policy, 'new')]).toEqual([1, 9])
})

it('when Redis has lost everything, so has a process that set something before it had read any version', async () => {
  const writer = start()
  await quotaOf(writer, 'm')
  await writer.override('merchant', 'm', raised)
  await processes.client.flushall()
  clock.advance(60_000)
  expect(await quotaOf(writer, 'm')).toBe(1)
})

it('a Redis that does not know the script any more is told it again', async () => {
  const [one, two] = [start(), start()]
  await quotaOf(two, 'm')
  await processes.client.script('FLUSH')
  await one.override('merchant', 'm', raised)
  await processes.client.script('FLUSH')
  clock.advance(2_000)
  expect(await quotaOf(two, 'm')).toBe(9)
})

it('an override that this version cannot read is as if it were not there, and the others count', async () => {
  const writer = start()
  await writer.override('merchant', 'one', raised)
  await writer.override('merchant', 'two', raised)
  await processes.client.hset('test:o:{api}', 'merchant/one', '{"limits":[{"algorithm":"of tomorrow"}]}')
  const warned = once(process, 'warning')
  const late = start()
  expect([await quotaOf(late, 'one'), await quotaOf(late, 'two')]).toEqual([1, 9])
  const [warning] = await warned
  expect(String(warning)).toMatch(/merchant\/one/)
})

it('while Redis is down, those that were known go on being used, and none can be set', async () => {
  const store = processes.store(clock, 'test:', { onFailure: 'local', deadlineMs: 250 })
  const policy = policyOn(store)
  await policy.override('merchant', 'm', raised)
  expect(await quotaOf(policy, 'm')).toBe(9)
  await processes.server.stop()
  for (let i = 0; i < 12; i++) {
    const verdict = await policy.check({ merchant: 'm' })
    expect(verdict).toMatchObject({ allowed: i < 9, degraded: 'local', levels: [{ decision: { quota: 9 } }] })
    clock.advance(5_000)
  }
  await expect(policy.override('merchant', 'm', own)).rejects.toThrow(StoreUnavailableError)
  await expect(policy.removeOverride('merchant', 'm')).rejects.toThrow(StoreUnavailableError)
  expect((await policy.peek({ merchant: 'm' })).levels[0].decision.quota).toBe(9)
})

it('a process that starts while Redis is down answers by the policy, and knows the overrides once Redis is back', async () => {
  const { port } = processes.server
  await processes.server.stop()
  const store = processes.store(clock, 'test:', { onFailure: 'open', deadlineMs: 250 })
  const policy = policyOn(store)
  expect(await policy.check({ merchant: 'm' })).toMatchObject({ allowed: true, degraded: 'open' })
  const again = await startRedis({ port })
  try {
    await expect.poll(() => processes.client.status, { timeout: 10_000 }).toBe('ready')
    await expect.poll(() => store.stats().breaker, { timeout: 10_000 }).toBe('closed')
    await start().override('merchant', 'm', raised)
    clock.advance(2_000)
    await expect.poll(() => quotaOf(policy, 'm'), { timeout: 10_000 }).toBe(9)
  } finally {
    await again.stop()
  }
})
