import fc from 'fast-check'
import { createLimiter, tokenBucket } from 'sluice'
import { describe, expect, it } from 'vitest'
import { BY_ALGORITHM, larger, RUNS, someOfNothing, stepCost } from './arbitraries.js'
import { ExactClock, probe } from './asking.js'
import { KEY, live, lives } from './lives.js'

describe('law 4: a clock that steps back by S', () => {
  const stepsBack = fc.record({
    eighths: fc.integer({ min: 0, max: 40 }),
    offUs: fc.integer({ min: 0, max: 5_000 }),
    cost: fc.constantFrom(1, 1, 2, 3, -1, -2),
    share: fc.integer({ min: 0, max: 1_000 }),
    noiseUs: fc.constant(0),
  })

  for (const [algorithm, limits] of Object.entries(BY_ALGORITHM)) {
    it(`adds no unit to a ${algorithm}, and lengthens any wait by at most S`, () => {
      fc.assert(
        fc.property(lives(someOfNothing(limits)), stepsBack, (life, raw) => {
          const { store, clock, given } = live(life)
          const cost = stepCost(raw, given)
          const ask = () => probe(store, 'life', given.limit, KEY, cost)
          const before = ask()
          const wantedUs = (given.scaleUs * BigInt(raw.eighths)) / 8n + BigInt(raw.offUs)
          const nowUs = clock.us
          clock.us = larger(nowUs - wantedUs, 0n)
          const stepUs = nowUs - clock.us
          const after = ask()
          const stepMs = Math.ceil(Number(stepUs) / 1000)
          expect(after.remaining).toBeLessThanOrEqual(before.remaining)
          if (!before.allowed) expect(after.allowed).toBe(false)
          expect(after.retryAfterMs).toBeLessThanOrEqual(before.retryAfterMs + stepMs)
          expect(after.nextUnitAfterMs).toBeLessThanOrEqual(before.nextUnitAfterMs + stepMs)
          expect(after.resetAfterMs).toBeLessThanOrEqual(before.resetAfterMs + stepMs)
          if (before.allowed && after.allowed) {
            // Delays are fractions of a millisecond, exact to a microsecond.
            expect(after.delayMs).toBeLessThanOrEqual(before.delayMs + stepMs + 0.001)
          }
        }),
        RUNS,
      )
    })

    it(`changes no answer of a ${algorithm} once the clock is where it was`, () => {
      fc.assert(
        fc.property(lives(someOfNothing(limits)), stepsBack, (life, raw) => {
          const { store, clock, given } = live(life)
          const ask = () => probe(store, 'life', given.limit, KEY, stepCost(raw, given))
          const before = ask()
          const nowUs = clock.us
          clock.us = larger(nowUs - (given.scaleUs * BigInt(raw.eighths)) / 8n - BigInt(raw.offUs), 0n)
          ask()
          clock.us = nowUs
          expect(ask()).toEqual(before)
        }),
        RUNS,
      )
    })
  }

  it('by an hour delays the refill of a token bucket by an hour, and takes no token', () => {
    const clock = new ExactClock(1_745_000_100_000_000n)
    const limiter = createLimiter({ limit: tokenBucket({ capacity: 2, refill: '1/s' }), clock })
    limiter.tryAcquire(KEY)
    clock.us -= 3_600_000_000n
    expect(limiter.tryAcquire(KEY)).toMatchObject({ allowed: true, remaining: 0, nextUnitAfterMs: 3_601_000 })
    expect(limiter.tryAcquire(KEY)).toMatchObject({ allowed: false, retryAfterMs: 3_601_000 })
  })
})
