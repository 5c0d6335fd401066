import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  concurrency,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../src/limits/index.js'
import { ManualClock } from '../../src/testing/manual-clock.js'
import { ReferenceStore } from '../../src/testing/reference-store.js'
import { startInjected } from './injected-store.js'

let injected: Awaited<ReturnType<typeof startInjected>>

beforeAll(async () => {
  injected = await startInjected()
})

afterAll(() => injected?.stop())

const COSTS = [1, 0, 7, 2 ** 31, 2 ** 49 - 8, 1e15, Number.MAX_SAFE_INTEGER]

/** Asks both stores the same, under one limit after the other, and compares every answer. */
async function compare(...limits: readonly Limit[]) {
  const clock = new ManualClock(1_745_000_100_000)
  const [store, reference] = [injected.create(clock), new ReferenceStore(clock)]
  for (const limit of limits) {
    for (const cost of COSTS) {
      for (const advanceMs of [0, 0.001, 12_345.678]) {
        clock.advance(advanceMs)
        const demand = { name: 'large', limit, key: 'key', cost }
        const where = `${JSON.stringify(limit)} ${cost} ${advanceMs}`
        expect(await store.decide([demand]), where).toEqual(reference.decide([demand]))
        expect(await store.refund(demand, undefined), where).toEqual(reference.refund(demand, undefined))
        expect(await store.charge(demand), where).toEqual(reference.charge(demand))
        expect(await store.decide([demand, demand]), where).toEqual(reference.decide([demand, demand]))
      }
    }
  }
}

test('buckets at the end of what can be counted are the same in Redis', async () => {
  await compare(tokenBucket({ capacity: 2 ** 49, refill: '500000/s' }))
  await compare(tokenBucket({ capacity: 1e15, refill: '1000000/s' }))
  await compare(leakyBucket({ capacity: 2 ** 49, drain: '500000/s' }))
  await compare(tokenBucket({ capacity: 1, refill: '1/9000d' }), leakyBucket({ capacity: 3, drain: '7/3000d' }))
})

test('a debt of many units under much slower numbers is the same in Redis, and ends', async () => {
  const fast = tokenBucket({ capacity: 10, refill: '1000000/s' })
  await compare(fast, tokenBucket({ capacity: 10, refill: '1/30d' }), fast)
  await compare(leakyBucket({ capacity: 10, drain: '1000000/s' }), leakyBucket({ capacity: 10, drain: '1/30d' }))
})

test('windows of a quadrillion, of a millisecond and of a century are the same in Redis', async () => {
  await compare(fixedWindow({ quota: 1e15, window: '1ms' }), fixedWindow({ quota: 1e15, window: '36500d' }))
  await compare(slidingWindow({ quota: 1e15, window: '1ms' }), slidingWindow({ quota: 1e15, window: '36500d' }))
  await compare(slidingWindow({ quota: 1e15, window: '7s', slices: 100 }))
  await compare(slidingLog({ quota: 3, window: '1ms' }), slidingLog({ quota: 1, window: '36500d' }))
  await compare(concurrency({ max: 3, ttl: '1ms' }), concurrency({ max: 1, ttl: '36500d' }))
})
