import { ManualClock } from 'sluice/testing'
import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { type AsyncStore, memoryStore, type SyncStore } from '../../../src/index.js'
import { type Processes, startProcesses } from './processes.js'

/** What a test has on each store: a clock that the test moves, and an unused store. */
export interface OnStore {
  clock: ManualClock
  store: SyncStore | AsyncStore
}

/** The same tests on a memory store and on Redis. */
export function onBothStores(tests: (own: OnStore) => void): void {
  describe('in memory', () => {
    const own = {} as OnStore
    beforeEach(() => {
      own.clock = new ManualClock(Date.UTC(2026, 0, 1))
      own.store = memoryStore({ clock: own.clock })
    })
    tests(own)
  })

  describe('in Redis', () => {
    const own = {} as OnStore
    let processes: Processes
    let prefixes = 0
    beforeAll(async () => {
      processes = await startProcesses()
    })
    afterAll(() => processes?.stop())
    beforeEach(() => {
      own.clock = new ManualClock(Date.UTC(2026, 0, 1))
      own.store = processes.store(own.clock, `test-${++prefixes}:`, { onFailure: 'closed' })
    })
    tests(own)
  })
}
