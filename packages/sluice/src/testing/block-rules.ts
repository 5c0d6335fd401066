import assert from 'node:assert/strict'
import { type Limit, parseBlockFor, tokenBucket, unlimited } from '../limits/index.js'
import type { Demand, Store } from '../stores/index.js'
import { demand, nameOf, ONE_OF_EACH, type StoreRules } from './store-rules.js'

const bucket = tokenBucket({ capacity: 5, refill: '1/s' })
const tenSeconds = parseBlockFor('10s')
const growing = parseBlockFor({ first: '10s', factor: 2, most: '35s', forget: '1m' })

function blocking(limit: Limit, cost = 1, blockFor = tenSeconds, name = 'test'): Demand {
  return { ...demand(limit, 'key', cost, name), blockFor }
}

async function waitAfter(store: Store, asked: Demand): Promise<number> {
  return (await store.decide([asked])).decisions[0].retryAfterMs
}

/** The rules of a store that blocks keys by the `blockFor` of demands. */
export const blockRules: StoreRules = {
  'a demand that exceeds blocks its key, and is told the end of the block': async (store, clock, accepts) => {
    for (const limit of ONE_OF_EACH.filter(accepts)) {
      const name = nameOf(limit)
      await store.charge(demand(limit, 'key', 5, name))
      const alone = await waitAfter(store, demand(limit, 'key', 1, name))
      const { allowed, decisions } = await store.decide([blocking(limit, 1, tenSeconds, name)])
      assert.deepEqual([allowed, decisions[0].remaining], [false, 0], name)
      assert.equal(decisions[0].retryAfterMs, Math.max(alone, 10_000), name)
      // The block holds for every demand for the key, also for one without a rule and for one of cost 0.
      await store.refund(demand(limit, 'key', 5, name), undefined)
      for (const cost of [0, 1]) {
        const [denied] = (await store.decide([demand(limit, 'key', cost, name)])).decisions
        assert.equal(denied.allowed, false, name)
      }
      assert.equal((await store.decide([demand(limit, 'other', 1, name)])).allowed, true, name)
    }
    clock.advance(10_000)
    for (const limit of ONE_OF_EACH.filter(accepts).filter(({ algorithm }) => algorithm !== 'leaky-bucket'))
      assert.equal((await store.decide([demand(limit, 'key', 1, nameOf(limit))])).allowed, true, nameOf(limit))
  },
  'a demand that is allowed, a look, a peek and a charge block nothing': async (store) => {
    assert.equal((await store.decide([blocking(bucket, 5)])).allowed, true)
    await store.decide([blocking(bucket, 0)])
    assert.equal((await store.peek([blocking(bucket, 1)])).decisions[0].retryAfterMs, 1_000)
    await store.charge(blocking(bucket, 3))
    await store.decide([blocking(bucket, 0)])
    assert.equal((await store.peek([blocking(bucket, 1)])).allowed, false)
    assert.equal(await waitAfter(store, demand(bucket)), 4_000)
  },
  'a demand for units of a limit of 0 blocks its key, and one for units of an unlimited key never does': async (
    store,
  ) => {
    const nothing = tokenBucket({ capacity: 0, refill: '1/s' })
    assert.equal((await store.decide([blocking(nothing, 0)])).allowed, true)
    assert.equal(await waitAfter(store, blocking(nothing)), Infinity)
    assert.equal(await waitAfter(store, demand(bucket)), 10_000)
    for (const cost of [0, 1, Number.MAX_SAFE_INTEGER])
      assert.equal(await waitAfter(store, blocking(unlimited(), cost, tenSeconds, 'all')), 0)
  },
  'of many demands at the same time one makes the block, and none makes it longer': async (store, clock) => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, async () => store.decide([blocking(bucket, 1, growing)])),
    )
    assert.equal(answers.filter(({ allowed }) => allowed).length, 5)
    clock.advance(4_000)
    for (let i = 0; i < 3; i++) assert.equal(await waitAfter(store, blocking(bucket, 1, growing)), 6_000)
    clock.advance(6_000)
    assert.equal((await store.decide([blocking(bucket, 5, growing)])).allowed, true)
    assert.equal(await waitAfter(store, blocking(bucket, 1, growing)), 20_000)
  },
  'blocks grow up to the longest, until a key has kept to its limit for long enough': async (store, clock) => {
    // The time from the end of the block before, and the length of the block.
    const offences = [
      [0, 10_000],
      [0, 20_000],
      [59_999, 35_000],
      [59_999, 35_000],
      [60_000, 10_000],
      [1, 20_000],
    ]
    for (const [sinceMs, lengthMs] of offences) {
      clock.advance(sinceMs)
      await store.charge(demand(bucket, 'key', 5))
      assert.equal(await waitAfter(store, blocking(bucket, 1, growing)), lengthMs)
      clock.advance(lengthMs)
    }
  },
  'reset ends a block and forgets the offence; block replaces the end, and the offence is remembered': async (
    store,
    clock,
  ) => {
    const exceed = async () => {
      await store.charge(demand(bucket, 'key', 5))
      return waitAfter(store, blocking(bucket, 1, growing))
    }
    assert.equal(await exceed(), 10_000)
    await store.reset('test', 'key')
    assert.equal((await store.decide([blocking(bucket, 5, growing)])).allowed, true)
    assert.equal(await waitAfter(store, blocking(bucket, 1, growing)), 10_000)
    await store.block('test', 'key', 30_000_000)
    assert.equal(await waitAfter(store, blocking(bucket, 1, growing)), 30_000)
    clock.advance(30_000)
    assert.equal(await exceed(), 20_000)
  },
  'only the keys of demands that exceed are blocked, also if the request is denied by others': async (store) => {
    const [one, two] = [blocking(bucket, 1, tenSeconds, 'one'), blocking(bucket, 1, tenSeconds, 'two')]
    await store.charge(demand(bucket, 'key', 5, 'two'))
    const { allowed, decisions } = await store.decide([one, two])
    assert.deepEqual([allowed, decisions[0].allowed, decisions[1].retryAfterMs], [false, true, 10_000])
    assert.equal((await store.decide([one])).decisions[0].remaining, 4)
  },
  'a shadow that exceeds blocks its own key and denies nothing': async (store, clock) => {
    const shadow = { ...blocking(bucket, 1, tenSeconds, 'shadow'), shadow: true }
    await store.charge(demand(bucket, 'key', 5, 'shadow'))
    for (const [atMs, left] of [
      [0, 10_000],
      [9_999, 1],
    ]) {
      clock.advance(atMs)
      const { allowed, decisions } = await store.decide([blocking(bucket, 1, tenSeconds, 'real'), shadow])
      assert.deepEqual([allowed, decisions[1].allowed, decisions[1].retryAfterMs], [true, false, left])
    }
  },
  'demands of one request for the same state exceed together, and make one block': async (store) => {
    const { allowed, decisions } = await store.decide([blocking(bucket, 3, growing), blocking(bucket, 3, growing)])
    assert.equal(allowed, false)
    assert.deepEqual(
      decisions.map(({ allowed, remaining }) => [allowed, remaining]),
      [
        [false, 0],
        [false, 0],
      ],
    )
    assert.equal(await waitAfter(store, demand(bucket)), 10_000)
  },
  'a reservation that exceeds blocks its key': async (store) => {
    if (store.reservations === undefined) return
    await store.charge(demand(bucket, 'key', 5))
    const { reservation } = await store.reservations.open('id', [blocking(bucket)], 1_000, '')
    assert.deepEqual([reservation.answer.allowed, reservation.answer.decisions[0].retryAfterMs], [false, 10_000])
    assert.equal(await waitAfter(store, demand(bucket)), 10_000)
  },
}
