import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BY_ALGORITHM, RUNS, series } from './arbitraries.js'
import { askPure, askStore } from './asking.js'
import { modelOf } from './exact-model.js'

describe('a limit is no stricter than its law, and no looser', () => {
  for (const [algorithm, limits] of Object.entries(BY_ALGORITHM)) {
    it(`a ${algorithm} denies only what exact fractions deny, and says exactly what is left`, () => {
      fc.assert(
        fc.property(series(limits, { back: false }), (asked) => {
          const model = modelOf(asked.given)
          const exact = asked.asks.map(({ us, cost }) => model(us, BigInt(cost)))
          for (const answers of [askPure(asked), askStore(asked)]) {
            expect(answers.map(({ decision }) => summary(decision))).toEqual(exact.map(summary))
          }
        }),
        RUNS,
      )
    })

    it(`a ${algorithm} does so on a clock that steps back, where nothing comes in before it is where it was`, () => {
      fc.assert(
        fc.property(series(limits, { back: true }), (asked) => {
          const model = modelOf(asked.given)
          const exact = asked.asks.map(({ us, cost }) => model(us, BigInt(cost)))
          expect(askPure(asked).map(({ decision }) => summary(decision))).toEqual(exact.map(summary))
        }),
        RUNS,
      )
    })
  }
})

function summary({ allowed, remaining }: { allowed: boolean; remaining: number | bigint }): string {
  return `${allowed ? 'allowed' : 'denied'}, ${remaining} left`
}
