import { setTimeout as sleep } from 'node:timers/promises'
import { createLimiter, createShaper, leakyBucket, tokenBucket } from 'sluice'
import { describe, expect, it } from 'vitest'
import { until } from '../../redis/faults-until.js'
import { ownServer } from '../../redis/own-server.js'
import { mostInASecond } from '../processes.js'

const own = ownServer()

const SPACING_MS = 10
/** A caller may note its departure late, which makes the next one seem too close. A slot is kept for 20 ms. */
const LATE_MS = 20

/** Two shapers, as two processes would have, and what their work has noted. */
function fleet(name: string, concurrency: number) {
  const numbers = { name, drain: '100/s' as const, capacity: 1_000, concurrency, store: own.store }
  const departures: { shaper: number; name: number; leftMs: number }[] = []
  const most = [0, 0]
  const running = [0, 0]
  const shapers = most.map(() => createShaper(numbers))
  const run = (shaper: number, name: number, work: () => Promise<unknown>) =>
    shapers[shaper].run(async () => {
      departures.push({ shaper, name, leftMs: performance.now() })
      most[shaper] = Math.max(most[shaper], ++running[shaper])
      try {
        await work()
      } finally {
        running[shaper]--
      }
    })
  return { shapers, departures, most, run }
}

describe('shapers with concurrency on one Redis', () => {
  it('leave at the rate together, run no more than their places, and serve all in order', async () => {
    const { shapers, departures, most, run } = fleet('places', 3)
    const work = (i: number) => async () => {
      await sleep((i * 7) % 23)
      if (i % 10 === 3) throw new Error('of the work')
    }
    const all = Array.from({ length: 120 }, (_, i) => run(i % 2, i, work(i)))
    const results = await Promise.allSettled(all)
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(12)
    // On a busy machine a piece of work may be over before the next slot is there.
    for (const each of most) {
      expect(each).toBeGreaterThan(1)
      expect(each).toBeLessThanOrEqual(3)
    }
    for (const shaper of [0, 1]) {
      const names = departures.filter((each) => each.shaper === shaper).map(({ name }) => name)
      expect(names).toEqual(Array.from({ length: 60 }, (_, i) => 2 * i + shaper))
    }
    const spanMs = departures[119].leftMs - departures[0].leftMs
    expect(spanMs).toBeGreaterThanOrEqual(119 * SPACING_MS - LATE_MS)
    expect(mostInASecond(departures)).toBeLessThanOrEqual(102 + 2)
    expect(shapers.map(({ size, pending }) => [size, pending])).toEqual([
      [0, 0],
      [0, 0],
    ])
    await Promise.all(shapers.map((shaper) => shaper.close()))
  })

  it('take no slots for waiters that no place is free for, and one for each place', async () => {
    // So slow that no slot comes during the test.
    const numbers = { drain: '6/m' as const, capacity: 10 }
    const limiter = createLimiter({ name: 'no waste', limit: leakyBucket(numbers), store: own.store })
    const nextSlot = async () => Math.ceil((await limiter.peek('bank')).delayMs / 10_000)
    const untilNextSlot = (slot: number) => until(`the next slot is ${slot}`, async () => (await nextSlot()) === slot)
    const shaper = createShaper({ ...numbers, name: 'no waste', store: own.store, concurrency: 1 })
    let end = () => {}
    const long = shaper.run(() => new Promise<void>((resolve) => (end = resolve)), { key: 'bank' })
    const held = Promise.allSettled([1, 2, 3].map(() => shaper.run(() => {}, { key: 'bank' })))
    await untilNextSlot(1)
    await until('the first has left', () => shaper.pending === 1)
    expect([await nextSlot(), shaper.size]).toEqual([1, 3])
    end()
    await long
    await untilNextSlot(2)
    expect([await nextSlot(), shaper.size]).toEqual([2, 3])
    await shaper.close({ waiting: 'reject' })
    expect((await held).every(({ status }) => status === 'rejected')).toBe(true)
    await untilNextSlot(1)
  })

  it('stop at pause and go on at resume, in this process only', async () => {
    const { shapers, departures, run } = fleet('pause', 5)
    shapers[0].pause()
    const paused = Array.from({ length: 10 }, (_, i) => run(0, i, async () => {}))
    await Promise.all(Array.from({ length: 10 }, (_, i) => run(1, i, async () => {})))
    expect(departures.every(({ shaper }) => shaper === 1)).toBe(true)
    shapers[0].resume()
    const resumedMs = performance.now()
    await Promise.all(paused)
    expect(departures).toHaveLength(20)
    expect(departures[19].leftMs - resumedMs).toBeGreaterThanOrEqual(9 * SPACING_MS - LATE_MS)
    await Promise.all(shapers.map((shaper) => shaper.close()))
  })
})

it('a limiter on Redis rejects the waiter above maxWaiters, and serves the others', async () => {
  const limit = tokenBucket({ capacity: 1, refill: '100/s' })
  const limiter = createLimiter({ name: 'bounded', limit, store: own.store, maxWaiters: 5 })
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => limiter.acquire('key')))
  expect(results.map(({ status }) => status)).toEqual([...Array(5).fill('fulfilled'), ...Array(3).fill('rejected')])
  for (const result of results.slice(5))
    expect((result as PromiseRejectedResult).reason).toMatchObject({ code: 'SLUICE_QUEUE_FULL' })
  expect(await limiter.acquire('key')).toMatchObject({ allowed: true })
})
