import type { Limit } from 'sluice'
import { sharedStore } from 'sluice/shared'
import { storeContract } from 'sluice/testing'
import { describe, it } from 'vitest'

/** Limits that do not fit in a word. */
function isRefused(limit: Limit): boolean {
  if (limit.algorithm === 'fixed-window') return limit.align === 'first'
  return !['token-bucket', 'leaky-bucket', 'unlimited'].includes(limit.algorithm)
}

const exempt = { limits: isRefused, changedNumbers: true, stepsBack: true, newestSlot: true }

describe('the store for threads keeps the contract of every store, for the limits that it accepts', () => {
  const cases = storeContract((clock) => sharedStore({ clock, maxKeys: 1_000 }), { traces: 400, exempt })
  for (const { name, run } of cases) it(name, run)
})
