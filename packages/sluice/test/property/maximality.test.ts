import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BY_ALGORITHM, RUNS, series } from './arbitraries.js'
import { askPure, askStore } from './asking.js'
import { modelOf } from './exact-model.js'

describe('a limit is neither stricter nor looser than its law', () => {
  for (const [algorithm, limits] of Object.entries(BY_ALGORITHM)) {
    it(`a ${algorithm} denies exactly the requests that exact fractions deny, and has exactly as many units left`, () => {
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

    it(`a ${algorithm} does so on a clock that steps back, and gains nothing until the clock is where it was`, () => {
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
