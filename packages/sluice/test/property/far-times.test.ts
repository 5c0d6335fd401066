import fc from 'fast-check'
import { slidingWindow } from 'sluice'
import { evaluate } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import type { LimitCase } from './arbitraries.js'
import { type Answered, admitted, askPure, askStore } from './asking.js'
import { modelOf } from './exact-model.js'
import { FAR_LIMITS, farSeries, LAST_US } from './far-times.js'

/** The exact model's answer to a request after all these answers. */
function exactly(given: LimitCase, before: readonly Answered[], us: bigint, cost: bigint) {
  const model = modelOf(given)
  for (const answer of admitted(before)) model(answer.us, BigInt(answer.cost))
  return model(us, cost)
}

it('a sliding window of a century states a wait that ends after 2255', () => {
  const limit = slidingWindow({ quota: 13, window: '36500d', align: 'first' })
  const { state } = evaluate(limit, undefined, Date.UTC(2074, 0), 13)
  const { decision } = evaluate(limit, state, Date.UTC(2074, 0, 2), 11)
  // 11 of 13 units leave after a window and 11/13 of another, counted from the first of January.
  const parts = 36_500n * 86_400_000n * 24n
  expect(BigInt(decision.retryAfterMs)).toBe((parts + 12n) / 13n - 86_400_000n)
})

describe('until the last microsecond of 2255, with the longest windows and the largest quotas', () => {
  for (const [name, limits] of Object.entries(FAR_LIMITS)) {
    it(`a ${name} decides as the exact model does`, () => {
      fc.assert(
        fc.property(farSeries(limits, { back: true }), (series) => {
          const model = modelOf(series.given)
          for (const { us, cost, decision } of askPure(series)) {
            const { allowed, remaining } = model(us, BigInt(cost))
            expect(decision).toMatchObject({ allowed, remaining: Number(remaining) })
          }
          expect(askStore(series).map(({ decision }) => decision.allowed)).toEqual(
            askPure(series).map(({ decision }) => decision.allowed),
          )
        }),
        { numRuns: 500 },
      )
    })

    it(`a ${name} states waits that are honest to the millisecond`, () => {
      fc.assert(
        fc.property(farSeries(limits, { back: true }), (series) => {
          const answers = askPure(series)
          const last = answers[answers.length - 1]
          const { quota, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs, allowed } = last.decision
          const after = (ms: number, cost = 0) =>
            exactly(series.given, answers, last.us + BigInt(ms) * 1_000n, BigInt(cost))
          // After a step back by centuries a wait may end after the last time that can be counted.
          fc.pre(BigInt(resetAfterMs) * 1_000n <= LAST_US)
          expect(nextUnitAfterMs > 0).toBe(remaining < quota)
          if (!allowed && last.cost <= quota) {
            expect(after(retryAfterMs, last.cost).allowed).toBe(true)
            if (retryAfterMs > 1) expect(after(retryAfterMs - 1, last.cost).allowed).toBe(false)
          }
          if (remaining === quota) return
          expect(Number(after(nextUnitAfterMs).remaining)).toBeGreaterThan(remaining)
          if (nextUnitAfterMs > 1) expect(Number(after(nextUnitAfterMs - 1).remaining)).toBe(remaining)
          expect(Number(after(resetAfterMs).remaining)).toBe(quota)
          if (resetAfterMs > 1) expect(Number(after(resetAfterMs - 1).remaining)).toBeLessThan(quota)
        }),
        { numRuns: 500 },
      )
    })
  }
})
