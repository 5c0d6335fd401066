import assert from 'node:assert/strict'
import { type Decision, fixedWindow, isConcurrency, type Limit, tokenBucket } from '../limits/index.js'
import type { Demand, Store } from '../stores/index.js'
import { demand, nameOf, ONE_OF_EACH, type StoreRules } from './store-rules.js'

const bucket = tokenBucket({ capacity: 5, refill: '1/s' })
const minute = fixedWindow({ quota: 5, window: '1m' })
const SETTABLE = ONE_OF_EACH.filter((limit) => !isConcurrency(limit))

async function peek(store: Store, asked: Demand): Promise<Decision> {
  return (await store.peek([asked])).decisions[0]
}

/** What a request learns from a decision. The other members describe the state. */
function outcome({ allowed, retryAfterMs, delayMs }: Decision): object {
  return { allowed, retryAfterMs, delayMs }
}

/** What a decision says of the state. */
function stateIn({ quota, remaining, nextUnitAfterMs, resetAfterMs }: Decision): object {
  return { quota, remaining, nextUnitAfterMs, resetAfterMs }
}

/** How many units can be taken now, one by one. */
async function unitsLeft(store: Store, limit: Limit, key: string): Promise<number> {
  for (let units = 0; ; units++) if (!(await store.decide([demand(limit, key, 1, nameOf(limit))])).allowed) return units
}

/** The rules of `peek`, which foretells `decide`, and of `set`, which an administrator uses. */
export const peekRules: StoreRules = {
  'a peek says what decide then says, and changes nothing': async (store, clock, accepts) => {
    for (const cost of [1, 2, 0, 1, 3, 6, 1, 2, 1, 1]) {
      for (const limit of ONE_OF_EACH.filter(accepts)) {
        const asked = demand(limit, 'k', cost, nameOf(limit))
        const [before] = (await store.decide([{ ...asked, cost: 0 }])).decisions
        const peeked = await peek(store, asked)
        assert.deepEqual(await peek(store, asked), peeked, nameOf(limit))
        assert.deepEqual(stateIn(peeked), stateIn(before), nameOf(limit))
        const [decision] = (await store.decide([asked])).decisions
        assert.deepEqual(outcome(peeked), outcome(decision), nameOf(limit))
      }
      clock.advance(700)
    }
  },
  'a peek at a key that has used its quota is denied, and is told the wait': async (store) => {
    for (let left = 5; left > 0; left--) {
      const peeked = await peek(store, demand(bucket))
      assert.deepEqual([peeked.allowed, peeked.remaining], [true, left])
      await store.decide([demand(bucket)])
    }
    const { allowed, remaining, retryAfterMs } = await peek(store, demand(bucket))
    assert.deepEqual([allowed, remaining, retryAfterMs], [false, 0, 1_000])
    assert.equal((await peek(store, demand(bucket, 'key', 3))).retryAfterMs, 3_000)
    assert.equal((await peek(store, demand(bucket, 'key', 6))).retryAfterMs, Infinity)
    assert.equal((await peek(store, demand(bucket, 'key', 0))).allowed, true)
  },
  'a peek at several demands tells of each whether it fits, and of all whether the request is allowed': async (
    store,
  ) => {
    await store.charge(demand(minute, 'b', 5, 'minute'))
    const [fitting, lacking] = [demand(bucket, 'a', 2), demand(minute, 'b', 1, 'minute')]
    for (const shadow of [false, true]) {
      const { allowed, decisions } = await store.peek([fitting, { ...lacking, shadow }])
      assert.equal(allowed, shadow)
      assert.deepEqual(
        decisions.map((each) => [each.allowed, each.remaining]),
        [
          [true, 5],
          [false, 0],
        ],
      )
    }
    const { allowed, decisions } = await store.peek([demand(bucket, 'a', 3), demand(bucket, 'a', 3)])
    assert.deepEqual([allowed, ...decisions.map(({ remaining }) => remaining)], [false, 5, 5])
    assert.equal((await store.peek([demand(bucket, 'a', 3), demand(bucket, 'a', 2)])).allowed, true)
    assert.deepEqual((await store.peek([])).decisions, [])
  },
  'a peek at a blocked key is told the end of the block': async (store) => {
    await store.block('test', 'key', 10_000_000)
    const blocked = await peek(store, demand(bucket))
    assert.deepEqual([blocked.allowed, blocked.remaining, blocked.retryAfterMs], [false, 0, 10_000])
  },
  'charge and refund answer as a peek at a cost of 1 does afterwards': async (store, _, accepts) => {
    for (const limit of ONE_OF_EACH.filter(accepts)) {
      const name = nameOf(limit)
      for (const cost of [1, 4, 0, 3]) {
        const charged = await store.charge(demand(limit, 'k', cost, name))
        assert.deepEqual(charged, await peek(store, demand(limit, 'k', 1, name)), name)
      }
      for (const cost of [0, 1, 3, 9]) {
        const refunded = await store.refund(demand(limit, 'k', cost, name), undefined)
        assert.deepEqual(refunded, await peek(store, demand(limit, 'k', 1, name)), name)
      }
    }
  },
  'set leaves a key exactly so many units, whatever was taken before': async (store, _, accepts) => {
    for (const limit of SETTABLE.filter(accepts)) {
      const name = nameOf(limit)
      for (let remaining = 0; remaining <= 5; remaining++) {
        for (const [key, charged] of [
          ['fresh', 0],
          ['begun', 2],
          ['in debt', 9],
        ] as const) {
          await store.charge(demand(limit, `${key} ${remaining}`, charged, name))
          const limited = demand(limit, `${key} ${remaining}`, 1, name)
          const answer = await store.set(limited, remaining)
          assert.equal(answer.remaining, remaining, name)
          assert.deepEqual(answer, await peek(store, limited), name)
          assert.equal(await unitsLeft(store, limit, limited.key), remaining, name)
        }
      }
    }
  },
  'a key that was set goes on like a fresh key from which the rest was taken': async (store, clock, accepts) => {
    const settable = SETTABLE.filter(accepts)
    for (const limit of settable) await store.charge(demand(limit, 'set', 7, nameOf(limit)))
    clock.advance(400)
    for (const limit of settable) {
      await store.set(demand(limit, 'set', 1, nameOf(limit)), 1)
      await store.decide([demand(limit, 'other', 4, nameOf(limit))])
    }
    for (const ms of [0, 1, 999, 29_000, 40_000]) {
      clock.advance(ms)
      for (const limit of settable) {
        const [one, other] = ['set', 'other'].map((key) => peek(store, demand(limit, key, 2, nameOf(limit))))
        assert.deepEqual(await one, await other, nameOf(limit))
      }
    }
  },
  'set leaves a block, and every other key and name, as it is': async (store, clock) => {
    for (const [key, name] of [
      ['key', 'test'],
      ['other', 'test'],
      ['key', 'other'],
    ]) {
      await store.charge(demand(bucket, key, 2, name))
    }
    await store.block('test', 'key', 10_000_000)
    const blocked = await store.set(demand(bucket), 0)
    assert.deepEqual([blocked.allowed, blocked.remaining, blocked.retryAfterMs], [false, 0, 10_000])
    assert.equal((await peek(store, demand(bucket, 'other'))).remaining, 3)
    assert.equal((await peek(store, demand(bucket, 'key', 1, 'other'))).remaining, 3)
    clock.advance(9_999)
    await store.set(demand(bucket), 4)
    assert.equal((await peek(store, demand(bucket))).allowed, false)
    clock.advance(1)
    assert.equal((await peek(store, demand(bucket))).remaining, 4)
  },
}
