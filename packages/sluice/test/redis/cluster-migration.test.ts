import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisCluster, startCluster } from '../../../../scripts/redis-cluster.mjs'
import { createLimiter, type Demand, fixedWindow, tokenBucket } from '../../src/index.js'
import { type RedisStoreOptions, redisStore } from '../../src/stores/redis/index.js'
import { hashSlotOf } from '../../src/stores/redis/key-layout.js'
import { CLUSTER_CLIENTS, type ClusterClient } from './cluster-clients.js'
import { ownerOf, SlotMove } from './cluster-slots.js'

const SOUND = { deadline: 0, error: 0, breaker: 0, overload: 0, foreign: 0 }
const QUOTA = 1_000_000
const counter = fixedWindow({ quota: QUOTA, window: '365d' })
const KEY = 'user:42'
const SLOT = hashSlotOf(KEY)

let cluster: RedisCluster
let prefixes = 0

beforeAll(async () => {
  cluster = await startCluster()
})
afterAll(() => cluster?.stop())

describe.each(Object.entries(CLUSTER_CLIENTS))('while a hash slot moves, %s', (_, connect) => {
  let opened: ClusterClient

  beforeAll(async () => {
    opened = await connect(cluster)
  })
  afterAll(() => void opened?.close())

  /** A store whose client has spoken to every server. */
  const freshStore = async (options: RedisStoreOptions = {}) => {
    const prefix = `test-${++prefixes}:`
    const store = redisStore(opened.client, { prefix, deadlineMs: 2_000, onFailure: 'closed', ...options })
    const limiter = createLimiter({ name: 'warm', limit: counter, store })
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) await limiter.peek(key)
    return store
  }

  test('loses no decision for a key, and makes none twice', async () => {
    // Calls of one turn go one by one: many are on their way when the slot moves.
    const store = await freshStore({ maxBatch: 1 })
    const limiter = createLimiter({ name: 'test', limit: counter, store })
    let allowed = 0
    await whileMoving(async () => {
      if ((await limiter.tryAcquire(KEY)).allowed) allowed++
    })
    expect(store.stats().degraded).toEqual(SOUND)
    expect(store.stats().late).toBe(0)
    expect(allowed).toBeGreaterThan(0)
    expect((await limiter.peek(KEY)).remaining).toBe(QUOTA - allowed)
  })

  test('admits no more than a bucket holds and gets', async () => {
    const store = await freshStore()
    const limiter = createLimiter({ name: 'test', limit: tokenBucket({ capacity: 20, refill: '100/s' }), store })
    let [allowed, denied] = [0, 0]
    const start = performance.now()
    await whileMoving(async () => {
      if ((await limiter.tryAcquire(KEY)).allowed) allowed++
      else denied++
    })
    const seconds = (performance.now() - start) / 1000
    expect(store.stats().degraded).toEqual(SOUND)
    expect(denied).toBeGreaterThan(0)
    expect(allowed).toBeGreaterThanOrEqual(20)
    expect(allowed).toBeLessThanOrEqual(20 + 100 * seconds)
  })

  test('decides for limits that are asked for the same key in the same turn, each for itself', async () => {
    const store = await freshStore({ deadlineMs: 1_000 })
    const [old, fresh] = ['old', 'new'].map((name) => createLimiter({ name, limit: counter, store }))
    await old.tryAcquire(KEY)
    const decisions = await midMove(() => Promise.all([old.tryAcquire(KEY), fresh.tryAcquire(KEY)]))
    expect(decisions).toMatchObject([{ remaining: QUOTA - 2 }, { remaining: QUOTA - 1 }])
    expect(store.stats().degraded).toEqual(SOUND)
  })

  // Redis cannot serve a request over keys of which it has some and not others, or that are new, and answers TRYAGAIN.
  test('takes from all limits of a request or from none, and says if it could not ask', async () => {
    const store = await freshStore({ deadlineMs: 200 })
    const request: Demand[] = ['a', 'b'].map((name) => ({ name, limit: counter, key: KEY, cost: 1 }))
    let [allowed, degraded] = [0, 0]
    await whileMoving(async () => {
      const answer = await store.decide(request)
      const isDegraded = answer.decisions.some((decision) => decision.degraded !== undefined)
      if (isDegraded) degraded++
      else if (answer.allowed) allowed++
      expect(answer.allowed).toBe(!isDegraded)
    })
    // A client may still try to send a call whose caller has its answer.
    await expect.poll(() => store.stats().batchesInFlight, { timeout: 10_000 }).toBe(0)
    await expect.poll(() => store.stats().breaker, { timeout: 10_000 }).toBe('closed')
    const after = await store.decide(request.map((demand) => ({ ...demand, cost: 0 })))
    expect(after.decisions[0].degraded).toBeUndefined()
    const [first, second] = after.decisions.map(({ remaining }) => QUOTA - remaining)
    expect(first).toBe(second)
    expect(first).toBeGreaterThanOrEqual(allowed)
    expect(first).toBeLessThanOrEqual(allowed + degraded)
  })

  test('blocks and forgets a key, or says that it could not', async () => {
    const store = await freshStore({ deadlineMs: 200 })
    const limiter = createLimiter({ name: 'test', limit: counter, store })
    await limiter.tryAcquire(KEY)
    const outcomes = await midMove(async () => [
      await limiter.block(KEY, { duration: '1h' }).catch((error) => error.code),
      await limiter.reset(KEY).catch((error) => error.code),
    ])
    for (const outcome of outcomes) expect([undefined, 'SLUICE_STORE_UNAVAILABLE']).toContain(outcome)
    await expect.poll(() => store.stats().batchesInFlight, { timeout: 10_000 }).toBe(0)
    // Again and again, because the client may send an earlier block or reset only now, though its caller was told that it
    // failed.
    const afterBlock = async () => {
      await limiter.block(KEY, { duration: '1h' })
      return limiter.peek(KEY)
    }
    await expect.poll(afterBlock, { timeout: 10_000 }).toMatchObject({ allowed: false })
    const afterReset = async () => {
      await limiter.reset(KEY)
      return limiter.peek(KEY)
    }
    await expect.poll(afterReset, { timeout: 10_000 }).toMatchObject({ allowed: true, remaining: QUOTA })
  })
})

test('node-redis: a slot that moves degrades no others', async () => {
  const opened = await CLUSTER_CLIENTS['node-redis'](cluster)
  try {
    const store = redisStore(opened.client, { prefix: `test-${++prefixes}:`, deadlineMs: 2_000, onFailure: 'closed' })
    const neighbour = neighbourOf(SLOT)
    const decision = await midMove(async () => {
      for (let i = 0; i < 5; i++) {
        await store.decide(['a', 'b'].map((name) => ({ name, limit: counter, key: KEY, cost: 1 })))
      }
      return createLimiter({ name: 'test', limit: counter, store }).tryAcquire(neighbour)
    })
    expect(decision.degraded).toBeUndefined()
    expect(store.stats().breaker).toBe('closed')
  } finally {
    await opened.close()
  }
})

/** A key in a slot near by, which is on the same server. */
function neighbourOf(slot: number): string {
  for (let i = 0; ; i++) {
    const distance = Math.abs(hashSlotOf(`key-${i}`) - slot)
    if (distance > 0 && distance < 4) return `key-${i}`
  }
}

function* journey(): Generator<SlotMove> {
  const home = ownerOf(cluster, SLOT)
  const stops = [0, 1, 2, 1, 0].map((step) => cluster.nodes[(home + step) % cluster.nodes.length])
  for (let i = 1; i < stops.length; i++) yield new SlotMove(cluster, SLOT, stops[i - 1], stops[i])
}

/** Moves the slot from server to server and home again, while ten callers do something over and over. */
async function whileMoving(work: () => Promise<unknown>): Promise<void> {
  let isOver = false
  const callers = Array.from({ length: 10 }, async () => {
    while (!isOver) {
      await work()
      // An answer without Redis comes at once: others have to get their turn.
      await new Promise(setImmediate)
    }
  })
  try {
    for (const move of journey()) {
      await move.begin()
      await move.finish()
    }
  } finally {
    isOver = true
    await Promise.all(callers)
  }
}

/** Does something when the slot's keys are with the old server, and new ones with the new one. */
async function midMove<T>(work: () => Promise<T>): Promise<T> {
  const [there, , , back] = journey()
  await there.begin()
  try {
    return await work()
  } finally {
    await there.finish()
    await back.begin()
    await back.finish()
  }
}
