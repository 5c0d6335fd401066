import fc from 'fast-check'
import type { Decision } from 'sluice'
import { describe, expect, it } from 'vitest'
import { BY_ALGORITHM, RUNS } from './arbitraries.js'
import { KEY, live, lives } from './lives.js'

/** Costs around what a quota may give, most of them small. */
const costs = (quota: number, share: number) => [0, 1, 2, Math.ceil((quota * share) / 1_000), quota, quota + 1]

function outcome({ allowed, retryAfterMs, delayMs }: Decision): object {
  return { allowed, retryAfterMs, delayMs }
}

describe('a peek, after debts, blocks, changed limits and steps back', () => {
  for (const [algorithm, limits] of Object.entries(BY_ALGORITHM)) {
    it(`says what tryAcquire of a ${algorithm} then says, and leaves no trace`, () => {
      fc.assert(
        fc.property(
          lives(limits),
          fc.integer({ min: 0, max: 1_000 }),
          fc.integer({ min: 0, max: 5 }),
          (life, share, which) => {
            const { limiter, given } = live(life)
            const options = costs(Number(given.quota), share)
            const peeked = options.map((cost) => limiter.peek(KEY, { cost }))
            expect(options.map((cost) => limiter.peek(KEY, { cost }))).toEqual(peeked)
            const cost = options[which]
            const decision = limiter.tryAcquire(KEY, { cost })
            expect(outcome(peeked[which])).toEqual(outcome(decision))
            // The same life without the peeks.
            expect(live(life).limiter.tryAcquire(KEY, { cost })).toEqual(decision)
          },
        ),
        RUNS,
      )
    })

    it(`describes the units of a ${algorithm} as they stand, whatever its cost`, () => {
      fc.assert(
        fc.property(lives(limits), fc.integer({ min: 0, max: 1_000 }), (life, share) => {
          const { limiter, given } = live(life)
          const states = costs(Number(given.quota), share).map((cost) => {
            const { remaining, nextUnitAfterMs, resetAfterMs } = limiter.peek(KEY, { cost })
            return { remaining, nextUnitAfterMs, resetAfterMs }
          })
          for (const state of states) expect(state).toEqual(states[0])
        }),
        RUNS,
      )
    })

    if (algorithm === 'concurrency') continue
    it(`after set says that exactly so many units of a ${algorithm} are left`, () => {
      fc.assert(
        fc.property(lives(limits), fc.integer({ min: 0, max: 1_000 }), (life, share) => {
          const { limiter, given } = live(life)
          // A block stays, and leaves nothing.
          const isBlocked = limiter.set(KEY, { remaining: 1 }).remaining === 0
          const remaining = Math.floor((Number(given.quota) * share) / 1_000)
          const answer = limiter.set(KEY, { remaining })
          expect(limiter.peek(KEY)).toEqual(answer)
          expect(answer.remaining).toBe(isBlocked ? 0 : remaining)
          expect(limiter.tryAcquire(KEY, { cost: remaining + 1 }).allowed).toBe(false)
          expect(limiter.tryAcquire(KEY, { cost: remaining }).allowed).toBe(!isBlocked)
          expect(limiter.tryAcquire(KEY).allowed).toBe(false)
        }),
        RUNS,
      )
    })
  }
})
