import fc from 'fast-check'
import { createLimiter, memoryStore } from 'sluice'
import { shareOf } from 'sluice/limits'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { BY_ALGORITHM, ofNothing, rawSteps, series, stepUs } from './arbitraries.js'

const START = 1_745_000_000_000
const RUNS = { numRuns: 300 }
const deeds = fc.array(fc.constantFrom('charge', 'refund', 'ask', 'ask'), { minLength: 40, maxLength: 40 })

describe('a limit of 0', () => {
  for (const [algorithm, limits] of Object.entries(BY_ALGORITHM)) {
    const nothing = ofNothing(limits)

    it(`of a ${algorithm} denies every cost above 0 for ever, and allows a cost of 0, at any time`, () => {
      fc.assert(
        fc.property(series(nothing, { back: true }), ({ given, asks }) => {
          const clock = new ManualClock(asks[0].nowMs)
          const limiter = createLimiter({ limit: given.limit, clock })
          for (const { nowMs, cost } of asks) {
            clock.advance(nowMs - clock.now())
            const decision = limiter.tryAcquire('key', { cost })
            expect(decision).toEqual({
              allowed: cost === 0,
              quota: 0,
              remaining: 0,
              retryAfterMs: cost === 0 ? 0 : Infinity,
              nextUnitAfterMs: 0,
              resetAfterMs: 0,
              delayMs: 0,
            })
          }
        }),
        RUNS,
      )
    })

    it(`of a ${algorithm} never has a unit after charges and refunds, and tells honestly when its debt is paid`, () => {
      fc.assert(
        fc.property(nothing, rawSteps(false), deeds, ({ limit, ...given }, steps, deeds) => {
          const clock = new ManualClock(START)
          const limiter = createLimiter({ limit, store: memoryStore({ clock }), name: 'nothing' })
          for (const [i, step] of steps.entries()) {
            clock.advance(Math.floor(Number(stepUs(step, { limit, ...given })) / 1_000))
            if (deeds[i] === 'charge') limiter.charge('key', { cost: step.share % 5 })
            if (deeds[i] === 'refund') limiter.refund('key', { cost: step.share % 5 })
            const { allowed, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs } = limiter.tryAcquire('key')
            expect([allowed, remaining, retryAfterMs]).toEqual([false, 0, Infinity])
            expect(nextUnitAfterMs).toBe(resetAfterMs)
          }
          const debt = limiter.peek('key', { cost: 0 })
          if (debt.allowed) return
          expect(debt.retryAfterMs).toBeGreaterThan(0)
          clock.advance(debt.retryAfterMs)
          expect(limiter.peek('key', { cost: 0 }).allowed).toBe(true)
        }),
        RUNS,
      )
    })

    it(`of a ${algorithm} is its own share`, () => {
      fc.assert(
        fc.property(nothing, fc.integer({ min: 1, max: 1_000_000 }), ({ limit }, instances) => {
          expect(shareOf(limit, instances)).toBe(limit)
        }),
      )
    })
  }
})
