import assert from 'node:assert/strict'
import {
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../limits/index.js'
import type { Store } from '../stores/index.js'
import { CUT_TO_0 } from './extreme-rules.js'
import { demand, nameOf, type StoreRules } from './store-rules.js'

/** Limits that count in a window, or in flight, with any quota. */
const COUNTERS: readonly ((quota: number) => Limit)[] = [
  (quota) => fixedWindow({ quota, window: '1m' }),
  (quota) => fixedWindow({ quota, window: '1m', align: 'first' }),
  (quota) => slidingWindow({ quota, window: '1m' }),
  (quota) => slidingWindow({ quota, window: '30s', slices: 3 }),
  (quota) => slidingLog({ quota, window: '1m' }),
  (max) => concurrency({ max, ttl: '1m' }),
]

/** Limits with a quota of five units. No two have the same window. */
const WINDOWS: readonly (readonly Limit[])[] = [
  [
    fixedWindow({ quota: 5, window: '1h' }),
    fixedWindow({ quota: 5, window: '2h' }),
    fixedWindow({ quota: 5, window: '1h', align: 'first' }),
  ],
  [
    slidingWindow({ quota: 5, window: '1h' }),
    slidingWindow({ quota: 5, window: '2h' }),
    slidingWindow({ quota: 5, window: '1h', slices: 2 }),
    slidingWindow({ quota: 5, window: '1h', align: 'first' }),
  ],
  [slidingLog({ quota: 5, window: '1h' }), slidingLog({ quota: 5, window: '2h' })],
]

/** Two versions of a limit. The first has ten units. */
const VERSIONS: readonly (readonly [Limit, Limit])[] = [
  [tokenBucket({ capacity: 10, refill: '1/h' }), tokenBucket({ capacity: 5, refill: '1/h' })],
  [tokenBucket({ capacity: 10, refill: '1/h' }), tokenBucket({ capacity: 10, refill: '1000/s' })],
  [leakyBucket({ capacity: 10, drain: '1/h' }), leakyBucket({ capacity: 5, drain: '1000/s' })],
  [leakyBucket({ capacity: 10, drain: '1/h' }), leakyBucket({ capacity: 20, drain: '1/d' })],
  ...COUNTERS.map((make) => [make(10), make(3)] as const),
  [slidingLog({ quota: 10, window: '1h' }), slidingLog({ quota: 10, window: '1m' })],
  [concurrency({ max: 10, ttl: '1h' }), concurrency({ max: 10, ttl: '1s' })],
]

async function remaining(store: Store, limit: Limit, name = 'test'): Promise<number> {
  return (await store.decide([demand(limit, 'key', 0, name)])).decisions[0].remaining
}

/** The rules for limits of one name whose numbers differ: after a deploy, or while two versions are in use. */
export const changeRules: StoreRules = {
  'a raised bucket serves an exhausted key within one refill of the new rate, and adds no units': async (
    store,
    clock,
  ) => {
    const slow = tokenBucket({ capacity: 10, refill: '10/m' })
    const fast = tokenBucket({ capacity: 2_000, refill: '1000/s' })
    await store.decide([demand(slow, 'key', 10)])
    assert.equal((await store.decide([demand(fast)])).allowed, false)
    clock.advance(1)
    assert.equal((await store.decide([demand(fast)])).allowed, true)
    assert.equal(await remaining(store, fast), 0)
  },
  'a lowered bucket applies at once, and no wait is longer than its own refill': async (store, clock) => {
    const before = tokenBucket({ capacity: 2_000, refill: '1000/s' })
    const after = tokenBucket({ capacity: 10, refill: '10/m' })
    await store.decide([demand(before, 'key', 5)])
    assert.equal(await remaining(store, after), 10)
    await store.decide([demand(after, 'key', 10)])
    assert.equal((await store.decide([demand(after)])).decisions[0].retryAfterMs, 6_000)
    clock.advance(6_000)
    assert.equal((await store.decide([demand(after)])).allowed, true)
  },
  'a lowered leaky bucket reads at most its own queue': async (store) => {
    await store.decide([demand(leakyBucket({ capacity: 1_000, drain: '1000/s' }), 'key', 1_000)])
    const [denied] = (await store.decide([demand(leakyBucket({ capacity: 2, drain: '1/s' }))])).decisions
    assert.deepEqual([denied.allowed, denied.remaining, denied.retryAfterMs], [false, 0, 1_000])
  },
  'a debt of a bucket is a debt of as many units under other numbers': async (store) => {
    const pairs = [
      [leakyBucket({ capacity: 1_000, drain: '1000/s' }), leakyBucket({ capacity: 2, drain: '1/s' })],
      [tokenBucket({ capacity: 1_000, refill: '1000/s' }), tokenBucket({ capacity: 2, refill: '1/s' })],
    ] as const
    for (const [large, small] of pairs) {
      await store.charge(demand(large, 'key', 1_003))
      const [denied] = (await store.decide([demand(small)])).decisions
      assert.deepEqual([denied.allowed, denied.retryAfterMs], [false, 4_000], small.algorithm)
      assert.equal((await store.decide([demand(small, 'key', 0)])).decisions[0].retryAfterMs, 3_000, small.algorithm)
    }
  },
  'a changed quota of a window is compared with the same count': async (store) => {
    for (const make of COUNTERS) {
      const name = nameOf(make(1))
      await store.decide([demand(make(8), 'key', 6, name)])
      const [denied] = (await store.decide([demand(make(5), 'key', 0, name)])).decisions
      assert.deepEqual([denied.allowed, denied.remaining], [false, 0], name)
      assert.equal((await store.decide([demand(make(8), 'key', 2, name)])).allowed, true, name)
      assert.equal((await store.decide([demand(make(8), 'key', 1, name)])).allowed, false, name)
      assert.equal(await remaining(store, make(10), name), 2, name)
    }
  },
  'a changed window begins a new count, and leaves the old count as it is': async (store) => {
    for (const windows of WINDOWS) {
      for (const [i, limit] of windows.entries()) {
        assert.equal(await remaining(store, limit), 5, nameOf(limit))
        await store.decide([demand(limit, 'key', i + 1)])
      }
      for (const [i, limit] of windows.entries()) assert.equal(await remaining(store, limit), 4 - i, nameOf(limit))
    }
  },
  'reset forgets every window of a key under a name, and no other key or name': async (store) => {
    const limits = WINDOWS.flat()
    for (const limit of limits) {
      for (const key of ['key', 'other']) await store.decide([demand(limit, key, 2)])
      await store.decide([demand(limit, 'key', 2, 'other name')])
    }
    await store.reset('test', 'key')
    for (const limit of limits) {
      assert.equal(await remaining(store, limit), 5, nameOf(limit))
      assert.equal((await store.decide([demand(limit, 'other', 0)])).decisions[0].remaining, 3, nameOf(limit))
      assert.equal(await remaining(store, limit, 'other name'), 3, nameOf(limit))
    }
  },
  'a concurrency limit with a shorter ttl does not count older places, and a look leaves them taken': async (
    store,
    clock,
  ) => {
    const [long, short] = (['1m', '10s'] as const).map((ttl) => concurrency({ max: 2, ttl }))
    await store.decide([demand(long, 'key', 2)])
    clock.advance(9_999)
    assert.equal(await remaining(store, short), 0)
    clock.advance(1)
    assert.equal(await remaining(store, short), 2)
    assert.equal(await remaining(store, long), 0)
  },
  'a look or a denial under other numbers changes nothing': async (store) => {
    for (const [limit, other] of VERSIONS) {
      const name = nameOf(limit) + nameOf(other)
      let admitted = 0
      for (let i = 0; i < 15; i++) {
        if ((await store.decide([demand(limit, 'key', 1, name)])).allowed) admitted++
        const [before] = (await store.decide([demand(limit, 'key', 0, name)])).decisions
        await store.decide([demand(other, 'key', 0, name)])
        await store.decide([demand(other, 'key', 1_000, name)])
        const [after] = (await store.decide([demand(limit, 'key', 0, name)])).decisions
        assert.deepEqual(after, before, name)
      }
      assert.equal(admitted, 10, name)
    }
  },
  'a refund of units that are no longer there changes nothing': async (store, clock) => {
    const [long, short] = (['1h', '10ms'] as const).map((ttl) => concurrency({ max: 5, ttl }))
    const { takenUs } = await store.decide([demand(long, 'key', 5)])
    clock.advance(1_000)
    await store.refund(demand(short, 'key', 1), { atUs: takenUs[0], cost: 1, delayMs: 0 })
    clock.advance(1_000)
    assert.equal((await store.decide([demand(long, 'key', 1)])).allowed, false)
  },
  'a shadow of another version tells what fits after the request has taken': async (store, clock) => {
    const [small, large] = [leakyBucket({ capacity: 2, drain: '5/2s' }), leakyBucket({ capacity: 10, drain: '3/m' })]
    await store.decide([demand(large, 'key', 10)])
    clock.advance(5_000)
    const shadows = [demand(small, 'key', 1), demand(large, 'key', 1)].map((each) => ({ ...each, shadow: true }))
    const { allowed, decisions } = await store.decide(shadows)
    assert.equal(allowed, true)
    for (const { retryAfterMs } of decisions) assert.ok(retryAfterMs >= 0)
    assert.deepEqual(
      decisions.map((each) => each.allowed),
      [true, true],
    )
  },
  'demands of two versions for the same state are added up': async (store) => {
    const [small, large] = [5, 8].map((quota) => fixedWindow({ quota, window: '1m' }))
    const denied = await store.decide([demand(small, 'key', 3), demand(large, 'key', 3)])
    assert.deepEqual(
      denied.decisions.map(({ allowed, remaining }) => [allowed, remaining]),
      [
        [false, 5],
        [true, 8],
      ],
    )
    const allowed = await store.decide([demand(small, 'key', 3), demand(large, 'key', 2)])
    assert.deepEqual(
      allowed.decisions.map(({ allowed, remaining }) => [allowed, remaining]),
      [
        [true, 0],
        [true, 3],
      ],
    )
  },
  'a limit that is cut to 0 denies at once, and gives its units again when it is raised': async (store, clock) => {
    for (const [some, nothing] of CUT_TO_0) {
      const name = nameOf(some)
      assert.equal((await store.decide([demand(some, 'key', 2, name)])).allowed, true, name)
      const [denied] = (await store.decide([demand(nothing, 'key', 1, name)])).decisions
      assert.deepEqual([denied.allowed, denied.remaining, denied.retryAfterMs], [false, 0, Infinity], name)
      assert.equal(denied.nextUnitAfterMs, denied.resetAfterMs, name)
      assert.equal((await store.decide([demand(some, 'key', 3, name)])).allowed, true, name)
    }
    clock.advance(120_000)
    for (const [some, nothing] of CUT_TO_0) {
      const look = await store.decide([demand(nothing, 'key', 0, nameOf(some))])
      assert.deepEqual([look.allowed, look.decisions[0].resetAfterMs], [true, 0], nameOf(some))
    }
  },
}
