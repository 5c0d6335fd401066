import fc from 'fast-check'
import type { Decision } from 'sluice'
import { describe, expect, it } from 'vitest'
import { BY_ALGORITHM, RUNS } from './arbitraries.js'
import { KEY, type Lived, live, lives } from './lives.js'

/** Longer waits are not checked: a debt under a much slower limit may take longer than a clock can show. */
const LONGEST_MS = 10 ** 12

describe('law 3: waits are honest, after debts, blocks, changed limits and steps back', () => {
  for (const [algorithm, limits] of Object.entries(BY_ALGORITHM)) {
    it(`a ${algorithm} allows a denied request after retryAfterMs, and not 1 ms before`, () => {
      fc.assert(
        fc.property(lives(limits), fc.integer({ min: 0, max: 1_000 }), (life, share) => {
          const lived = live(life)
          const { limiter, clock } = lived
          const cost = deniedCost(lived, share)
          const denied = limiter.tryAcquire(KEY, { cost })
          expect(denied.allowed).toBe(false)
          const { retryAfterMs, quota } = denied
          expect(retryAfterMs === Infinity).toBe(cost > quota)
          if (cost > quota) return
          expect(retryAfterMs).toBeGreaterThanOrEqual(1)
          fc.pre(retryAfterMs < LONGEST_MS)
          clock.us += BigInt(retryAfterMs - 1) * 1000n
          if (retryAfterMs > 1) expect(limiter.tryAcquire(KEY, { cost })).toMatchObject({ retryAfterMs: 1 })
          clock.us += 1000n
          expect(limiter.tryAcquire(KEY, { cost })).toMatchObject({ allowed: true, retryAfterMs: 0 })
        }),
        RUNS,
      )
    })

    it(`a ${algorithm} has one more unit left after nextUnitAfterMs, and not 1 ms before`, () => {
      fc.assert(
        fc.property(lives(limits), (life) => {
          const { limiter, clock } = live(life)
          const { remaining, nextUnitAfterMs, quota } = limiter.peek(KEY)
          fc.pre(nextUnitAfterMs < LONGEST_MS)
          expect(nextUnitAfterMs === 0).toBe(remaining === quota)
          if (nextUnitAfterMs === 0) return
          clock.us += BigInt(nextUnitAfterMs - 1) * 1000n
          if (nextUnitAfterMs > 1) expect(limiter.peek(KEY).remaining).toBe(remaining)
          clock.us += 1000n
          expect(limiter.peek(KEY).remaining).toBeGreaterThan(remaining)
        }),
        RUNS,
      )
    })

    it(`a ${algorithm} is whole after resetAfterMs, and not 1 ms before`, () => {
      fc.assert(
        fc.property(lives(limits), (life) => {
          const { limiter, clock } = live(life)
          const { resetAfterMs, remaining, quota } = limiter.peek(KEY)
          fc.pre(resetAfterMs < LONGEST_MS)
          expect(resetAfterMs === 0).toBe(remaining === quota)
          if (resetAfterMs === 0) return
          clock.us += BigInt(resetAfterMs - 1) * 1000n
          if (resetAfterMs > 1) expect(limiter.peek(KEY).remaining).toBeLessThan(quota)
          clock.us += 1000n
          expect(limiter.peek(KEY)).toEqual(whole(quota))
        }),
        RUNS,
      )
    })
  }

  it('a key in debt or blocked is denied even a cost of 0, for exactly retryAfterMs', () => {
    fc.assert(
      fc.property(lives(fc.oneof(...Object.values(BY_ALGORITHM))), ({ steps, ...life }) => {
        const last = steps[steps.length - 1]
        const { limiter, clock } = live({ ...life, steps: [...steps, { ...last, deed: 'charge', cost: -3 }] })
        const { allowed, retryAfterMs } = limiter.tryAcquire(KEY, { cost: 0 })
        fc.pre(!allowed && retryAfterMs < LONGEST_MS)
        clock.us += BigInt(retryAfterMs - 1) * 1000n
        if (retryAfterMs > 1) expect(limiter.tryAcquire(KEY, { cost: 0 }).allowed).toBe(false)
        clock.us += 1000n
        expect(limiter.tryAcquire(KEY, { cost: 0 }).allowed).toBe(true)
      }),
      RUNS,
    )
  })

  it('a request with several demands is allowed after the longest retryAfterMs of its decisions, and not 1 ms before', () => {
    const groups = fc.tuple(
      lives(fc.oneof(...Object.values(BY_ALGORITHM)), { troubled: false, back: false }),
      fc.oneof(...Object.values(BY_ALGORITHM)),
      fc.integer({ min: 0, max: 1_000 }),
    )
    fc.assert(
      fc.property(groups, ([life, other, share]) => {
        const lived = live(life)
        const cost = Math.min(deniedCost(lived, share), Number(lived.given.quota))
        const otherCost = Math.ceil((Number(other.quota) * (1 + share)) / 1001)
        const group = [
          { name: 'other', limit: other.limit, key: KEY, cost: otherCost },
          { name: 'life', limit: lived.given.limit, key: KEY, cost },
        ]
        lived.store.charge({ ...group[0], cost: Number(other.quota) })
        const { allowed, decisions } = lived.store.decide(group)
        const retryAfterMs = Math.max(...decisions.map((decision) => decision.retryAfterMs))
        expect(allowed).toBe(false)
        lived.clock.us += BigInt(retryAfterMs - 1) * 1000n
        if (retryAfterMs > 1) expect(lived.store.decide(group).allowed).toBe(false)
        lived.clock.us += 1000n
        expect(lived.store.decide(group).allowed).toBe(true)
      }),
      RUNS,
    )
  })
})

/** A cost that is denied now and, if there is such a cost, allowed later. */
function deniedCost({ limiter }: Lived, share: number): number {
  const { remaining, quota, allowed } = limiter.peek(KEY, { cost: 0 })
  if (!allowed) return Math.floor((quota * share) / 1000)
  return remaining + 1 + Math.floor((Math.max(0, quota - remaining - 1) * share) / 1000)
}

function whole(quota: number): Decision {
  return {
    allowed: true,
    quota,
    remaining: quota,
    retryAfterMs: 0,
    nextUnitAfterMs: 0,
    resetAfterMs: 0,
    delayMs: 0,
  }
}
