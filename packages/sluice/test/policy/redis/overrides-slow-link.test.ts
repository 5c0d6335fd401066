/** Many overrides, over links on which they do not come within a decision's deadline. */
import { Redis } from 'ioredis'
import { ManualClock } from 'sluice/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RedisServer, startRedis } from '../../../../../scripts/redis-server.mjs'
import { createPolicy, fixedWindow } from '../../../src/index.js'
import { microseconds } from '../../../src/limits/index.js'
import { ioredisRunner } from '../../../src/stores/redis/clients/ioredis-client.js'
import { ioredisOptions, type RedisStoreOptions } from '../../../src/stores/redis/index.js'
import { RedisStore } from '../../../src/stores/redis/redis-store.js'
import { injectedTime, redisTime } from '../../../src/stores/redis/time-source.js'
import { until } from '../../redis/faults-until.js'
import { SlowWire } from '../../redis/slow-wire.js'

const quota = (units: number) => fixedWindow({ quota: units, window: '30d' })
const LEVELS = [{ name: 'merchant', key: 'merchant', limit: quota(1) }] as const
const KEY = 'test:o:{api}'

let server: RedisServer
let redis: Redis
let wire: SlowWire
let client: Redis
let clock: ManualClock
beforeEach(async () => {
  server = await startRedis()
  redis = new Redis(server.port)
  wire = await SlowWire.to(server.port)
  client = new Redis(wire.port, '127.0.0.1', { ...ioredisOptions, lazyConnect: true, retryStrategy: () => 5 })
  client.on('error', () => {})
  await client.connect()
  clock = new ManualClock(Date.UTC(2026, 0, 1))
})
afterEach(async () => {
  client?.disconnect()
  redis?.disconnect()
  await wire?.stop()
  await server?.stop()
})

/** Sets overrides for m0, m1 … to a quota of 9, as a process did long ago. */
async function seed(count: number): Promise<void> {
  const value = JSON.stringify({ limits: [quota(9)] })
  const first = microseconds(clock.now()) - 1_000_000 - count
  const writes = redis.pipeline()
  for (let i = 0; i < count; i++) {
    writes.hset(KEY, `merchant/m${i}`, value)
    writes.zadd(`${KEY}versions`, first + i, `merchant/m${i}`)
  }
  writes.hset(KEY, '#version', first + count - 1, '#floor', first)
  await writes.exec()
}

/** A policy in a process at the far end of the wire, or on its own connection to the server. */
function start(options: RedisStoreOptions, over = client, time = injectedTime(() => microseconds(clock.now()))) {
  const store = new RedisStore(ioredisRunner(over), { prefix: 'test:', ...options }, time)
  return { store, policy: createPolicy({ name: 'api', levels: LEVELS, store }) }
}

type P = ReturnType<typeof start>['policy']
const look = async (policy: P, merchant: string) => {
  const { degraded, levels } = await policy.peek({ merchant })
  return { degraded, quota: levels[0].decision.quota }
}
const KNOWN = { degraded: undefined, quota: 9 }

/** How many pages have been read that had something in them. */
async function pages(): Promise<number> {
  return Number(/cmdstat_hmget:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
}

/** On a link that is quick beside the deadline, pages are 10, 20, 40 and so on, and then always 500: half is 2,130 in 9. */
const HALF = 9
const ALL_OF_4_000 = 13

/** Breaks the connection, and waits until the client has another. */
async function cut(): Promise<void> {
  const closed = new Promise((resolve) => client.once('close', resolve))
  wire.cut()
  await closed
  await until('the client is back', () => client.status === 'ready')
}

describe('on a link that is too narrow for a page of a thousand', () => {
  it('all become known, checks are not held up, and each says whether it knew', async () => {
    await seed(5_000)
    wire.bytesPerMs = 400
    const deadlineMs = 250
    const { store, policy } = start({ deadlineMs, onFailure: 'open' }, client, redisTime)
    const verdicts: Awaited<ReturnType<typeof look>>[] = []
    let longestMs = 0
    await until(
      'all are known',
      async () => {
        const askedMs = performance.now()
        const verdict = await look(policy, 'm4999')
        longestMs = Math.max(longestMs, performance.now() - askedMs)
        verdicts.push(verdict)
        return verdict.degraded === undefined
      },
      20_000,
    )
    expect(verdicts[0]).toEqual({ degraded: 'overrides', quota: 1 })
    expect(verdicts.at(-1)).toEqual(KNOWN)
    // Two deadlines, and as much for a machine that is busy.
    expect(longestMs).toBeLessThan(4 * deadlineMs)
    // Pages are so small that decisions do not fail behind them.
    expect(verdicts.filter(({ degraded }) => degraded === 'open').length).toBeLessThan(verdicts.length / 5)
    expect(store.stats()).toMatchObject({ breaker: 'closed', degraded: { error: 0, breaker: 0 } })
  })
})

describe('on a link that is slower than the deadline', () => {
  it('all become known, though no decision comes in time', async () => {
    await seed(2_000)
    wire.latencyMs = 100
    const { policy } = start({ deadlineMs: 50, onFailure: 'local' })
    expect(await look(policy, 'm1999')).toEqual({ degraded: 'local', quota: 1 })
    await until('the last is known', async () => (await look(policy, 'm1999')).quota === 9)
    expect(await look(policy, 'm1999')).toEqual({ degraded: 'local', quota: 9 })
  })
})

describe('while they are read', () => {
  beforeEach(() => {
    wire.latencyMs = 25
  })

  it('a check waits no longer than the deadline for them, later checks not at all, and all say so', async () => {
    await seed(12_000)
    const deadlineMs = 400
    const { policy } = start({ deadlineMs })
    const took = async () => {
      const askedMs = performance.now()
      const { degraded, levels } = await policy.check({ merchant: 'm11999' }, { cost: 0 })
      return { degraded, own: levels[0].decision.degraded, ms: performance.now() - askedMs }
    }
    const waited = await took()
    expect(waited).toMatchObject({ degraded: 'overrides', own: undefined })
    expect(waited.ms).toBeGreaterThan(deadlineMs)
    const next = await took()
    expect(next).toMatchObject({ degraded: 'overrides', own: undefined })
    expect(next.ms).toBeLessThan(deadlineMs)
    await until('all are known', async () => (await took()).degraded === undefined)
  })

  it('those that have come count already', async () => {
    await seed(12_000)
    const { policy } = start({ deadlineMs: 400 })
    expect(await look(policy, 'm0')).toEqual({ degraded: 'overrides', quota: 9 })
    expect(await look(policy, 'm11999')).toEqual({ degraded: 'overrides', quota: 1 })
  })

  it('one that this process sets or removes counts at once, and afterwards', async () => {
    await seed(3_000)
    const { policy } = start({ deadlineMs: 10_000 })
    const reading = look(policy, 'm2999')
    await Promise.all([
      policy.override('merchant', 'new', quota(7)),
      policy.removeOverride('merchant', 'm1'),
      policy.removeOverride('merchant', 'm2998'),
    ])
    const seen = ['new', 'm1', 'm2998']
    const own = () => Promise.all(seen.map(async (merchant) => (await look(policy, merchant)).quota))
    expect(await own()).toEqual([7, 1, 1])
    expect(await reading).toEqual(KNOWN)
    expect(await own()).toEqual([7, 1, 1])
  })

  it('a connection that breaks costs a page: reading goes on from there', async () => {
    await seed(4_000)
    const { policy } = start({ deadlineMs: 10_000 })
    const first = look(policy, 'm3999')
    await until('half has been read', async () => (await pages()) >= HALF)
    await cut()
    expect(await first).toMatchObject({ degraded: expect.any(String), quota: 1 })
    clock.advance(1_000)
    expect(await look(policy, 'm3999')).toEqual(KNOWN)
    // One was lost, and after it one is of half the size.
    expect(await pages()).toBeLessThanOrEqual(ALL_OF_4_000 + 2)
  })

  it('a Redis that loses everything is read anew', async () => {
    await seed(4_000)
    const { policy } = start({ deadlineMs: 10_000 })
    const first = look(policy, 'm0')
    await until('half has been read', async () => (await pages()) >= HALF)
    await redis.flushall()
    await start({ deadlineMs: 10_000 }, redis).policy.override('merchant', 'new', quota(7))
    expect(await first).toEqual({ degraded: undefined, quota: 1 })
    expect(await look(policy, 'new')).toEqual({ degraded: undefined, quota: 7 })
    expect(await look(policy, 'm1')).toEqual({ degraded: undefined, quota: 1 })
  })

  it('a Redis that loses everything and whose clock steps back is read anew', async () => {
    await seed(4_000)
    const { policy } = start({ deadlineMs: 10_000 })
    const first = look(policy, 'm0')
    await until('half has been read', async () => (await pages()) >= HALF)
    await redis.flushall()
    // Later than what has been read, and earlier than what was there when reading began.
    const backThen = clock.now() - 1_000 - 1.5
    const other = injectedTime(() => microseconds(backThen))
    await start({}, redis, other).policy.override('merchant', 'new', quota(7))
    expect(await first).toEqual({ degraded: undefined, quota: 1 })
    expect(await look(policy, 'm1')).toEqual({ degraded: undefined, quota: 1 })
    expect(await look(policy, 'new')).toEqual({ degraded: undefined, quota: 7 })
  })

  it('what others remove meanwhile is not in force afterwards', async () => {
    await seed(4_000)
    const other = start({ deadlineMs: 10_000 }, redis).policy
    const { policy } = start({ deadlineMs: 10_000 })
    const first = look(policy, 'm1')
    await until('half has been read', async () => (await pages()) >= HALF)
    await other.removeOverride('merchant', 'm1')
    await other.removeOverride('merchant', 'm3998')
    expect(await first).toEqual({ degraded: undefined, quota: 1 })
    expect(await look(policy, 'm3998')).toEqual({ degraded: undefined, quota: 1 })
    expect(await look(policy, 'm3999')).toEqual(KNOWN)
  })
})

describe('a process that has to start over', () => {
  it('uses what it knew until it has read all, also if that takes several tries', async () => {
    await seed(4_000)
    const other = start({ deadlineMs: 10_000 }, redis).policy
    const { policy } = start({ deadlineMs: 10_000 })
    expect(await look(policy, 'm3999')).toEqual(KNOWN)
    await other.removeOverride('merchant', 'm5')
    clock.advance(3_700_000)
    // Clears what was removed, so that a reader who was away has to start over.
    await other.override('merchant', 'm6', quota(7))
    wire.latencyMs = 25
    const before = await pages()
    const first = look(policy, 'm3999')
    // Pages are of 500 by now.
    await until('half has been read', async () => (await pages()) - before >= 4)
    await cut()
    expect((await first).quota).toBe(9)
    // m5 was read before and not now: it is in force until all has been read.
    expect([await look(policy, 'm5'), await look(policy, 'm6')]).toEqual([
      { degraded: 'overrides', quota: 9 },
      { degraded: 'overrides', quota: 9 },
    ])
    clock.advance(1_000)
    expect([await look(policy, 'm5'), await look(policy, 'm6'), await look(policy, 'm3999')]).toEqual([
      { degraded: undefined, quota: 1 },
      { degraded: undefined, quota: 7 },
      KNOWN,
    ])
    expect((await pages()) - before).toBeLessThanOrEqual(ALL_OF_4_000 + 2)
  })
})
