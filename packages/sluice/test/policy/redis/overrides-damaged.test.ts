/** Another program writes to the keys of a policy's overrides, or Redis evicts a part of them. */
import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createLimiter, createPolicy, fixedWindow, StoreUnavailableError } from '../../../src/index.js'
import { type Processes, startProcesses } from './processes.js'

const own = fixedWindow({ quota: 1, window: '30d' })
const raised = fixedWindow({ quota: 9, window: '30d' })
const LEVELS = [{ name: 'merchant', key: 'merchant', limit: own }] as const

let processes: Processes
let clock: ManualClock
beforeAll(async () => {
  processes = await startProcesses()
})
afterAll(() => processes?.stop())
beforeEach(async () => {
  clock = new ManualClock(Date.UTC(2026, 0, 1))
  await processes.client.flushall()
})

const policyOn = (store: ReturnType<Processes['store']>) => createPolicy({ name: 'api', levels: LEVELS, store })
const quotaOf = async (policy: ReturnType<typeof policyOn>, merchant: string) =>
  (await policy.peek({ merchant })).levels[0].decision.quota

it.each(['', 'versions', 'ends'])(
  'something else at the key {api}%s degrades nothing else, and verdicts and overrides say so',
  async (which) => {
    const store = processes.store(clock, 'test:', { onFailure: 'closed' })
    const policy = policyOn(store)
    const limiter = createLimiter({ name: 'other', limit: own, store })
    const key = `test:o:{api}${which}`
    await processes.client.set(key, 'something else')
    for (let i = 0; i < 10; i++) {
      const [verdict, decision, error] = await Promise.all([
        policy.check({ merchant: `m${i}` }),
        limiter.tryAcquire(`k${i}`),
        policy.override('merchant', 'm', raised).catch((error: unknown) => error),
      ])
      expect(verdict).toMatchObject({ allowed: true, levels: [{ decision: { quota: 1 } }] })
      expect([verdict.degraded, verdict.levels[0].decision.degraded]).toEqual(['overrides', undefined])
      expect([decision.allowed, decision.degraded]).toEqual([true, undefined])
      expect(error).toBeInstanceOf(StoreUnavailableError)
      clock.advance(1_000)
    }
    expect(store.stats()).toMatchObject({ breaker: 'closed', degraded: { error: 0, deadline: 0, breaker: 0 } })
    expect(await processes.client.get(key)).toBe('something else')
  },
)

it.each(['versions', 'ends'])('overrides can be set and known after Redis has evicted the %s', async (which) => {
  const start = () => policyOn(processes.store(clock, 'test:'))
  const writer = start()
  await writer.override('merchant', 'ended', raised, { until: clock.now() + 10 })
  await writer.override('merchant', 'kept', raised)
  await processes.client.del(`test:o:{api}${which}`)
  clock.advance(7_200_000)
  await writer.override('merchant', 'new', raised)
  await writer.override('merchant', 'kept', raised)
  for (const policy of [writer, start()]) {
    expect([await quotaOf(policy, 'ended'), await quotaOf(policy, 'kept'), await quotaOf(policy, 'new')]).toEqual([
      1, 9, 9,
    ])
  }
})
