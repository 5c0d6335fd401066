import { memoryStore } from 'sluice'
import { storeContract } from 'sluice/testing'
import { describe, it } from 'vitest'

describe('the memory store keeps the contract of every store', () => {
  for (const { name, run } of storeContract((clock) => memoryStore({ clock }), { traces: 1_000 })) it(name, run)
})
