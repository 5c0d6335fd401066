import { storeContract } from 'sluice/testing'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { startInjected } from './injected-store.js'

describe('the Lua twin on an injected time', () => {
  let injected: Awaited<ReturnType<typeof startInjected>>

  beforeAll(async () => {
    injected = await startInjected()
  })

  afterAll(() => injected?.stop())

  for (const { name, run } of storeContract((clock) => injected.create(clock), { traces: 1_000 }))
    test(name, run, 120_000)
})
