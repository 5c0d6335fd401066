import { setTimeout as sleep } from 'node:timers/promises'
import Bottleneck from 'bottleneck'
import PQueue from 'p-queue'
import { createLimiter, createShaper, fixedWindow, QueueFullError, slidingLog } from 'sluice'
import { describe, expect, test, vi } from 'vitest'
import { runExamples } from './page-examples.js'

/** Timers of Node.js may fire a millisecond early by the clock that is read here. */
const EARLY_MS = 2

/** On a busy machine a job notes its time late, so that times seem too close: measures again. */
const measured = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 25_000 })

describe('docs/moving/bottleneck.md', () => {
  const PAGE = 'moving/bottleneck.md'

  test('jobs keep their distance and their order, and give their results', async () => {
    for (const { transfer } of await runExamples<{
      transfer(id: string, job: () => void): Promise<string>
    }>(PAGE, 'A job every so often')) {
      const ran: [string, number][] = []
      const started = performance.now()
      const ids = ['t1', 't2', 't3', 't4']
      const results = await Promise.all(
        ids.map((id) => transfer(id, () => ran.push([id, performance.now() - started]))),
      )
      expect(results).toEqual(ids.map((id) => `${id} is sent`))
      expect(ran.map(([id]) => id)).toEqual(ids)
      for (const [i, [, atMs]] of ran.entries()) expect(atMs).toBeGreaterThan(i * 20 - EARLY_MS)
    }
  })

  test('urgent jobs overtake, and each key has its own queue', async () => {
    type Run = (account: string, urgent: boolean, job: () => Promise<void>) => Promise<unknown>
    for (const { run } of await runExamples<{ run: Run }>(PAGE, 'Priorities, weights and keys')) {
      const ran: string[] = []
      const note = (name: string) => async () => {
        ran.push(name)
        await sleep(5) // bottleneck lets a job wait in the queue only while another runs
      }
      await Promise.all([
        run('a', false, note('a first')),
        run('a', false, note('a second')),
        run('a', true, note('a urgent')),
        run('b', false, note('b first')),
      ])
      expect(ran.indexOf('a first')).toBeLessThan(ran.indexOf('a urgent'))
      expect(ran.indexOf('a urgent')).toBeLessThan(ran.indexOf('a second'))
      expect(ran.indexOf('b first')).toBeLessThan(2)
    }
  })

  test('a reservoir runs so many at once and the next after its interval', () =>
    measured(async () => {
      const sides = await runExamples<{ call(job: () => void): Promise<void>; api?: Bottleneck }>(PAGE, 'A reservoir')
      for (const { call, api } of sides) {
        const atMs: number[] = []
        await Promise.all(Array.from({ length: 4 }, () => call(() => atMs.push(performance.now()))))
        await api?.disconnect()
        // The interval of bottleneck begins when the limiter is made, so its fourth job may come a little earlier.
        expect(atMs[3] - atMs[2]).toBeGreaterThan(200)
      }
    }))

  test('so many jobs run at the same time and the others wait for a place and their time, up to a bound', () =>
    measured(async () => {
      type Side = { transfer(job: () => Promise<void>): Promise<void> }
      for (const { transfer } of await runExamples<Side>(PAGE, 'So many at the same time')) {
        let [running, most] = [0, 0]
        const atMs: number[] = []
        const job = async () => {
          atMs.push(performance.now())
          most = Math.max(most, ++running)
          await sleep(50)
          running--
        }
        const results = await Promise.allSettled(Array.from({ length: 7 }, () => transfer(job)))
        expect(results.map(({ status }) => status)).toEqual([
          ...Array(5).fill('fulfilled'),
          ...Array(2).fill('rejected'),
        ])
        expect(most).toBe(2)
        for (let i = 1; i < 5; i++) expect(atMs[i] - atMs[i - 1]).toBeGreaterThan(20 - EARLY_MS)
      }
    }))

  test('with minTime alone, highWater rejects no job there; a full queue does here', async () => {
    const theirs = new Bottleneck({ minTime: 5, highWater: 2, strategy: Bottleneck.strategy.OVERFLOW })
    const five = [1, 2, 3, 4, 5]
    await expect(Promise.all(five.map((i) => theirs.schedule(async () => i)))).resolves.toEqual(five)
    const ours = createShaper({ drain: '200/s', capacity: 2 })
    const results = await Promise.allSettled(five.map((i) => ours.run(() => i)))
    expect(results.slice(0, 2).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    expect((results[4] as PromiseRejectedResult).reason).toBeInstanceOf(QueueFullError)
  })

  test('with minTime alone, priority has no effect there, and orders the queue here', async () => {
    const order: string[] = []
    const theirs = new Bottleneck({ minTime: 5 })
    const there = (name: string, priority: number) => theirs.schedule({ priority }, async () => order.push(name))
    await Promise.all([there('first', 5), there('last', 9), there('urgent', 0)])
    expect(order.splice(0)).toEqual(['first', 'last', 'urgent'])
    const ours = createShaper({ drain: '200/s', capacity: 10 })
    const here = (name: string, priority: number) => ours.run(() => order.push(name), { priority })
    await Promise.all([here('first', 0), here('last', -9), here('urgent', 9)])
    expect(order).toEqual(['first', 'urgent', 'last'])
  })
})

describe('docs/moving/p-queue.md', () => {
  const PAGE = 'moving/p-queue.md'

  test('three jobs start at once, and the next ones after the interval', async () => {
    for (const { add } of await runExamples<{ add(job: () => void): Promise<void> }>(PAGE, 'So many in an interval')) {
      const startedMs = performance.now()
      const atMs: number[] = []
      await Promise.all(Array.from({ length: 7 }, () => add(() => atMs.push(performance.now() - startedMs))))
      expect(atMs).toHaveLength(7)
      expect(atMs[3]).toBeGreaterThan(200 - EARLY_MS)
      expect(atMs[6]).toBeGreaterThan(400 - 2 * EARLY_MS)
    }
  })

  test('the highest priority leaves first, and onIdle waits for all', async () => {
    type Side = { add(job: () => void, priority?: number): Promise<void>; idle(): Promise<void> }
    for (const { add, idle } of await runExamples<Side>(PAGE, 'Evenly')) {
      const order: string[] = []
      const note = (name: string) => () => void order.push(name)
      for (const job of [add(note('first')), add(note('low'), -1), add(note('high'), 1)]) job.catch(expect.fail)
      await idle()
      expect(order).toEqual(['first', 'high', 'low'])
    }
  })

  test('two jobs run at the same time, and no third', async () => {
    type Side = { add(job: () => Promise<void>): Promise<void> }
    for (const { add } of await runExamples<Side>(PAGE, 'So many at the same time')) {
      let [running, most] = [0, 0]
      const job = async () => {
        most = Math.max(most, ++running)
        await new Promise(setImmediate)
        running--
      }
      await Promise.all(Array.from({ length: 10 }, () => add(job)))
      expect([running, most]).toEqual([0, 2])
    }
  })

  test('jobs wait until the queue is started, and again after a pause', async () => {
    interface Side {
      add(job: () => void): Promise<void>
      start(): void
      pause(): void
      isPaused(): boolean
      size(): number
    }
    for (const side of await runExamples<Side>(PAGE, 'Pause and start')) {
      let done = 0
      const addThree = () => Promise.all([1, 2, 3].map(() => side.add(() => void done++)))
      const first = addThree()
      await sleep(5)
      expect([done, side.size(), side.isPaused()]).toEqual([0, 3, true])
      side.start()
      await first
      expect([done, side.size(), side.isPaused()]).toEqual([3, 0, false])
      side.pause()
      const second = addThree()
      await sleep(5)
      expect([done, side.size(), side.isPaused()]).toEqual([3, 3, true])
      side.start()
      await second
      expect(done).toBe(6)
    }
  })

  const BOTH = 'So many at the same time, and so many in an interval'
  interface Both {
    add(job: () => Promise<string>): Promise<string>
    pause(): void
    start(): void
  }

  test('two at the same time and five in a second: p-queue and a window start five at once, a shaper spreads them', () =>
    measured(async () => {
      const sides = await runExamples<Both>(PAGE, BOTH)
      const fifthAndSixthMs = sides.map(async ({ add }) => {
        const startedMs = performance.now()
        const atMs: number[] = []
        let [running, most] = [0, 0]
        const job = async () => {
          atMs.push(performance.now() - startedMs)
          most = Math.max(most, ++running)
          await new Promise(setImmediate)
          running--
          return 'sent'
        }
        expect(await Promise.all(Array.from({ length: 7 }, () => add(job)))).toEqual(Array(7).fill('sent'))
        expect(most).toBeLessThanOrEqual(2)
        return [atMs[4], atMs[5]]
      })
      const [theirs, spread, burst] = await Promise.all(fifthAndSixthMs)
      for (const [fifth, sixth] of [theirs, burst]) {
        expect(fifth).toBeLessThan(500)
        expect(sixth).toBeGreaterThan(1_000 - EARLY_MS)
      }
      expect(spread[0]).toBeGreaterThan(800 - EARLY_MS)
    }))

  test('no job starts during a pause, and all run after it, in their order', async () => {
    const sides = await runExamples<Both>(PAGE, BOTH)
    await Promise.all(
      sides.map(async ({ add, pause, start }) => {
        const order: number[] = []
        const jobs = Array.from({ length: 8 }, (_, i) =>
          add(async () => {
            order.push(i)
            return 'sent'
          }),
        )
        await vi.waitFor(() => expect(order.length).toBeGreaterThan(0))
        await new Promise(setImmediate)
        pause()
        const before = order.length
        await sleep(1_100)
        expect(order).toHaveLength(before)
        start()
        await Promise.all(jobs)
        expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
      }),
    )
  })

  test('without a look at the pause, jobs that have a place start in it; after units first, too many start', async () => {
    const limit = fixedWindow({ quota: 5, window: '100ms', align: 'first' })
    const places = createShaper({ concurrency: 2, capacity: 100 })
    const limiter = createLimiter({ limit })
    let done = 0
    const job = () => void done++
    const placeFirst = Array.from({ length: 8 }, () => places.run(() => limiter.acquire('api').then(job)))
    await vi.waitFor(() => expect(done).toBe(5))
    places.pause()
    await vi.waitFor(() => expect(done).toBe(7))
    places.resume()
    await Promise.all(placeFirst)

    done = 0
    places.pause()
    const unitsFirst = Array.from({ length: 20 }, () => limiter.acquire('api').then(() => places.run(job)))
    await vi.waitFor(() => expect(places.size).toBe(20))
    const startedMs = performance.now()
    places.resume()
    await Promise.all(unitsFirst)
    expect(done).toBe(20)
    expect(performance.now() - startedMs).toBeLessThan(300) // the window would take 300 ms for 20
  })

  test('around the end of an interval p-queue starts more than its cap; slidingLog never does', () =>
    measured(async () => {
      const theirs = new PQueue({ intervalCap: 5, interval: 200 })
      const limiter = createLimiter({ limit: slidingLog({ quota: 5, window: '200ms' }) })
      const ours = async (job: () => void) => {
        await limiter.acquire('api')
        job()
      }
      const [there, here] = await Promise.all([mostIn200Ms((job) => theirs.add(async () => job())), mostIn200Ms(ours)])
      expect(there).toBeGreaterThan(5)
      expect(here).toBe(5)
    }))
})

/** One job, nine more after 150 ms, and the most that ran within 200 ms. */
async function mostIn200Ms(add: (job: () => void) => Promise<void>): Promise<number> {
  const atMs: number[] = []
  const note = () => void atMs.push(performance.now())
  await add(note)
  await sleep(150)
  await Promise.all(Array.from({ length: 9 }, () => add(note)))
  const windowMs = 200 - EARLY_MS
  return Math.max(...atMs.map((from) => atMs.filter((each) => each >= from && each < from + windowMs).length))
}
