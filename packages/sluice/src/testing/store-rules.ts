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

/** Rules, each a sentence and a check of it on an empty store that reads the clock. Uses only limits that the store accepts. */
export type StoreRules = Readonly<
  Record<string, (store: Store, clock: ManualClock, accepts: (limit: Limit) => boolean) => Promise<void>>
>

/** A name that no limit with other numbers has. */
export function nameOf(limit: Limit): string {
  return JSON.stringify(limit)
}

export function demand(limit: Limit, key = 'key', cost = 1, name = 'test'): Demand {
  return { name, limit, key, cost }
}

/** The rules that every store keeps, except those about changed numbers. */
export const storeRules: StoreRules = {
  'a request with several demands takes from all of them or from none': async (store) => {
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
  'demands for the same state are added up first': async (store) => {
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
  'a request without demands is allowed': async (store) => {
    assert.deepEqual((await store.decide([])).decisions, [])
    assert.equal((await store.decide([])).allowed, true)
  },
  'two pairs of name and key are two states, even if their texts join to the same text': async (store) => {
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
  '__proto__, constructor, braces and other odd strings are ordinary keys': async (store) => {
    const keys = ['__proto__', 'constructor', 'toString', '{}', '{a}b', '\0', ' ', 'ключ', '🔑', '*']
    for (const key of keys) await store.charge(demand(bucket, key, 2))
    for (const key of keys) assert.equal((await store.decide([demand(bucket, key, 0)])).decisions[0].remaining, 3, key)
    await store.reset('test', '*')
    assert.equal((await store.decide([demand(bucket, '{}', 0)])).decisions[0].remaining, 3)
  },
  'a lone surrogate in a key counts as the replacement character': async (store) => {
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
  'a cost beyond the quota is denied for ever, and the denial takes nothing': async (store, _, accepts) => {
    for (const limit of ONE_OF_EACH.filter(accepts)) {
      const { decisions } = await store.decide([demand(limit, 'k', Number.MAX_SAFE_INTEGER, nameOf(limit))])
      assert.equal(decisions[0].retryAfterMs, Infinity)
      assert.equal(decisions[0].remaining, decisions[0].quota)
      assert.equal((await store.decide([demand(limit, 'k', 1, nameOf(limit))])).allowed, true)
    }
  },
  'a charge may leave a debt, and a key in debt is denied even a cost of 0': async (store, clock, accepts) => {
    for (const limit of ONE_OF_EACH.filter(accepts)) {
      await store.charge(demand(limit, 'k', 8, nameOf(limit)))
      const [decision] = (await store.decide([demand(limit, 'k', 0, nameOf(limit))])).decisions
      assert.equal(decision.allowed, false, limit.algorithm)
      assert.equal(decision.remaining, 0)
      assert.ok(decision.retryAfterMs > 0 && decision.retryAfterMs <= 120_000, nameOf(limit))
    }
    clock.advance(120_000)
    for (const limit of ONE_OF_EACH.filter(accepts)) {
      const [decision] = (await store.decide([demand(limit, 'k', 0, nameOf(limit))])).decisions
      assert.deepEqual([decision.allowed, decision.remaining], [true, 5], nameOf(limit))
    }
  },
  'a refund never makes more than the whole quota': async (store, _, accepts) => {
    for (const limit of ONE_OF_EACH.filter(accepts)) {
      await store.decide([demand(limit, 'k', 2, nameOf(limit))])
      const decision = await store.refund(demand(limit, 'k', 1_000, nameOf(limit)), undefined)
      assert.ok(decision.remaining <= 5)
      assert.equal((await store.refund(demand(limit, 'new', 3, nameOf(limit)), undefined)).remaining, 5)
    }
  },
  'a refund of units from an earlier window adds nothing to the next window': async (store, clock) => {
    const {
      takenUs: [atUs],
    } = await store.decide([demand(minute, 'k', 3)])
    clock.advance(60_000)
    await store.decide([demand(minute, 'k', 2)])
    assert.equal((await store.refund(demand(minute, 'k', 3), { atUs, cost: 3, delayMs: 0 })).remaining, 3)
  },
  'the answer to a cost of 0 of a bucket has the time of the decision, whatever is left': async (store, clock) => {
    const queue = leakyBucket({ capacity: 2, drain: '1/m' })
    const first = await store.decide([demand(queue, 'k', 2)])
    clock.advance(1_234)
    for (const key of ['k', 'new']) {
      const { takenUs } = await store.decide([demand(queue, key, 0)])
      assert.equal(takenUs[0] - first.takenUs[0], 1_234_000)
    }
  },
  'a blocked key is denied for as long as the block lasts, and reset lifts the block': async (store, clock) => {
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
  'a decision is a fresh object that later calls do not change': async (store) => {
    const [first] = (await store.decide([demand(bucket)])).decisions
    const copy = { ...first }
    const [second] = (await store.decide([demand(bucket)])).decisions
    assert.notEqual(first, second)
    assert.deepEqual(first, copy)
  },
  'a clock that steps back adds no units, and lengthens a wait by no more than the step': async (
    store,
    clock,
    accepts,
  ) => {
    for (const limit of ONE_OF_EACH.filter(accepts)) await store.decide([demand(limit, 'k', 5, nameOf(limit))])
    const waits = new Map<Limit, number>()
    for (const limit of ONE_OF_EACH.filter(accepts)) {
      waits.set(limit, (await store.decide([demand(limit, 'k', 1, nameOf(limit))])).decisions[0].retryAfterMs)
    }
    clock.advance(-90_000)
    for (const limit of ONE_OF_EACH.filter(accepts)) {
      const [decision] = (await store.decide([demand(limit, 'k', 1, nameOf(limit))])).decisions
      assert.equal(decision.allowed, false, nameOf(limit))
      assert.ok(decision.retryAfterMs <= (waits.get(limit) ?? 0) + 90_000, nameOf(limit))
    }
  },
  'a refund of one of several places that were taken at the same time frees that place and no other': async (
    store,
    clock,
    accepts,
  ) => {
    const limit = concurrency({ max: 3, ttl: '1m' })
    if (!accepts(limit)) return
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
  'a window may be longer than a 32-bit timer': async (store, clock, accepts) => {
    const long = fixedWindow({ quota: 1, window: '1000d', align: 'first' })
    if (!accepts(long)) return
    assert.equal((await store.decide([demand(long, 'k')])).allowed, true)
    const [denied] = (await store.decide([demand(long, 'k')])).decisions
    assert.deepEqual([denied.allowed, denied.retryAfterMs], [false, 86_400_000_000])
    clock.advance(86_399_999_999)
    assert.equal((await store.decide([demand(long, 'k')])).allowed, false)
    clock.advance(1)
    assert.equal((await store.decide([demand(long, 'k')])).allowed, true)
  },
}

export const ONE_OF_EACH: readonly Limit[] = [
  bucket,
  leakyBucket({ capacity: 5, drain: '1/s' }),
  minute,
  slidingWindow({ quota: 5, window: '1m' }),
  slidingWindow({ quota: 5, window: '30s', slices: 3 }),
  slidingLog({ quota: 5, window: '1m' }),
  concurrency({ max: 5, ttl: '1m' }),
]
