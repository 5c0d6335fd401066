/** A policy whose overrides cannot be read, while Redis decides as ever: something else is where they should be. */
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { concurrency, createPolicy, fixedWindow } from '../../../src/index.js'
import { type Processes, startProcesses } from './processes.js'

const own = fixedWindow({ quota: 5, window: '30d' })
const raised = fixedWindow({ quota: 9, window: '30d' })
const LEVELS = [
  { name: 'merchant', key: 'merchant', limit: own },
  { name: 'flight', key: 'merchant', limit: concurrency({ max: 5, ttl: '1h' }) },
  { name: 'other', key: 'other', limit: own },
] as const
const request = { merchant: 'm', other: null }

let processes: Processes
let clock: ManualClock
let prefixes = 0
beforeAll(async () => {
  processes = await startProcesses()
})
afterAll(() => processes?.stop())
beforeEach(async () => {
  clock = new ManualClock(Date.UTC(2026, 0, 1))
  await processes.client.set(`test-${++prefixes}:o:{api}`, 'something else')
})

const start = () => createPolicy({ name: 'api', levels: LEVELS, store: processes.store(clock, `test-${prefixes}:`) })
const left = async (policy: ReturnType<typeof start>) =>
  (await policy.peek(request)).levels.map(({ decision }) => decision.remaining)

it('every verdict says so, and no decision does', async () => {
  const policy = start()
  for (const verdict of [
    await policy.check(request),
    await policy.peek(request),
    await policy.charge(request),
    await policy.refund(request),
    (await policy.reserve(request)).verdict,
  ]) {
    expect(verdict).toMatchObject({ allowed: true, degraded: 'overrides' })
    expect(verdict.levels.map(({ decision }) => decision.degraded)).toEqual([undefined, undefined])
  }
  expect(await policy.check(request, { cost: 6 })).toMatchObject({ allowed: false, degraded: 'overrides' })
})

it('an explanation says so of every level that matches', async () => {
  const levels = await start().explain(request)
  expect(levels.map(({ level, matches, degraded }) => ({ level, matches, degraded }))).toEqual([
    { level: 'merchant', matches: true, degraded: 'overrides' },
    { level: 'flight', matches: true, degraded: 'overrides' },
    { level: 'other', matches: false, degraded: undefined },
  ])
})

it('what was reserved can be given back', async () => {
  const policy = start()
  const reservation = await policy.reserve(request, { cost: 2 })
  expect(await left(policy)).toEqual([3, 3])
  await reservation.settle(1)
  expect(await left(policy)).toEqual([4, 3])
  await reservation.release()
  expect(await left(policy)).toEqual([4, 5])
})

it('a key can be reset', async () => {
  const policy = start()
  await policy.check(request, { cost: 5 })
  await policy.reset(request)
  expect(await left(policy)).toEqual([5, 5])
})

it('they are asked for once a second, and what is known two seconds later says nothing any more', async () => {
  const policy = start()
  await policy.check(request)
  await processes.client.del(`test-${prefixes}:o:{api}`)
  await start().override('merchant', 'm', raised)
  clock.advance(999)
  expect(await policy.check(request)).toMatchObject({ degraded: 'overrides', levels: [{ limit: own }, {}] })
  clock.advance(1)
  const verdict = await policy.check(request)
  expect([verdict.degraded, verdict.levels[0].limit]).toEqual([undefined, raised])
})

it('the last that was known stays in force for two seconds without a word, and then says so', async () => {
  await processes.client.del(`test-${prefixes}:o:{api}`)
  const policy = start()
  await policy.override('merchant', 'm', raised)
  await policy.check(request)
  await processes.client.set(`test-${prefixes}:o:{api}`, 'something else')
  const said: (string | undefined)[] = []
  for (let ms = 0; ms < 4_000; ms += 500) {
    const verdict = await policy.check(request, { cost: 0 })
    expect(verdict.levels[0].limit).toEqual(raised)
    said.push(verdict.degraded)
    clock.advance(500)
  }
  expect(said).toEqual([...Array(4).fill(undefined), ...Array(4).fill('overrides')])
})
