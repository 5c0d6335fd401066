import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { createShaper, memoryStore, type Rate, type Shaper, type TurnOptions } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { lateStore } from './late-store.js'
import { advance, advanceToEnd, START_MS } from './moving-clocks.js'

/** Departures may be closer by the rounding of epoch milliseconds. */
const NEAR_MS = 0.01

interface Departure {
  readonly process: number
  readonly name: number
  readonly key: string
  readonly cost: number
  readonly atMs: number
}

/** Work that lasts until it is ended, in shapers that share a store as processes do. */
class FleetJobs {
  readonly departures: Departure[] = []
  most = 0
  open = 0
  readonly #clock: ManualClock
  readonly #running = new Map<string, number>()
  #underway: (() => void)[] = []

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  run(shaper: Shaper, process: number, name: number, options: TurnOptions = {}): Promise<void> {
    const { key = 'none', cost = 1 } = options
    const place = `${process} ${key}`
    const count = (step: number) => {
      const running = (this.#running.get(place) ?? 0) + step
      this.#running.set(place, running)
      this.most = Math.max(this.most, running)
    }
    const work = async () => {
      this.departures.push({ process, name, key, cost, atMs: this.#clock.now() - START_MS })
      count(1)
      await new Promise<void>((end) => this.#underway.push(end))
      count(-1)
    }
    this.open++
    return shaper.run(work, options).finally(() => this.open--)
  }

  finish(which: number): boolean {
    if (this.#underway.length === 0) return false
    const [end] = this.#underway.splice(which % this.#underway.length, 1)
    end()
    return true
  }
}

function fleetOf(count: number, numbers: { drain: Rate; capacity: number; concurrency: number }, isLate = false) {
  const clock = new ManualClock(START_MS)
  const memory = memoryStore({ clock })
  const { late, answer, isWaiting } = lateStore(memory, () => false)
  const store = isLate ? late : memory
  const shapers = Array.from({ length: count }, () => createShaper({ ...numbers, name: 'bank', store }))
  return { clock, memory, shapers, jobs: new FleetJobs(clock), answer, isWaiting }
}

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('run' as const),
        process: fc.nat(1),
        cost: fc.constantFrom(1, 1, 1, 2, 0),
        key: fc.constantFrom('a', 'a', 'b'),
        priority: fc.constantFrom(0, 0, 0, 1),
        maxWaitMs: fc.constantFrom(Infinity, Infinity, 150, 1_000),
      }),
    },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('finish' as const), which: fc.nat(9) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(100) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(400) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer' as const), count: fc.nat(4) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom('pause' as const, 'resume' as const),
        process: fc.nat(1),
        key: fc.constantFrom('a', undefined),
      }),
    },
  ),
  { maxLength: 70, size: 'max' },
)

describe('places of shapers that share a store', () => {
  it.each([
    ['at once', false],
    ['later', true],
  ])(
    'bound the work of each process, keep departures of the fleet apart, and lose no waiter: the store answers %s',
    async (_how, isLate) => {
      await fc.assert(
        fc.asyncProperty(steps, fc.integer({ min: 1, max: 3 }), async (given, concurrency) => {
          const numbers = { drain: '10/s' as const, capacity: 8, concurrency }
          const { clock, shapers, jobs, answer, isWaiting } = fleetOf(2, numbers, isLate)
          const controllers: AbortController[] = []
          const settle = async () => {
            while (isWaiting()) {
              answer()
              await setImmediate()
            }
          }
          for (const [name, step] of given.entries()) {
            if (step.kind === 'run') {
              const { kind: _, process, ...options } = step
              const controller = new AbortController()
              controllers.push(controller)
              jobs.run(shapers[process], process, name, { ...options, signal: controller.signal }).catch(() => {})
            } else if (step.kind === 'finish') jobs.finish(step.which)
            else if (step.kind === 'abort') controllers[step.which % controllers.length]?.abort()
            // A slot that an answer brings late is used up to its own length late: let all answers arrive before.
            else if (step.kind === 'advance') {
              await settle()
              await advance(clock, step.ms)
              await settle()
            } else if (step.kind === 'answer') answer(step.count)
            else shapers[step.process][step.kind](step.key === undefined ? {} : { key: step.key })
            await setImmediate()
          }
          for (const shaper of shapers) {
            shaper.resume()
            shaper.resume({ key: 'a' })
          }
          for (let isBusy = true; isBusy; ) {
            await settle()
            isBusy = clock.nextAlarmMs !== undefined || isWaiting()
            if (clock.nextAlarmMs !== undefined) clock.advance(Math.max(0, clock.nextAlarmMs - clock.now()))
            await setImmediate()
            isBusy = jobs.finish(0) || isBusy
            await setImmediate()
            isBusy ||= clock.nextAlarmMs !== undefined || isWaiting()
          }
          expect([jobs.open, clock.nextAlarmMs]).toEqual([0, undefined])
          expect(shapers.map(({ size, pending }) => [size, pending])).toEqual([
            [0, 0],
            [0, 0],
          ])
          expect(jobs.most).toBeLessThanOrEqual(concurrency)
          for (const key of ['a', 'b']) {
            const own = jobs.departures.filter((each) => each.key === key && each.cost > 0)
            for (let i = 1; i < own.length; i++)
              expect(own[i].atMs - own[i - 1].atMs).toBeGreaterThan(own[i - 1].cost * 100 - NEAR_MS)
          }
        }),
        { numRuns: 300 },
      )
    },
  )

  it('are filled in order within a priority and a cost', async () => {
    const { clock, shapers, jobs } = fleetOf(1, { drain: '1000/s', capacity: 100, concurrency: 2 })
    for (let name = 0; name < 50; name++) jobs.run(shapers[0], 0, name, { priority: name % 2 }).catch(expect.fail)
    do await advanceToEnd(clock)
    while (jobs.finish(0))
    const names = jobs.departures.map(({ name }) => name)
    // The first two came before the others waited.
    for (const parity of [0, 1])
      expect(names.filter((name) => name % 2 === parity)).toEqual(Array.from({ length: 25 }, (_, i) => 2 * i + parity))
  })

  it('take no slot for a waiter that no place is free for: other processes leave at the whole rate', async () => {
    const { clock, shapers, jobs } = fleetOf(2, { drain: '10/s', capacity: 50, concurrency: 2 })
    const [slow, quick] = shapers
    for (let name = 0; name < 20; name++) jobs.run(slow, 0, name).catch(expect.fail)
    await advance(clock, 1_000)
    expect(jobs.departures).toHaveLength(2)
    const left: number[] = []
    const others = Array.from({ length: 20 }, () => quick.run(() => left.push(clock.now() - START_MS)))
    await advance(clock, 2_000)
    await Promise.all(others)
    expect(left).toEqual(Array.from({ length: 20 }, (_, i) => 1_000 + 100 * i))
    do await advanceToEnd(clock)
    while (jobs.finish(0))
    expect(jobs.departures).toHaveLength(20)
  })

  it('are free again at once for the next waiter, whose slots are counted from its departure', async () => {
    const { clock, shapers, jobs } = fleetOf(1, { drain: '10/s', capacity: 50, concurrency: 1 })
    for (let name = 0; name < 3; name++) jobs.run(shapers[0], 0, name).catch(expect.fail)
    await advance(clock, 1_234)
    jobs.finish(0)
    await advance(clock, 10)
    jobs.finish(0)
    await advanceToEnd(clock)
    jobs.finish(0)
    await shapers[0].close()
    expect(jobs.departures.map(({ atMs }) => atMs)).toEqual([0, 1_234, 1_334])
  })

  it('bound the queue of a process by its capacity', async () => {
    const { clock, shapers, jobs } = fleetOf(1, { drain: '10/s', capacity: 5, concurrency: 1 })
    jobs.run(shapers[0], 0, 0).catch(expect.fail)
    await advance(clock, 1_000)
    for (let name = 1; name <= 5; name++) jobs.run(shapers[0], 0, name).catch(expect.fail)
    await expect(shapers[0].run(() => {})).rejects.toMatchObject({
      code: 'SLUICE_QUEUE_FULL',
      message: expect.stringMatching(/at the earliest$/),
    })
    do await advanceToEnd(clock)
    while (jobs.finish(0))
    expect(jobs.departures).toHaveLength(6)
  })

  it('serve 100,000 waiters in order, in time that grows with their number only', async () => {
    const clock = new ManualClock(START_MS)
    const numbers = { name: 'bank', drain: '1000000/s' as const, capacity: 1_000_000, concurrency: 3 }
    const timeOf = async (count: number) => {
      const shaper = createShaper({ ...numbers, store: memoryStore({ clock }) })
      const left: number[] = []
      const startMs = performance.now()
      for (let i = 0; i < count; i++) shaper.run(async () => left.push(i)).catch(expect.fail)
      const idle = shaper.onIdle().then(() => true)
      while (!(await Promise.race([idle, setImmediate(false)]))) clock.advance(1)
      const ms = performance.now() - startMs
      expect(left).toEqual(Array.from({ length: count }, (_, i) => i))
      return ms
    }
    await timeOf(5_000)
    const fewMs = await timeOf(10_000)
    // Ten times as many. Quadratic time would be a hundred times as long.
    expect(await timeOf(100_000)).toBeLessThan(60 * Math.max(fewMs, 50))
  })
})
