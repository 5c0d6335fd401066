import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { createShaper, QueueFullError, type Shaper, type TurnOptions, WaitTooLongError } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { AlarmedClock, advance, advanceToEnd, START_MS } from './moving-clocks.js'
import { type Outcome, QueueModel } from './queue-model.js'

const KEYS = ['a', 'b']
const UNITS_MS = { '10/s': 100, '1000/s': 1, '7/s': 1000 / 7, none: 0 }
type Drain = keyof typeof UNITS_MS

function shaperOf(drain: Drain, numbers: { capacity: number; concurrency: number }) {
  const clock = new ManualClock(START_MS)
  const shaper = createShaper(drain === 'none' ? { ...numbers, clock } : { ...numbers, drain, clock })
  return { clock, shaper }
}

/** Runs work that lasts until it is told to end, and keeps what became of each caller. */
class Jobs {
  readonly outcomes = new Map<number, Outcome>()
  /** How many run for each key, and the most that ever did. */
  readonly running = new Map<string, number>()
  most = 0
  readonly #clock: ManualClock
  readonly #shaper: Shaper
  #underway: { readonly key: string; readonly end: () => void }[] = []

  constructor(clock: ManualClock, shaper: Shaper) {
    this.#clock = clock
    this.#shaper = shaper
  }

  run(name: number, options: TurnOptions & { readonly key: string }, isFailing = false): void {
    const { key } = options
    const work = async () => {
      this.outcomes.set(name, { leftMs: this.#clock.now() - START_MS })
      this.#count(key, 1)
      await new Promise<void>((end) => this.#underway.push({ key, end }))
      this.#count(key, -1)
      if (isFailing) throw new Error('of the work')
    }
    this.#shaper.run(work, options).catch((error) => {
      if (!this.outcomes.has(name)) this.outcomes.set(name, outcomeOf(error))
    })
  }

  /** Ends a piece of work and returns its key; `undefined` if none runs. */
  finish(which: number): string | undefined {
    if (this.#underway.length === 0) return undefined
    const [{ key, end }] = this.#underway.splice(which % this.#underway.length, 1)
    end()
    return key
  }

  #count(key: string, step: number): void {
    const running = (this.running.get(key) ?? 0) + step
    this.running.set(key, running)
    this.most = Math.max(this.most, running)
  }
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...(['join', 'join', 'join', 'join', 'join', 'finish', 'finish', 'finish', 'abort', 'pause', 'resume'] as const),
    ),
    gapUs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 900 }), fc.integer({ min: 1, max: 400_123 })),
    key: fc.nat(1),
    isForAll: fc.boolean(),
    isFailing: fc.boolean(),
    cost: fc.integer({ min: 0, max: 3 }),
    priority: fc.constantFrom(0, 0, 0, 1, -1, 9),
    maxWaitMs: fc.oneof(
      fc.constant(Infinity),
      fc.integer({ min: 1, max: 3_000_000 }).map((us) => us / 1000),
    ),
    which: fc.nat(50),
  }),
  { minLength: 1, maxLength: 60, size: 'max' },
)

describe('a shaper with concurrency, beside a plain model of it', () => {
  it('lets callers leave at their slots and when there is a place, through pauses, aborts and deadlines', async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...(Object.keys(UNITS_MS) as Drain[])),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 3 }),
        steps,
        async (drain, capacity, concurrency, given) => {
          const { clock, shaper } = shaperOf(drain, { capacity, concurrency })
          const models = KEYS.map(() => new QueueModel(UNITS_MS[drain], capacity, concurrency))
          const jobs = new Jobs(clock, shaper)
          const joined: { name: number; key: number; controller: AbortController }[] = []
          const sinceStart = () => clock.now() - START_MS
          const finish = async (which: number) => {
            const key = jobs.finish(which)
            // The place is free when the promise of the work has settled.
            await setImmediate()
            if (key !== undefined) models[KEYS.indexOf(key)].finish(sinceStart())
            return key !== undefined
          }
          for (const [name, { kind, gapUs, key, cost, priority, maxWaitMs, which, ...flags }] of given.entries()) {
            const fromMs = sinceStart()
            await advance(clock, gapUs / 1000)
            const nowMs = sinceStart()
            for (const model of models) model.advance(fromMs, nowMs)
            const scope = flags.isForAll ? 'all' : 'key'
            const of = flags.isForAll ? {} : { key: KEYS[key] }
            const paused = flags.isForAll ? models : [models[key]]
            if (kind === 'join') {
              const controller = new AbortController()
              joined.push({ name, key, controller })
              models[key].join(nowMs, { name, cost, priority, maxWaitMs })
              const { signal } = controller
              jobs.run(name, { key: KEYS[key], cost, priority, maxWaitMs, signal }, flags.isFailing)
            } else if (kind === 'finish') await finish(which)
            else if (kind === 'pause') {
              for (const model of paused) model.pause(nowMs + maxWaitMs / 10, scope)
              shaper.pause(maxWaitMs === Infinity ? of : { ...of, durationMs: maxWaitMs / 10 })
            } else if (kind === 'resume') {
              for (const model of paused) model.resume(nowMs, scope)
              shaper.resume(of)
            } else if (joined.length > 0) {
              const one = joined[which % joined.length]
              models[one.key].abort(one.name)
              one.controller.abort('aborted')
            }
            await setImmediate()
            expect(shaper.pending).toBe([...jobs.running.values()].reduce((sum, each) => sum + each, 0))
          }
          for (const [i, key] of KEYS.entries()) {
            models[i].resume(sinceStart(), 'key')
            shaper.resume({ key })
          }
          for (const model of models) model.resume(sinceStart(), 'all')
          shaper.resume()
          do {
            const fromMs = sinceStart()
            await advanceToEnd(clock)
            // The clock stands at the last alarm, which rings at a rounded time.
            for (const model of models) model.advance(fromMs, sinceStart() + 0.002)
          } while ((await finish(0)) || shaper.size > 0)
          fc.pre(models.every(({ isUnclear }) => !isUnclear))
          compared++
          for (const model of models)
            for (const [name, expected] of model.outcomes) {
              const got = jobs.outcomes.get(name) as Outcome
              if (typeof expected === 'string') expect([name, got]).toEqual([name, expected])
              else
                expect([name, (got as { leftMs: number }).leftMs]).toEqual([name, expect.closeTo(expected.leftMs, 2)])
            }
          expect(jobs.outcomes.size).toBe(joined.length)
          expect(jobs.most).toBeLessThanOrEqual(concurrency)
          expect([shaper.size, shaper.pending, clock.nextAlarmMs]).toEqual([0, 0, undefined])
        },
      ),
      { numRuns: 500, maxSkipsPerRun: 100 },
    )
    expect(compared).toBeGreaterThanOrEqual(500)
  })
})

describe('a shaper with concurrency', () => {
  it('lets the next waiter leave when a long piece of work ends, and counts the next slots from there', async () => {
    const { clock, shaper } = shaperOf('10/s', { capacity: 10, concurrency: 1 })
    const left: number[] = []
    let end = () => {}
    const long = shaper.run(() => new Promise<void>((resolve) => (end = resolve)))
    const short = [1, 2, 3].map(() => shaper.run(() => left.push(clock.now() - START_MS)))
    await advance(clock, 1_234)
    expect([left, shaper.size, clock.nextAlarmMs]).toEqual([[], 3, undefined])
    end()
    await advanceToEnd(clock)
    await Promise.all([long, ...short])
    expect(left).toEqual([1_234, 1_334, 1_434])
  })

  it('has places for each key, and one place for a piece of work of any cost', async () => {
    const { clock, shaper } = shaperOf('none', { capacity: 10, concurrency: 2 })
    const jobs = new Jobs(clock, shaper)
    for (const [name, key] of ['a', 'a', 'a', 'b', 'b', 'b'].entries()) jobs.run(name, { key, cost: name })
    await setImmediate()
    expect([...jobs.running]).toEqual([
      ['a', 2],
      ['b', 2],
    ])
    expect([shaper.size, shaper.pending]).toEqual([2, 4])
    while (jobs.finish(0) !== undefined) await setImmediate()
    await shaper.close()
  })

  it('refuses wait, whose work has no end, and takes nothing', async () => {
    const { shaper } = shaperOf('10/s', { capacity: 1, concurrency: 1 })
    await expect(shaper.wait()).rejects.toMatchObject({ code: 'SLUICE_INVALID_TYPE', message: /use run\(work\)/ })
    expect(await shaper.run(() => 'at once')).toBe('at once')
  })

  it.each(['10/s', 'none'] as const)(
    'is full by the units that wait, and says the shortest wait: drain %s',
    async (drain) => {
      const { clock, shaper } = shaperOf(drain, { capacity: 2, concurrency: 1 })
      const jobs = new Jobs(clock, shaper)
      jobs.run(0, { key: 'a' })
      await advance(clock, 1_000)
      jobs.run(1, { key: 'a' })
      jobs.run(2, { key: 'a' })
      const error = await shaper.run(() => {}, { key: 'a' }).catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(QueueFullError)
      expect(error).toMatchObject({ message: /at the earliest$/, retryAfterMs: drain === 'none' ? 1 : 100 })
      while (jobs.finish(0) !== undefined) await advanceToEnd(clock)
      expect(jobs.outcomes.size).toBe(3)
    },
  )

  it('gives a place back when work throws, at once or later', async () => {
    const { clock, shaper } = shaperOf('none', { capacity: 10, concurrency: 1 })
    const failing = () => {
      throw new Error('at once')
    }
    const results = await Promise.allSettled([
      shaper.run(failing),
      shaper.run(async () => failing()),
      shaper.run(() => Promise.reject(new Error('later'))),
      shaper.run(() => 'last'),
    ])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled'])
    expect([shaper.size, shaper.pending, clock.nextAlarmMs]).toEqual([0, 0, undefined])
  })

  it('keeps the place of work that never ends, and close waits for it', async () => {
    const { shaper } = shaperOf('none', { capacity: 10, concurrency: 1 })
    void shaper.run(() => new Promise(() => {}))
    const waiting = shaper.run(() => 'never', { maxWaitMs: Infinity }).catch(() => 'rejected')
    let isClosed = false
    void shaper.close({ waiting: 'reject' }).then(() => {
      isClosed = true
    })
    expect(await waiting).toBe('rejected')
    await setImmediate()
    expect([isClosed, shaper.size, shaper.pending]).toEqual([false, 0, 1])
  })

  it('rejects a waiter if no place is free by its deadline', async () => {
    const { clock, shaper } = shaperOf('none', { capacity: 10, concurrency: 1 })
    void shaper.run(() => new Promise(() => {}))
    const late = expect(shaper.run(() => {}, { maxWaitMs: 50 })).rejects.toBeInstanceOf(WaitTooLongError)
    await advanceToEnd(clock)
    await late
    expect([clock.now() - START_MS, shaper.size, clock.nextAlarmMs]).toEqual([50, 0, undefined])
  })

  it('does not lose its rate by work that ends while an alarm is late', async () => {
    const clock = new AlarmedClock((atMs) => atMs + 15)
    const shaper = createShaper({ drain: '100/s', capacity: 1_000, concurrency: 20, clock })
    const left: number[] = []
    for (let i = 0; i < 200; i++) {
      const work = () => {
        const startMs = clock.now()
        left.push(startMs - START_MS)
        return new Promise<void>((end) => void clock.manual.alarm(startMs + 53, end))
      }
      shaper.run(work).catch(expect.fail)
    }
    await advanceToEnd(clock.manual)
    // The slot of the last is at 1,990 ms.
    expect(left[199]).toBeGreaterThanOrEqual(1_990)
    expect(left[199]).toBeLessThanOrEqual(1_990 + 16)
    expect([shaper.size, shaper.pending]).toEqual([0, 0])
  })

  it('serves 100,000 waiters in order, in time that grows with their number only', async () => {
    const { shaper } = shaperOf('none', { capacity: 100_000, concurrency: 3 })
    const timeOf = async (count: number) => {
      const left: number[] = []
      const startMs = performance.now()
      for (let i = 0; i < count; i++) shaper.run(async () => left.push(i)).catch(expect.fail)
      await shaper.onIdle()
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

function outcomeOf(error: unknown): Outcome {
  if (error instanceof QueueFullError) return 'full'
  if (error instanceof WaitTooLongError) return 'too long'
  return error as Outcome
}
