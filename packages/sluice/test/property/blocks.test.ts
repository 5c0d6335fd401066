import fc from 'fast-check'
import { memoryStore, type Store } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, it } from 'vitest'
import { ReferenceStore } from '../../src/testing/reference-store.js'
import { RUNS } from './arbitraries.js'
import { blockedLives, checkBlockedLife } from './blocked-life.js'

const STORES: Readonly<Record<string, (clock: ManualClock) => Store>> = {
  'the memory store': (clock) => memoryStore({ clock }),
  'the reference': (clock) => new ReferenceStore(clock),
}

describe.each(Object.entries(STORES))('%s', (_, create) => {
  it('with blockFor, admits no unit to a key within its block, and decides as without it outside of blocks', async () => {
    const check = async (life: Parameters<typeof checkBlockedLife>[2]) => {
      const clock = new ManualClock(1_745_000_000_000)
      await checkBlockedLife(create(clock), clock, life)
    }
    await fc.assert(fc.asyncProperty(blockedLives, check), RUNS)
  })
})
