import fc from 'fast-check'
import { memoryStore } from 'sluice'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FAR_LIMITS, farSeries } from '../property/far-times.js'
import { startInjected } from './injected-store.js'

let redis: Awaited<ReturnType<typeof startInjected>>

beforeAll(async () => {
  redis = await startInjected()
})

afterAll(() => redis.stop())

describe('until the last microsecond of 2255, with the longest windows and the largest quotas', () => {
  for (const [name, limits] of Object.entries(FAR_LIMITS)) {
    it(`the Lua of a ${name} decides, gives back and blocks as the memory store does`, async () => {
      const deeds = fc.array(fc.constantFrom('decide', 'decide', 'charge', 'refund'), { minLength: 8 })
      const blocksUs = fc.integer({ min: 1_000, max: 36_500 * 86_400_000_000 })
      await fc.assert(
        fc.asyncProperty(
          farSeries(limits, { back: false }),
          deeds,
          blocksUs,
          async ({ given: { limit }, asks }, deeds, blockUs) => {
            let nowMs = 0
            const clock = { now: () => nowMs }
            const memory = memoryStore({ clock })
            const store = redis.create(clock)
            for (const [i, ask] of asks.entries()) {
              nowMs = ask.nowMs
              const demand = { name: 'far', limit, key: 'key', cost: ask.cost }
              if (deeds[i] === 'charge') expect(await store.charge(demand)).toEqual(memory.charge(demand))
              else if (deeds[i] === 'refund')
                expect(await store.refund(demand, undefined)).toEqual(memory.refund(demand, undefined))
              else expect(await store.decide([demand])).toEqual(memory.decide([demand]))
            }
            memory.block('far', 'key', blockUs)
            await store.block('far', 'key', blockUs)
            const demand = { name: 'far', limit, key: 'key', cost: 1 }
            expect(await store.decide([demand])).toEqual(memory.decide([demand]))
          },
        ),
        { numRuns: 60 },
      )
    })
  }
})
