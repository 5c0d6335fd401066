import assert from 'node:assert/strict'
import {
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  type Taken,
  tokenBucket,
} from '../limits/index.js'
import type { Demand, Store } from '../stores/index.js'
import type { ManualClock } from './manual-clock.js'

const bucket = tokenBucket({ capacity: 5, refill: '1/s' })
const minute = fixedWindow({ quota: 5, window: '1m' })
const nameOf = (limit: Limit) => JSON.stringify(limit)
const demand = (limit: Limit, key = 'key', cost = 1, name = 'test'): Demand => ({ name, limit, key, cost })

/** What every store does, each a sentence and a check of it on an empty store. */
export const STORE_RULES: Readonly<Record<string, (store: Store, clock: ManualClock) => Promise<void>>> = {
  'a request of several demands takes from all of them or from none': async (store) => {
    await store.charge(demand(minute, 'b', 5, 'minute'))
    const denied = await store.decide([demand(bucket, 'a', 2), demand(minute, 'b', 1, 'minute')])
    assert.equal(denied.allowed, false)
    assert.deepEqual(
      denied.decisions.map(({ allowed }) => allowed),
      [true, false],
    )
    assert.deepEqual(
      denied.decisions.map(({ remaining }) => remaining),
      [5, 0],
    )
    const allowed = await store.decide([demand(bucket, 'a', 2), demand(minute, 'c', 1, 'minute')])
    assert.equal(allowed.allowed, true)
    assert.deepEqual(
      allowed.decisions.map(({ remaining }) => remaining),
      [3, 4],
    )
  },
  'demands that name the same state are added up first': async (store) => {
    const denied = await store.decide([demand(bucket, 'a', 3), demand(bucket, 'a', 3)])
    assert.deepEqual(
      denied.decisions.map(({ allowed }) => allowed),
      [false, false],
    )
    const allowed = await store.decide([demand(bucket, 'a', 3), demand(bucket, 'a', 2)])
    assert.deepEqual(
      allowed.decisions.map(({ remaining }) => remaining),
      [0, 0],
    )
  },
  'no demands at all are allowed': async (store) => {
    assert.deepEqual((await store.decide([])).decisions, [])
    assert.equal((await store.decide([])).allowed, true)
  },
  'names and keys are kept apart however they are joined': async (store) => {
    await store.charge(demand(bucket, 'b:c', 5, 'a'))
    for (const [name, key] of [
      ['a:b', 'c'],
      ['a', 'b'],
      ['a:b:c', 'c'],
      ['a', 'b:c '],
    ] as const) {
      assert.equal((await store.decide([demand(bucket, key, 0, name)])).decisions[0].remaining, 5, `${name} ${key}`)
    }
  },
  '__proto__, constructor and braces are keys like any other': async (store) => {
    const keys = ['__proto__', 'constructor', 'toString', '{}', '{a}b', '\0', ' ', 'ключ', '🔑', '*']
    for (const key of keys) await store.charge(demand(bucket, key, 2))
    for (const key of keys) assert.equal((await store.decide([demand(bucket, key, 0)])).decisions[0].remaining, 3, key)
    await store.reset('test', '*')
    assert.equal((await store.decide([demand(bucket, '{}', 0)])).decisions[0].remaining, 3)
  },
  'a lone surrogate is the replacement character': async (store) => {
    await store.charge(demand(bucket, 'a\ud800', 2))
    assert.equal((await store.decide([demand(bucket, 'a\ufffd', 0)])).decisions[0].remaining, 3)
    assert.equal((await store.decide([demand(bucket, 'a\udc01', 0)])).decisions[0].remaining, 3)
  },
  'long keys that differ in one character are two keys': async (store) => {
    const long = 'k'.repeat(100_000)
    await store.charge(demand(bucket, `${long}1`, 2))
    assert.equal((await store.decide([demand(bucket, `${long}1`, 0)])).decisions[0].remaining, 3)
    assert.equal((await store.decide([demand(bucket, `${long}2`, 0)])).decisions[0].remaining, 5)
    assert.equal((await store.decide([demand(bucket, long, 0)])).decisions[0].remaining, 5)
  },
  'a cost beyond the quota is never allowed and pins nothing': async (store) => {
    for (const limit of ONE_OF_EACH) {
      const { decisions } = await store.decide([demand(limit, 'k', Number.MAX_SAFE_INTEGER, nameOf(limit))])
      assert.equal(decisions[0].retryAfterMs, Infinity)
      assert.equal(decisions[0].remaining, decisions[0].quota)
      assert.equal((await store.decide([demand(limit, 'k', 1, nameOf(limit))])).allowed, true)
    }
  },
  'a charge may leave a debt, and a key in debt is denied even a cost of 0': async (store, clock) => {
    for (const limit of ONE_OF_EACH) {
      await store.charge(demand(limit, 'k', 8, nameOf(limit)))
      const [decision] = (await store.decide([demand(limit, 'k', 0, nameOf(limit))])).decisions
      assert.equal(decision.allowed, false, limit.algorithm)
      assert.equal(decision.remaining, 0)
      assert.ok(decision.retryAfterMs > 0 && decision.retryAfterMs <= 120_000, nameOf(limit))
    }
    clock.advance(120_000)
    for (const limit of ONE_OF_EACH) {
      const [decision] = (await store.decide([demand(limit, 'k', 0, nameOf(limit))])).decisions
      assert.deepEqual([decision.allowed, decision.remaining], [true, 5], nameOf(limit))
    }
  },
  'giving back never makes more than the whole quota': async (store) => {
    for (const limit of ONE_OF_EACH) {
      await store.decide([demand(limit, 'k', 2, nameOf(limit))])
      const decision = await store.refund(demand(limit, 'k', 1_000, nameOf(limit)), undefined)
      assert.ok(decision.remaining <= 5)
      assert.equal((await store.refund(demand(limit, 'new', 3, nameOf(limit)), undefined)).remaining, 5)
    }
  },
  'what was taken in an earlier window is not given to the next': async (store, clock) => {
    const {
      takenUs: [atUs],
    } = await store.decide([demand(minute, 'k', 3)])
    clock.advance(60_000)
    await store.decide([demand(minute, 'k', 2)])
    assert.equal((await store.refund(demand(minute, 'k', 3), { atUs, cost: 3, delayMs: 0 })).remaining, 3)
  },
  'who asks a bucket for nothing is told what time it is, whatever is left': async (store, clock) => {
    const queue = leakyBucket({ capacity: 2, drain: '1/m' })
    const first = await store.decide([demand(queue, 'k', 2)])
    clock.advance(1_234)
    for (const key of ['k', 'new']) {
      const { takenUs } = await store.decide([demand(queue, key, 0)])
      assert.equal(takenUs[0] - first.takenUs[0], 1_234_000)
    }
  },
  'a blocked key is denied for that long, and reset lifts the block': async (store, clock) => {
    await store.block('test', 'k', 10_000_000)
    const [blocked] = (await store.decide([demand(bucket, 'k')])).decisions
    assert.deepEqual([blocked.allowed, blocked.remaining, blocked.retryAfterMs], [false, 0, 10_000])
    assert.equal((await store.decide([demand(bucket, 'other')])).allowed, true)
    clock.advance(9_999)
    assert.equal((await store.decide([demand(bucket, 'k', 0)])).allowed, false)
    clock.advance(1)
    const [after] = (await store.decide([demand(bucket, 'k')])).decisions
    assert.deepEqual([after.allowed, after.remaining], [true, 4])
    await store.block('test', 'k', 10_000_000)
    await store.reset('test', 'k')
    assert.equal((await store.decide([demand(bucket, 'k')])).decisions[0].remaining, 4)
  },
  'a decision is a fresh object that nobody changes': async (store) => {
    const [first] = (await store.decide([demand(bucket)])).decisions
    const copy = { ...first }
    const [second] = (await store.decide([demand(bucket)])).decisions
    assert.notEqual(first, second)
    assert.deepEqual(first, copy)
  },
  'a clock that steps back refunds nothing and lengthens a wait by no more than the step': async (store, clock) => {
    for (const limit of ONE_OF_EACH) await store.decide([demand(limit, 'k', 5, nameOf(limit))])
    const waits = new Map<Limit, number>()
    for (const limit of ONE_OF_EACH) {
      waits.set(limit, (await store.decide([demand(limit, 'k', 1, nameOf(limit))])).decisions[0].retryAfterMs)
    }
    clock.advance(-90_000)
    for (const limit of ONE_OF_EACH) {
      const [decision] = (await store.decide([demand(limit, 'k', 1, nameOf(limit))])).decisions
      assert.equal(decision.allowed, false, nameOf(limit))
      assert.ok(decision.retryAfterMs <= (waits.get(limit) ?? 0) + 90_000, nameOf(limit))
    }
  },
  'an exhausted key that is raised is served within one refill of the new limit, and nobody is refilled': async (
    store,
    clock,
  ) => {
    const slow = tokenBucket({ capacity: 10, refill: '10/m' })
    const fast = tokenBucket({ capacity: 2_000, refill: '1000/s' })
    await store.decide([demand(slow, 'k', 10)])
    assert.equal((await store.decide([demand(fast, 'k')])).allowed, false)
    clock.advance(1)
    assert.equal((await store.decide([demand(fast, 'k')])).allowed, true)
    assert.equal((await store.decide([demand(fast, 'k', 0)])).decisions[0].remaining, 0)
  },
  'looking at a bucket under a smaller or faster one of the same name refills nobody': async (store) => {
    const pairs: readonly (readonly [Limit, Limit])[] = [
      [tokenBucket({ capacity: 10, refill: '1/h' }), tokenBucket({ capacity: 5, refill: '1/h' })],
      [tokenBucket({ capacity: 10, refill: '1/h' }), tokenBucket({ capacity: 10, refill: '1000/s' })],
      [leakyBucket({ capacity: 10, drain: '1/h' }), leakyBucket({ capacity: 5, drain: '1000/s' })],
    ]
    for (const [limit, other] of pairs) {
      let admitted = 0
      for (let i = 0; i < 30; i++) {
        if ((await store.decide([demand(limit, 'k', 1, nameOf(limit) + nameOf(other))])).allowed) admitted++
        await store.decide([demand(other, 'k', 0, nameOf(limit) + nameOf(other))])
        await store.decide([demand(other, 'k', 1_000, nameOf(limit) + nameOf(other))])
      }
      assert.equal(admitted, 10, nameOf(limit))
    }
  },
  'a lowered limit applies at once and locks nobody out': async (store, clock) => {
    const before = tokenBucket({ capacity: 2_000, refill: '1000/s' })
    const after = tokenBucket({ capacity: 10, refill: '10/m' })
    await store.decide([demand(before, 'k', 5)])
    assert.equal((await store.decide([demand(after, 'k', 0)])).decisions[0].remaining, 10)
    await store.decide([demand(after, 'k', 10)])
    assert.equal((await store.decide([demand(after, 'k')])).decisions[0].retryAfterMs, 6_000)
    clock.advance(6_000)
    assert.equal((await store.decide([demand(after, 'k')])).allowed, true)
  },
  'places that are taken at the same time are given back one by one, and never those of others': async (
    store,
    clock,
  ) => {
    const limit = concurrency({ max: 3, ttl: '1m' })
    const take = async () => {
      const { takenUs, decisions } = await store.decide([demand(limit)])
      assert.equal(decisions[0].allowed, true)
      return { atUs: takenUs[0], cost: 1, delayMs: 0 }
    }
    const refund = async (taken: Taken) => (await store.refund(demand(limit), taken)).remaining
    const [first, second] = [await take(), await take()]
    assert.equal(await refund(first), 2)
    assert.equal(await refund(second), 3)
    const dead = await take()
    clock.advance(59_999)
    const other = await take()
    assert.equal((await store.decide([demand(limit, 'key', 0)])).decisions[0].remaining, 1)
    clock.advance(1)
    assert.equal((await store.decide([demand(limit, 'key', 0)])).decisions[0].remaining, 2)
    assert.equal(await refund(dead), 2)
    assert.equal(await refund(other), 3)
  },
  'windows longer than a 32-bit timer work': async (store, clock) => {
    const long = fixedWindow({ quota: 1, window: '1000d', align: 'first' })
    assert.equal((await store.decide([demand(long, 'k')])).allowed, true)
    const [denied] = (await store.decide([demand(long, 'k')])).decisions
    assert.deepEqual([denied.allowed, denied.retryAfterMs], [false, 86_400_000_000])
    clock.advance(86_399_999_999)
    assert.equal((await store.decide([demand(long, 'k')])).allowed, false)
    clock.advance(1)
    assert.equal((await store.decide([demand(long, 'k')])).allowed, true)
  },
}

const ONE_OF_EACH: readonly Limit[] = [
  bucket,
  leakyBucket({ capacity: 5, drain: '1/s' }),
  minute,
  slidingWindow({ quota: 5, window: '1m' }),
  slidingWindow({ quota: 5, window: '30s', slices: 3 }),
  slidingLog({ quota: 5, window: '1m' }),
  concurrency({ max: 5, ttl: '1m' }),
]
