import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import {
  fixedWindow,
  LeasedBucket,
  quotaOf,
  slidingWindow,
  type TokenBucket,
  tokenBucket,
} from '../../src/limits/index.js'
import { RUNS } from './arbitraries.js'
import { assertLaw, fleetLives, type Lending, liveThrough } from './lending-life.js'
import { type LeasableLimit, LendingModel } from './lending-model.js'

const LIMITS: readonly LeasableLimit[] = [
  tokenBucket({ capacity: 1, refill: '1/s' }),
  tokenBucket({ capacity: 5, refill: '10/s' }),
  tokenBucket({ capacity: 30, refill: '7/3s' }),
  tokenBucket({ capacity: 40, refill: '1000/s' }),
  fixedWindow({ quota: 8, window: '1s' }),
  fixedWindow({ quota: 30, window: '1m' }),
  slidingWindow({ quota: 8, window: '1s' }),
  slidingWindow({ quota: 30, window: '700ms', slices: 7 }),
  slidingWindow({ quota: 20, window: '30s', slices: 3 }),
]

function lendingOf(limit: LeasableLimit, model: LendingModel): Lending {
  return {
    setTime: (nowUs) => {
      model.nowUs = nowUs
    },
    exchange: (request) => model.exchange(limit, request),
    decideOne: () => model.decide(limit, 1).allowed,
    check: () => limit.algorithm === 'token-bucket' && checkBucket(limit, model),
  }
}

/** Tokens and held units together never exceed the capacity. */
function checkBucket(limit: TokenBucket, { words, nowUs }: LendingModel): void {
  if (words === undefined) return
  const bucket = new LeasedBucket(limit)
  const state = bucket.read(words)
  for (const us of [nowUs, nowUs + 1, nowUs + 700_000, nowUs + 60_000_000]) {
    bucket.advance(state, us)
    assert(state.tokens + (state.newer.held + state.older.held) * bucket.partsPerUnit <= bucket.full)
  }
}

describe.each(LIMITS)('a wait that a lender of $algorithm $capacity$quota tells', (limit) => {
  it('is honest: if nothing more happens, the same cost fits then, and not a millisecond earlier', async () => {
    await fc.assert(
      fc.asyncProperty(fleetLives, fc.integer({ min: 1, max: quotaOf(limit) }), async (life, cost) => {
        const model = new LendingModel(limit.algorithm === 'token-bucket', { guardsEnd: true })
        await liveThrough(lendingOf(limit, model), life)
        const { nowUs } = model
        const at = (us: number) => {
          model.nowUs = us
          return model.peek(limit, cost)
        }
        const { allowed, retryAfterMs, resetAfterMs } = at(nowUs)
        if (!allowed) assert(!at(nowUs + (retryAfterMs - 1) * 1_000).allowed || retryAfterMs === 1)
        assert(at(nowUs + retryAfterMs * 1_000).allowed)
        assert.equal(at(nowUs + resetAfterMs * 1_000).remaining, quotaOf(limit))
      }),
      RUNS,
    )
  })
})

describe.each(LIMITS)('a fleet that holds leases of $algorithm $capacity$quota keeps the law of the limit', (limit) => {
  it('whatever nodes ask, spend and return, die, lose answers, and send twice, at once or long after', async () => {
    await fc.assert(
      fc.asyncProperty(fleetLives, async (life) => {
        const model = new LendingModel(limit.algorithm === 'token-bucket', { guardsEnd: true })
        assertLaw(limit, await liveThrough(lendingOf(limit, model), life))
      }),
      RUNS,
    )
  })
})
