import assert from 'node:assert/strict'
import fc, { type Arbitrary } from 'fast-check'
import { type Arithmetic, arithmeticOf, type Words } from 'sluice/limits'
import { describe, it } from 'vitest'
import {
  BY_ALGORITHM,
  givenQuota,
  type LimitCase,
  ofNothing,
  RUNS,
  rawSteps,
  stepCost,
  stepUs,
  tokenBuckets,
} from '../property/arbitraries.js'

const START_US = 1_745_000_100_000_000

/** `tryTake` must give the decision and leave the state that `fits`, `take` and `decision` give and leave. */
function expectGeneralForm(arithmetic: Arithmetic, state: Words, nowUs: number, cost: number): void {
  const [quick, general] = [state.slice(), state.slice()]
  const allowed = arithmetic.fits(general, 0, nowUs, cost)
  if (allowed && cost > 0) arithmetic.take(general, 0, nowUs, cost)
  const expected = arithmetic.decision(general, 0, nowUs, cost, allowed)
  assert.deepEqual(arithmetic.tryTake(quick, 0, nowUs, cost), expected)
  assert.deepEqual(quick, general)
}

describe('tryTake', () => {
  for (const [algorithm, limits] of Object.entries(BY_ALGORITHM)) {
    it(`of a ${algorithm} equals fits, take and decision, after debts, refunds, steps back and takes of another version`, () => {
      const deeds = fc.array(fc.constantFrom('take', 'take', 'fit', 'fit', 'refund', 'other'), {
        minLength: 20,
        maxLength: 20,
      })
      fc.assert(
        fc.property(
          pairs(fc.oneof({ weight: 4, arbitrary: limits }, { weight: 1, arbitrary: ofNothing(limits) })),
          rawSteps(true, 20),
          deeds,
          ([given, other], steps, deeds) => {
            const [arithmetic, version] = [arithmeticOf(given.limit), arithmeticOf(other.limit)]
            let state: Words = new Float64Array(arithmetic.words)
            let nowUs = START_US
            arithmetic.start(state, 0, nowUs)
            for (const [i, step] of steps.entries()) {
              nowUs += Number(stepUs(step, given))
              const cost = stepCost(step, given)
              const writer = deeds[i] === 'other' ? version : arithmetic
              state = withRoom(writer, state, nowUs, cost)
              expectGeneralForm(arithmetic, withRoom(arithmetic, state, nowUs, cost), nowUs, cost)
              if (deeds[i] === 'refund') writer.refund(state, 0, nowUs, cost, undefined)
              else if (deeds[i] !== 'fit' || writer.fits(state, 0, nowUs, cost)) writer.take(state, 0, nowUs, cost)
            }
          },
        ),
        RUNS,
      )
    })
  }

  it('of a token bucket equals fits, take and decision in any state, also with debts and times ahead of the clock', () => {
    const units = fc.oneof(
      fc.integer({ min: -20, max: 120 }),
      fc.double({ min: -20, max: 120, noNaN: true }),
      fc.constantFrom(-1e15, -1e-9, -0, 1e-9, 1e15),
    )
    const aheadUs = fc.oneof(fc.constant(0), fc.integer({ min: -10_000_000, max: 10_000_000 }), fc.constant(-START_US))
    fc.assert(
      fc.property(
        fc.oneof(tokenBuckets, ofNothing(tokenBuckets)),
        units,
        aheadUs,
        rawSteps(false, 1),
        (given, units, aheadUs, [step]) => {
          const state = Float64Array.of(units, START_US + aheadUs)
          expectGeneralForm(arithmeticOf(given.limit), state, START_US, stepCost(step, given))
          expectGeneralForm(arithmeticOf(given.limit), state, START_US, Number.MAX_SAFE_INTEGER)
        },
      ),
      { numRuns: 10_000 },
    )
  })
})

/** Two limits that share a state: any two buckets or concurrency limits, or a window with two quotas. */
function pairs(limits: Arbitrary<LimitCase>): Arbitrary<readonly [LimitCase, LimitCase]> {
  return fc
    .tuple(limits, limits)
    .map(([one, other]) => [one, 'window' in one.limit ? givenQuota(one, Number(other.quota)) : other])
}

function withRoom({ elastic }: Arithmetic, state: Words, nowUs: number, cost: number): Words {
  const size = elastic?.wordsFor(state, nowUs, cost) ?? 0
  return elastic === undefined || state.length >= size ? state : elastic.resized(state, size)
}
