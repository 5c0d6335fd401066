import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createLimiter, type Demand, type MemoryStore, memoryStore, tokenBucket } from 'sluice'
import { describe, expect, it } from 'vitest'
import { anyLimit, BY_ALGORITHM, type LimitCase, RUNS, rawSteps, starts, startUs, stepCost } from './arbitraries.js'
import { ExactClock, probe } from './asking.js'
import { KEY, live, lives } from './lives.js'

describe('law 2: a denied request takes nothing', () => {
  for (const [algorithm, limits] of Object.entries(BY_ALGORITHM)) {
    it(`a denied request of a ${algorithm} changes nothing, now or later`, () => {
      fc.assert(
        fc.property(lives(limits), fc.integer({ min: 0, max: 1_000 }), (life, share) => {
          const { limiter, clock } = live(life)
          const before = limiter.peek(KEY)
          const cost = before.remaining + 1 + Math.floor((before.quota * share) / 500)
          expect(limiter.tryAcquire(KEY, { cost }).allowed).toBe(false)
          expect(limiter.peek(KEY)).toEqual(before)
          const reservation = limiter.reserve(KEY, { cost })
          reservation.settle(0)
          reservation.cancel()
          expect(limiter.peek(KEY)).toEqual(before)
          // A later look is the same as if the denied request had not been made.
          clock.us += BigInt(Math.min(before.nextUnitAfterMs, 10 ** 9)) * 1000n
          const untroubled = live(life)
          untroubled.clock.us = clock.us
          expect(limiter.peek(KEY)).toEqual(untroubled.limiter.peek(KEY))
        }),
        RUNS,
      )
    })
  }

  it('a denied request or a look leaves no state of a new key', () => {
    const store = memoryStore()
    const limiter = createLimiter({ name: 'test', limit: tokenBucket({ capacity: 5, refill: '1/s' }), store })
    for (let i = 0; i < 100; i++) limiter.tryAcquire(`key ${i}`, { cost: 6 })
    for (let i = 0; i < 100; i++) limiter.peek(`key ${i}`)
    expect(store.size).toBe(0)
  })
})

describe('law 2: a request with several demands', () => {
  const groups = fc.record({
    limits: fc.tuple(anyLimit, anyLimit, anyLimit),
    start: starts,
    steps: rawSteps(false, 10),
    demands: fc.array(
      fc.array(
        fc.record({
          limit: fc.integer({ min: 0, max: 2 }),
          key: fc.constantFrom('a', 'b'),
          step: rawSteps(false, 1),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      { minLength: 10, maxLength: 10 },
    ),
  })

  it('takes from all of them or from none, and adds up demands for the same state first', () => {
    fc.assert(
      fc.property(groups, ({ limits, start, steps, demands }) => {
        const clock = new ExactClock(startUs(start, limits[0]))
        const [together, oneByOne] = [memoryStore({ clock }), memoryStore({ clock })]
        for (const [i, step] of steps.entries()) {
          clock.us += (limits[0].scaleUs * BigInt(step.eighths)) / 8n + BigInt(step.offUs)
          const group = demands[i].map(({ limit, key, step }) =>
            demandOf(limits, limit, key, stepCost(step[0], limits[limit])),
          )
          const sums = summed(group)
          const fits = sums.map(({ name, limit, key, cost }) => probe(oneByOne, name, limit, key, cost).allowed)
          const before = peeks(together, limits)
          const { allowed, decisions } = together.decide(group)
          assert.equal(allowed, !fits.includes(false))
          const sumOf = ({ name, key }: Demand) => sums.findIndex((sum) => sum.name === name && sum.key === key)
          assert.deepEqual(
            decisions.map((decision) => decision.allowed),
            group.map((demand) => fits[sumOf(demand)]),
          )
          if (!allowed) assert.deepEqual(peeks(together, limits), before)
          else {
            const taken = sums.map(({ name, limit, key, cost }) => oneByOne.decideOne(name, limit, key, cost))
            assert.deepEqual(
              decisions,
              group.map((demand) => taken[sumOf(demand)]),
            )
          }
          assert.deepEqual(peeks(together, limits), peeks(oneByOne, limits))
        }
      }),
      RUNS,
    )
  })

  it('is denied as a whole if one of its keys is blocked', () => {
    const limit = tokenBucket({ capacity: 5, refill: '1/s' })
    const store = memoryStore({ clock: new ExactClock(10n ** 15n) })
    const demand = (key: string) => ({ name: 'test', limit, key, cost: 2 })
    store.block('test', 'b', 1_000_000)
    expect(store.decide([demand('a'), demand('b')])).toMatchObject({
      allowed: false,
      decisions: [
        { allowed: true, remaining: 5, retryAfterMs: 0 },
        { allowed: false, remaining: 0, retryAfterMs: 1_000 },
      ],
    })
    expect(store.decide([demand('a')]).decisions[0].remaining).toBe(3)
  })

  it('is denied for ever if its demands add up to more than a safe integer', () => {
    const limit = tokenBucket({ capacity: 5, refill: '1/s' })
    const store = memoryStore()
    const demand = { name: 'test', limit, key: 'a', cost: Number.MAX_SAFE_INTEGER }
    const { allowed, decisions } = store.decide([demand, demand, demand])
    expect([allowed, ...decisions.map(({ retryAfterMs }) => retryAfterMs)]).toEqual([
      false,
      Infinity,
      Infinity,
      Infinity,
    ])
    expect(store.decide([{ ...demand, cost: 5 }]).allowed).toBe(true)
  })
})

function demandOf(limits: readonly LimitCase[], index: number, key: string, cost: number): Demand {
  return { name: `limit ${index}`, limit: limits[index].limit, key, cost }
}

/** One demand for each state, with the sum of the costs of all demands for it. */
function summed(group: readonly Demand[]): readonly Demand[] {
  const sums = new Map<string, Demand>()
  for (const demand of group) {
    const id = `${demand.name} ${demand.key}`
    sums.set(id, { ...demand, cost: demand.cost + (sums.get(id)?.cost ?? 0) })
  }
  return [...sums.values()]
}

function peeks(store: MemoryStore, limits: readonly LimitCase[]) {
  return limits.flatMap(({ limit }, i) => ['a', 'b'].map((key) => store.decideOne(`limit ${i}`, limit, key, 0)))
}
