import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createLimiter, type Decision, memoryStore, parseLimit, tokenBucket } from 'sluice'
import { evaluate } from 'sluice/limits'
import { describe, expect, it } from 'vitest'
import {
  anyLimit,
  BY_ALGORITHM,
  type CountedLimit,
  type LimitCase,
  RUNS,
  series,
  someOfNothing,
} from './arbitraries.js'
import { askPure } from './asking.js'
import { live, lives } from './lives.js'

const FIELDS = ['allowed', 'delayMs', 'nextUnitAfterMs', 'quota', 'remaining', 'resetAfterMs', 'retryAfterMs']

describe('a decision', () => {
  for (const [algorithm, limits] of Object.entries(BY_ALGORITHM)) {
    it(`of a ${algorithm} has whole numbers within their bounds, after any series of calls`, () => {
      fc.assert(
        fc.property(lives(someOfNothing(limits)), (life) => {
          live(life, expectSound)
        }),
        RUNS,
      )
    })
  }

  it('is a fresh object every time: changing it does not change the limit', () => {
    fc.assert(
      fc.property(lives(anyLimit), (life) => {
        const seen = new Set<Decision>()
        const vandal = live(life, (decision) => {
          assert(!seen.has(decision))
          seen.add(decision)
          for (const field of FIELDS) Object.assign(decision, { [field]: -1 })
        })
        expect(vandal.limiter.peek('key')).toEqual(live(life).limiter.peek('key'))
      }),
      RUNS,
    )
  })

  it('is not changed by later calls', () => {
    fc.assert(
      fc.property(lives(anyLimit), (life) => {
        const seen: Decision[] = []
        const copies: Decision[] = []
        live(life, (decision) => {
          seen.push(decision)
          copies.push({ ...decision })
        })
        expect(seen).toEqual(copies)
      }),
      RUNS,
    )
  })

  it('is an object of its own for each of two demands for the same state', () => {
    const demand = { name: 'test', limit: tokenBucket({ capacity: 5, refill: '1/s' }), key: 'key', cost: 1 }
    const [first, second] = memoryStore().decide([demand, demand]).decisions
    expect(first).toEqual(second)
    expect(first).not.toBe(second)
  })
})

describe('a limit as plain data', () => {
  it('is frozen, and the same after a trip through JSON', () => {
    fc.assert(
      fc.property(anyLimit, ({ limit }) => {
        const read = parseLimit(JSON.parse(JSON.stringify(limit)))
        expect(read).toStrictEqual(limit)
        expect(JSON.stringify(read)).toBe(JSON.stringify(limit))
        expect([Object.isFrozen(limit), Object.isFrozen(read)]).toEqual([true, true])
        expect(Object.getPrototypeOf(limit)).toBe(Object.prototype)
      }),
      RUNS,
    )
  })

  it('counts the same after a trip through JSON', () => {
    fc.assert(
      fc.property(series(anyLimit, { back: true }), (asked) => {
        const limit = parseLimit(JSON.parse(JSON.stringify(asked.given.limit))) as CountedLimit
        expect(askPure({ ...asked, given: { ...asked.given, limit } })).toEqual(askPure(asked))
      }),
      RUNS,
    )
  })

  it('has a state that is plain data too, with which another process can continue', () => {
    fc.assert(
      fc.property(series(anyLimit, { back: true }), (asked) => {
        let json: string | undefined
        const decisions = asked.asks.map(({ nowMs, cost }) => {
          const state = json === undefined ? undefined : JSON.parse(json)
          const next = evaluate(asked.given.limit, state, nowMs, cost)
          json = next.state === undefined ? undefined : JSON.stringify(next.state)
          return next.decision
        })
        expect(decisions).toEqual(askPure(asked).map(({ decision }) => decision))
      }),
      RUNS,
    )
  })

  it('can be given to two limiters, which then count apart', () => {
    const limit = tokenBucket({ capacity: 1, refill: '1/h' })
    const [one, other] = [createLimiter({ limit }), createLimiter({ limit })]
    expect([one, other].map((limiter) => limiter.tryAcquire('key').allowed)).toEqual([true, true])
  })
})

function expectSound(decision: Decision, cost: number, { quota, limit }: LimitCase): void {
  const { allowed, remaining, retryAfterMs, nextUnitAfterMs, resetAfterMs, delayMs } = decision
  assert.deepEqual(Object.keys(decision).sort(), FIELDS)
  assert.equal(BigInt(decision.quota), quota)
  assert(Number.isSafeInteger(remaining) && remaining >= 0 && remaining <= decision.quota, 'remaining')
  assert(Number.isInteger(nextUnitAfterMs) && nextUnitAfterMs >= 0, 'nextUnitAfterMs')
  assert(Number.isInteger(resetAfterMs) && resetAfterMs >= nextUnitAfterMs, 'resetAfterMs')
  if (allowed) assert.equal(retryAfterMs, 0)
  else if (cost > decision.quota) assert.equal(retryAfterMs, Infinity)
  else assert(Number.isInteger(retryAfterMs) && retryAfterMs >= 1, 'retryAfterMs')
  assert(delayMs >= 0 && Number.isFinite(delayMs), 'delayMs')
  if (limit.algorithm !== 'leaky-bucket' || !allowed) assert.equal(delayMs, 0)
}
