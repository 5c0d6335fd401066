import { Worker } from 'node:worker_threads'
import { createLimiter, fixedWindow, type Limit, leakyBucket, tokenBucket } from 'sluice'
import { type SharedStore, sharedStore } from 'sluice/shared'
import { describe, expect, it } from 'vitest'
import { isLong } from '../property/arbitraries.js'
import { tableProblems } from './table-problems.js'

const WORKERS = 8
const DEATHS = isLong ? 1_000 : 20
const workerFile = new URL('./worker.mjs', import.meta.url)

interface Work {
  readonly limit: Limit
  /** With it, each request takes from both. */
  readonly second?: Limit
  readonly keys: number
  readonly tries: number
}

function startWorkers(store: SharedStore, count: number, work: Work): readonly Worker[] {
  const start = new SharedArrayBuffer(4)
  new Int32Array(start)[0] = count
  return Array.from(
    { length: count },
    () => new Worker(workerFile, { workerData: { ...work, handle: store.handle, start } }),
  )
}

function admittedBy(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
}

describe('eight worker threads', () => {
  const limits = [
    tokenBucket({ capacity: 100_000, refill: '1/h' }),
    leakyBucket({ capacity: 100_000, drain: '1/h' }),
    fixedWindow({ quota: 100_000, window: '365d' }),
  ]
  for (const limit of limits) {
    const tries = isLong ? 10_000_000 : 1_000_000
    it(`admit exactly the quota of a ${limit.algorithm}, in ${tries} tries on one key`, async () => {
      const store = sharedStore({ maxKeys: 1_000 })
      const workers = startWorkers(store, WORKERS, { limit, keys: 1, tries: tries / WORKERS })
      const admitted = await Promise.all(workers.map(admittedBy))
      expect(admitted.reduce((sum, units) => sum + units)).toBe(100_000)
      expect(createLimiter({ name: 'test', limit, store }).peek('key:0').remaining).toBe(0)
    }, 600_000)
  }

  it('admit exactly the quota of each of many keys that they insert at the same time', async () => {
    const store = sharedStore({ maxKeys: 2_000 })
    const work = { limit: tokenBucket({ capacity: 5, refill: '1/d' }), keys: 2_000, tries: 20_000 }
    const admitted = await Promise.all(startWorkers(store, WORKERS, work).map(admittedBy))
    expect(admitted.reduce((sum, units) => sum + units)).toBe(5 * 2_000)
    expect(store.stats()).toMatchObject({ keys: 2_000, shared: 0, refused: 0 })
    expect(tableProblems(store.handle, Infinity)).toEqual([])
  }, 120_000)
})

describe('four worker threads whose requests take from two limits', () => {
  it('take from both or none, and lose no unit', async () => {
    const store = sharedStore({ maxKeys: 1_000 })
    const limit = tokenBucket({ capacity: 30_000, refill: '1/h' })
    const second = fixedWindow({ quota: 20_000, window: '365d' })
    const workers = startWorkers(store, 4, { limit, second, keys: 1, tries: 20_000 })
    const admitted = await Promise.all(workers.map(admittedBy))
    expect(admitted.reduce((sum, units) => sum + units)).toBe(20_000)
    expect(store.decideOne('test', limit, 'key:0', 0).remaining).toBe(10_000)
    expect(store.decideOne('second', second, 'key:0', 0).remaining).toBe(0)
  }, 120_000)
})

describe('worker threads that are terminated under load', () => {
  it(`leave a table that passes its checks and still decides, ${DEATHS} times`, async () => {
    // States are whole after a millisecond, so that entries change hands all the time.
    const limit = tokenBucket({ capacity: 2, refill: '2000/s' })
    const store = sharedStore({ maxKeys: 256 })
    const limiter = createLimiter({ name: 'test', limit, store })
    for (let deaths = 0; deaths < DEATHS; deaths += 2) {
      const workers = startWorkers(store, 2, { limit, keys: 4_000, tries: Number.POSITIVE_INFINITY })
      const before = store.stats().dropped
      while (store.stats().dropped < before + 100 * ((deaths % 7) + 1)) await new Promise(setImmediate)
      await Promise.all(workers.map((worker) => worker.terminate()))
      const nowUs = store.clock.now() * 1_000 - store.handle.startUs
      expect(tableProblems(store.handle, nowUs + 1_000_000)).toEqual([])
      for (let i = 0; i < 200; i++) expect(limiter.tryAcquire(`later:${deaths}:${i}`).quota).toBe(2)
    }
    expect(store.stats().dropped).toBeGreaterThan(DEATHS * 50)
  }, 1_200_000)
})
