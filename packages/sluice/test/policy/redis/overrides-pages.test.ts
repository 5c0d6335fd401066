import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPolicy, fixedWindow } from '../../../src/index.js'
import { type Processes, startProcesses } from './processes.js'

const quota = (units: number) => fixedWindow({ quota: units, window: '30d' })
const LEVELS = [{ name: 'merchant', key: 'merchant', limit: quota(1) }] as const

let processes: Processes
beforeAll(async () => {
  processes = await startProcesses()
})
afterAll(() => processes?.stop())

// Pages are of 100, 200, 400 and then 500.
it.each([
  [99, 1],
  [100, 1],
  [299, 7],
  [1_200, 1],
  [2_500, 1_700],
])(
  'a process that starts after removals were cleared reads all pages, of %i of which %i were removed',
  async (count, removed) => {
    const clock = new ManualClock(Date.UTC(2026, 0, 1))
    const start = () => createPolicy({ name: 'api', levels: LEVELS, store: processes.store(clock, `${count}:`) })
    const [writer, reader] = [start(), start()]
    const names = Array.from({ length: count }, (_, i) => `m${i}`)
    await Promise.all(names.map((name) => writer.override('merchant', name, quota(9))))
    await reader.peek({ merchant: 'm0' })
    await Promise.all(names.slice(0, removed).map((name) => writer.removeOverride('merchant', name)))
    clock.advance(3_600_001)
    // Clears a hundred that were removed.
    await writer.override('merchant', 'last', quota(9))
    for (const policy of [start(), reader]) {
      const quotaOf = async (merchant: string) => (await policy.peek({ merchant })).levels[0].decision.quota
      const known = await Promise.all(names.map(quotaOf))
      expect(known).toEqual(names.map((_, i) => (i < removed ? 1 : 9)))
      expect(await quotaOf('last')).toBe(9)
    }
  },
)
