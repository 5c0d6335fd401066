import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type RedisCluster, startCluster } from '../../../../../scripts/redis-cluster.mjs'
import {
  concurrency,
  createPolicy,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
  type Verdict,
} from '../../../src/index.js'
import { type RedisStore, redisStore } from '../../../src/stores/redis/index.js'
import { hashSlotOf } from '../../../src/stores/redis/key-layout.js'
import { CLUSTER_CLIENTS, type ClusterClient } from '../../redis/cluster-clients.js'

const year = (quota: number) => fixedWindow({ quota, window: '365d' })
const remaining = ({ levels }: Verdict) => levels.map(({ decision }) => decision.remaining)

let cluster: RedisCluster
let opened: ClusterClient
let store: RedisStore
let prefixes = 0
beforeAll(async () => {
  cluster = await startCluster()
  opened = await CLUSTER_CLIENTS.ioredis(cluster)
})
afterAll(async () => {
  opened?.close()
  await cluster?.stop()
})
beforeEach(() => {
  store = redisStore(opened.client, { prefix: `test-${++prefixes}:`, deadlineMs: 20_000, onFailure: 'closed' })
})

const asMany = <T>(times: number, make: (i: number) => T): T[] => Array.from({ length: times }, (_, i) => make(i))
const count = (verdicts: readonly Verdict[]) => verdicts.filter(({ allowed }) => allowed).length

it('the levels of a request live in different slots', () => {
  expect(new Set(['*', 'm1', '192.0.2.1'].map((key) => hashSlotOf(key))).size).toBe(3)
})

it('many requests at once are never given more than any level allows, and nothing that was denied stays taken', async () => {
  const policy = createPolicy({
    name: 'api',
    levels: [
      { name: 'global', limit: year(60) },
      { name: 'merchant', key: 'merchant', limit: year(12) },
      { name: 'ip', key: 'ip', limit: year(25) },
    ],
    store,
  })
  const verdicts = await Promise.all(
    asMany(600, async (i) => ({
      merchant: `m${i % 8}`,
      ip: `192.0.2.${i % 3}`,
      verdict: await policy.check({ merchant: `m${i % 8}`, ip: `192.0.2.${i % 3}` }),
    })),
  )
  const through = verdicts.filter(({ verdict }) => verdict.allowed)
  expect(through.length).toBeGreaterThan(0)
  for (let i = 0; i < 24; i++) {
    const [merchant, ip] = [`m${i % 8}`, `192.0.2.${i % 3}`]
    const ofMerchant = through.filter((each) => each.merchant === merchant).length
    const ofIp = through.filter((each) => each.ip === ip).length
    expect(remaining(await policy.peek({ merchant, ip }))).toEqual([60 - through.length, 12 - ofMerchant, 25 - ofIp])
  }
  expect(store.stats().degraded).toEqual({ deadline: 0, error: 0, breaker: 0, overload: 0, foreign: 0 })
})

it('a shadow in another slot counts what went through and no more, and never denies', async () => {
  const policy = createPolicy({
    name: 'api',
    levels: [
      { name: 'shadow', key: 'merchant', limit: year(5), shadow: true },
      { name: 'global', limit: year(20) },
      { name: 'watched', key: 'ip', limit: year(1_000), shadow: true },
    ],
    store,
  })
  const request = { merchant: 'm1', ip: '192.0.2.1' }
  const verdicts = await Promise.all(asMany(100, () => policy.check(request)))
  expect(count(verdicts)).toBe(20)
  expect(verdicts.every(({ deniedBy }) => !deniedBy.includes('shadow') && !deniedBy.includes('watched'))).toBe(true)
  const met = verdicts.filter(({ allowed, levels }) => allowed && levels[0].decision.allowed).length
  expect(met).toBeLessThanOrEqual(5)
  expect(remaining(await policy.peek(request))).toEqual([5 - met, 0, 980])
})

it.each<Limit>([
  tokenBucket({ capacity: 10, refill: '1/h' }),
  leakyBucket({ capacity: 10, drain: '1/h' }),
  year(10),
  slidingWindow({ quota: 10, window: '365d', slices: 12 }),
  slidingLog({ quota: 10, window: '365d' }),
  concurrency({ max: 10, ttl: '365d' }),
])('what a denied request took from a $algorithm elsewhere is given back', async (limit) => {
  const policy = createPolicy({
    name: 'api',
    levels: [
      { name: 'merchant', key: 'merchant', limit },
      { name: 'global', limit: year(3) },
    ],
    store,
  })
  for (let i = 0; i < 6; i++) {
    const verdict = await policy.check({ merchant: 'm1' })
    expect(verdict).toMatchObject(i < 3 ? { allowed: true } : { allowed: false, deniedBy: ['global'] })
    expect(remaining(verdict)).toEqual([Math.max(7, 9 - i), Math.max(0, 2 - i)])
  }
  expect(remaining(await policy.peek({ merchant: 'm1' }))).toEqual([7, 0])
})

it('reservations over several slots settle and cancel each level once', async () => {
  const policy = createPolicy({
    name: 'api',
    levels: [
      { name: 'global', limit: year(100) },
      { name: 'merchant', key: 'merchant', limit: [year(50), year(60)] },
      { name: 'ip', key: 'ip', limit: year(10), cost: 2 },
      { name: 'shadow', key: 'ip', limit: year(4), shadow: true },
    ],
    store,
  })
  const request = { merchant: 'm1', ip: '192.0.2.1' }
  const reservation = await policy.reserve(request, { cost: 10 })
  expect(remaining(reservation.verdict)).toEqual([90, 40, 50, 8, 4])
  await Promise.all([reservation.settle(4), reservation.settle(0), reservation.cancel()])
  expect(remaining(await policy.peek(request))).toEqual([96, 46, 56, 8, 4])
  const cancelled = await policy.reserve(request, { cost: 3 })
  expect(remaining(cancelled.verdict)).toEqual([93, 43, 53, 6, 1])
  await Promise.all([cancelled.cancel(), cancelled.cancel()])
  expect(remaining(await policy.peek(request))).toEqual([96, 46, 56, 8, 4])
  await policy.reset(request)
  expect(remaining(await policy.peek(request))).toEqual([100, 50, 60, 10, 4])
})

it('overrides live in one slot, and every process finds them', async () => {
  const levels = [{ name: 'merchant', key: 'merchant', limit: year(1) }] as const
  const policies = asMany(20, (i) => createPolicy({ name: `policy-${i}`, levels, store }))
  await Promise.all(policies.map((policy) => policy.override('merchant', 'm', year(9))))
  const later = redisStore(opened.client, { prefix: `test-${prefixes}:`, deadlineMs: 20_000, onFailure: 'closed' })
  for (const { name } of policies) {
    const verdict = await createPolicy({ name, levels, store: later }).peek({ merchant: 'm' })
    expect(verdict).toMatchObject({ levels: [{ decision: { quota: 9 } }] })
    expect(verdict.degraded).toBeUndefined()
  }
})
