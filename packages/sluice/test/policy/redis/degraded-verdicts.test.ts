import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPolicy, fixedWindow, type Level } from '../../../src/index.js'
import { type Processes, startProcesses } from './processes.js'

const limit = fixedWindow({ quota: 2, window: '30d' })
const level = (name: 'open' | 'closed' | 'local', more: Partial<Level> = {}): Level => ({
  name,
  limit,
  onFailure: name,
  ...more,
})

let processes: Processes
beforeAll(async () => {
  processes = await startProcesses()
  await processes.server.stop()
})
afterAll(() => processes?.stop())

const check = async (levels: readonly Level[], times = 1) => {
  const store = processes.store({ now: () => Date.UTC(2026, 0, 1) }, 'test:', { deadlineMs: 250, onFailure: 'open' })
  const policy = createPolicy({ name: 'api', levels, store })
  const verdicts = []
  for (let i = 0; i < times; i++) verdicts.push(await policy.check({}))
  return verdicts
}

it('each level answers as it says for itself, and the verdict tells the worst', async () => {
  const [all] = await check([level('open'), level('local'), level('closed')])
  expect(all).toMatchObject({ allowed: false, deniedBy: ['closed'], degraded: 'closed', retryAfterMs: 1_000 })
  expect(all.levels.map(({ decision }) => decision.degraded)).toEqual(['open', 'local', 'closed'])
  expect((await check([level('local'), level('open')]))[0]).toMatchObject({ allowed: true, degraded: 'open' })
  expect((await check([level('local')]))[0]).toMatchObject({ allowed: true, degraded: 'local' })
})

it('a local level goes on limiting, and a closed one beside it takes nothing from it', async () => {
  const verdicts = await check([level('local')], 3)
  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, false])
  const closed = await check([level('local'), level('closed')], 4)
  expect(closed.map(({ levels }) => levels[0].decision.remaining)).toEqual([2, 2, 2, 2])
})

it('a shadow denies nothing during an outage either', async () => {
  expect((await check([level('closed', { shadow: true })]))[0]).toMatchObject({ allowed: true, deniedBy: [] })
  const verdicts = await check([level('open'), level('local', { shadow: true })], 4)
  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, true])
  expect(verdicts.map(({ levels }) => levels[1].decision.allowed)).toEqual([true, true, false, false])
})

it('a level that says nothing does what the store says', async () => {
  expect((await check([{ name: 'any', limit }]))[0]).toMatchObject({ allowed: true, degraded: 'open' })
})
