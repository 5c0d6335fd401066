import assert from 'node:assert/strict'
import {
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
  unlimited,
} from '../limits/index.js'
import { demand, nameOf, type StoreRules } from './store-rules.js'

const bucket = tokenBucket({ capacity: 5, refill: '1/s' })

const EVERYTHING = {
  allowed: true,
  quota: Infinity,
  remaining: Infinity,
  retryAfterMs: 0,
  nextUnitAfterMs: 0,
  resetAfterMs: 0,
  delayMs: 0,
}

/** Pairs of limits that share a state: the second gives nothing. */
export const CUT_TO_0: readonly (readonly [Limit, Limit])[] = [
  [bucket, tokenBucket({ capacity: 0, refill: '1/s' })],
  [leakyBucket({ capacity: 5, drain: '1/s' }), leakyBucket({ capacity: 0, drain: '1/s' })],
  [fixedWindow({ quota: 5, window: '1m' }), fixedWindow({ quota: 0, window: '1m' })],
  [slidingWindow({ quota: 5, window: '1m' }), slidingWindow({ quota: 0, window: '1m' })],
  [slidingWindow({ quota: 5, window: '1m', slices: 3 }), slidingWindow({ quota: 0, window: '1m', slices: 3 })],
  [slidingLog({ quota: 5, window: '1m' }), slidingLog({ quota: 0, window: '1m' })],
  [concurrency({ max: 5, ttl: '1m' }), concurrency({ max: 0, ttl: '1m' })],
]

/** The rules of limits that give nothing or everything. */
export const extremeRules: StoreRules = {
  'a limit of 0 allows a cost of 0, and denies every other cost for ever': async (store, clock, accepts) => {
    const limits = CUT_TO_0.map(([, nothing]) => nothing).filter(accepts)
    for (const nothing of limits) {
      for (const cost of [1, 2, Number.MAX_SAFE_INTEGER]) {
        const { allowed, decisions } = await store.decide([demand(nothing, 'key', cost, nameOf(nothing))])
        assert.deepEqual([allowed, decisions[0].quota, decisions[0].remaining], [false, 0, 0], nameOf(nothing))
        assert.equal(decisions[0].retryAfterMs, Infinity, nameOf(nothing))
        assert.equal(decisions[0].resetAfterMs, 0, nameOf(nothing))
      }
      const look = await store.decide([demand(nothing, 'key', 0, nameOf(nothing))])
      assert.deepEqual([look.allowed, look.decisions[0].remaining], [true, 0], nameOf(nothing))
    }
    clock.advance(86_400_000)
    for (const nothing of limits)
      assert.equal((await store.decide([demand(nothing, 'key', 1, nameOf(nothing))])).allowed, false, nameOf(nothing))
  },
  'an unlimited key allows every cost, and charges, refunds and resets change nothing': async (store) => {
    const every = (cost: number) => demand(unlimited(), 'key', cost)
    for (const cost of [0, 1, 1_000, Number.MAX_SAFE_INTEGER]) {
      const { allowed, decisions } = await store.decide([every(cost)])
      assert.deepEqual([allowed, decisions], [true, [EVERYTHING]])
    }
    const { takenUs } = await store.decide([every(3)])
    assert.deepEqual(await store.charge(every(Number.MAX_SAFE_INTEGER)), EVERYTHING)
    assert.deepEqual(await store.refund(every(5), undefined), EVERYTHING)
    assert.deepEqual(await store.refund(every(3), { atUs: takenUs[0], cost: 3, delayMs: 0 }), EVERYTHING)
    await store.reset('test', 'key')
    assert.deepEqual((await store.decide([every(1)])).decisions, [EVERYTHING])
  },
  'an unlimited key is denied for as long as it is blocked, and reset lifts the block': async (store, clock) => {
    const look = async (cost: number) => (await store.decide([demand(unlimited(), 'key', cost)])).decisions[0]
    await store.decide([demand(unlimited())])
    await store.block('test', 'key', 10_000_000)
    clock.advance(1)
    const blocked = { ...EVERYTHING, allowed: false, remaining: 0, retryAfterMs: 9_999 }
    for (const cost of [0, 1])
      assert.deepEqual(await look(cost), { ...blocked, nextUnitAfterMs: 9_999, resetAfterMs: 9_999 })
    assert.equal((await store.charge(demand(unlimited()))).allowed, false)
    clock.advance(9_999)
    assert.deepEqual(await look(1), EVERYTHING)
    await store.block('test', 'key', 10_000_000)
    await store.reset('test', 'key')
    assert.deepEqual(await look(1), EVERYTHING)
  },
  'a key that is blocked stays blocked if its limit becomes unlimited': async (store) => {
    await store.decide([demand(bucket)])
    await store.block('test', 'key', 10_000_000)
    assert.equal((await store.decide([demand(unlimited())])).allowed, false)
  },
  'an unlimited demand leaves the other demands of its request as they are': async (store) => {
    const request = [
      demand(unlimited(), 'key', 4, 'all'),
      demand(bucket, 'key', 4),
      demand(unlimited(), 'key', 1, 'all'),
    ]
    const first = await store.decide(request)
    assert.deepEqual([first.allowed, first.decisions[1].remaining], [true, 1])
    const second = await store.decide(request)
    assert.deepEqual([second.allowed, second.decisions[1].remaining], [false, 1])
    assert.deepEqual([second.decisions[0], second.decisions[2]], [EVERYTHING, EVERYTHING])
  },
}
