import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../src/index.js'
import { microseconds } from '../../src/limits/index.js'
import { checkTrace } from '../../src/testing/check-trace.js'
import { ManualClock } from '../../src/testing/manual-clock.js'
import { randomTrace } from '../../src/testing/random-trace.js'
import { ReferenceStore } from '../../src/testing/reference-store.js'

const TRACES = 1_000

describe('the memory store answers exactly as the reference', () => {
  it('treats a state as gone once it is whole for the limit that wrote it last, swept or not', async () => {
    for (let seed = 1; seed <= TRACES; seed++)
      await checkTrace((clock) => memoryStore({ clock }), seed, { isExact: true })
  })

  it('decides one demand by decideOne as by decide', () => {
    for (let seed = 1; seed <= TRACES; seed++) {
      const clock = new ManualClock(1_745_000_100_000 + seed * 1_234.567)
      const reference = new ReferenceStore(clock)
      const [alone, listed] = [memoryStore({ clock }), memoryStore({ clock })]
      const stores = [reference, alone, listed]
      for (const [index, { advanceMs, call, demands, durationUs }] of randomTrace(seed, 60).entries()) {
        // A store may have forgotten a whole state, which shows when the clock steps back.
        const whole = advanceMs < 0 ? reference.forgettable() : []
        for (const { name, key } of whole) for (const store of stores) store.reset(name, key)
        clock.advance(advanceMs)
        for (const { name, limit, key, cost } of demands) {
          const demand = { name, limit, key, cost }
          const at = `series ${seed}, call ${index}`
          if (call === 'block') for (const store of stores) store.block(name, key, durationUs)
          else if (call === 'reset') for (const store of stores) store.reset(name, key)
          else if (call === 'charge' || call === 'change') for (const store of stores) store.charge(demand)
          else if (call === 'decide') {
            const expected = reference.decideOne(name, limit, key, cost)
            expect(alone.decideOne(name, limit, key, cost), at).toEqual(expected)
            expect(listed.decide([demand]).decisions, at).toEqual([expected])
          } else {
            const taken = { atUs: microseconds(clock.now()), cost, delayMs: 0 }
            for (const store of stores) store.refund(demand, call === 'refund' ? undefined : taken)
          }
        }
      }
    }
  })
})
