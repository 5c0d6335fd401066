import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { Rate } from 'sluice'
import { createShaper, memoryStore, type OnFailure, type Shaper, type TurnOptions } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { lateStore } from './late-store.js'
import { AlarmedClock, advance, advanceToEnd, START_MS } from './moving-clocks.js'

const NEAR_MS = 0.0015

describe('shapers on one store', () => {
  it.each([
    ['10/s', 2],
    ['1000/s', 3],
    ['7777/s', 3],
    ['20000/s', 2],
  ] as const)(
    'leave together at %s, one after the other in the order of arrival (%d of them)',
    async (drain, count) => {
      const clock = new ManualClock(START_MS)
      const store = memoryStore({ clock })
      const shapers = Array.from({ length: count }, () => createShaper({ name: 'bank', drain, capacity: 3_000, store }))
      const left: [number, number, number][] = []
      for (let i = 0; i < 1_500; i++)
        void shapers[(i * i) % count].wait().then(({ atMs }) => left.push([i, atMs, clock.now()]))
      await advanceToEnd(clock)
      const unitMs = 1000 / Number.parseInt(drain, 10)
      expect(left.map(([name]) => name)).toEqual(Array.from({ length: 1_500 }, (_, name) => name))
      for (const [n, atMs, leftMs] of left) {
        expect(Math.abs(atMs - START_MS - n * unitMs)).toBeLessThan(NEAR_MS)
        expect(leftMs).toBeGreaterThan(atMs - NEAR_MS)
      }
    },
  )

  it('reject at once a caller that would not wait for the end of a pause, and say how long it is', async () => {
    const clock = new ManualClock(START_MS)
    const shaper = createShaper({ name: 'bank', drain: '10/s', capacity: 10, store: memoryStore({ clock }) })
    shaper.pause({ durationMs: 60_000 })
    await expect(shaper.wait({ maxWaitMs: 1_000 })).rejects.toMatchObject({ retryAfterMs: 60_000 })
    const patient = shaper.wait({ maxWaitMs: 90_000 })
    shaper.pause({ durationMs: 120_000 })
    const refused = expect(patient).rejects.toMatchObject({ retryAfterMs: 30_000 })
    await advance(clock, 90_000)
    await refused
    expect(shaper.size).toBe(0)
  })

  it('keep waiters that have lost their slots to a pause, however full the queue is', async () => {
    const clock = new ManualClock(START_MS)
    const store = memoryStore({ clock })
    const [one, other] = [1, 2].map(() => createShaper({ name: 'bank', drain: '10/s', capacity: 10, store }))
    const left: number[] = []
    const failed: unknown[] = []
    for (let i = 0; i < 10; i++)
      one.wait().then(
        () => left.push(i),
        (error) => failed.push(error),
      )
    one.pause({ durationMs: 2_000 })
    const busy: number[] = []
    for (let i = 0; i < 50; i++) {
      other.wait().then(
        ({ atMs }) => busy.push(atMs),
        () => {},
      )
      await advance(clock, 100)
    }
    await advanceToEnd(clock)
    expect(failed).toEqual([])
    expect(left).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(busy.length).toBeGreaterThan(20)
    expect([one.size, other.size]).toEqual([0, 0])
  })

  it('let the waiters behind move up, and give the last slot back', async () => {
    const { clock, one, other, wait, log } = pair('10/s', 100)
    const controller = new AbortController()
    wait(one, 'a')
    const gone = wait(one, 'gone', { signal: controller.signal })
    wait(one, 'b')
    controller.abort(new Error('enough'))
    await expect(gone).rejects.toThrow('enough')
    wait(other, 'c')
    await advanceToEnd(clock)
    expect(log).toEqual([
      ['a', 0],
      ['b', 100],
      ['c', 200],
    ])
  })

  it('are held up by one that died for no longer than its slots take', async () => {
    const deadClock = new AlarmedClock(() => Infinity)
    const store = memoryStore({ clock: deadClock.manual })
    const dead = createShaper({
      name: 'bank',
      drain: '10/s',
      capacity: 100,
      store: { ...asStore(store), clock: deadClock },
    })
    const alive = createShaper({ name: 'bank', drain: '10/s', capacity: 100, store })
    for (let i = 0; i < 5; i++) void dead.wait()
    const turn = alive.wait()
    await advance(deadClock.manual, 600)
    expect((await turn).atMs).toBe(START_MS + 500)
  })

  it('ask again for slots that they missed in a pause or a stall, however many wait', async () => {
    const clock = new ManualClock(START_MS)
    const shaper = createShaper({ name: 'bank', drain: '20000/s', capacity: 30_000, store: memoryStore({ clock }) })
    shaper.pause({ durationMs: 100 })
    const all = Array.from({ length: 30_000 }, () => shaper.wait())
    await advance(clock, 100)
    clock.advance(2_000)
    const slots = (await Promise.all(all)).map(({ atMs }) => atMs)
    expect(slots[0]).toBeGreaterThanOrEqual(START_MS + 100)
    for (let i = 1; i < slots.length; i++) expect(slots[i] - slots[i - 1]).toBeGreaterThan(0.05 - NEAR_MS)
    expect([shaper.size, clock.nextAlarmMs]).toEqual([0, undefined])
  })

  it('let all waiters leave even if alarms are always late', async () => {
    for (const lateMs of [21, 60, 99, 100, 500]) {
      const clock = new AlarmedClock((atMs) => atMs + lateMs)
      const shaper = createShaper({ name: 'bank', drain: '10/s', capacity: 10, store: memoryStore({ clock }) })
      const turns = Promise.all([shaper.wait(), shaper.wait(), shaper.wait()])
      await advance(clock.manual, 5_000)
      expect(shaper.size).toBe(0)
      await turns
    }
  })

  it('leave after a pause in the order of arrival, whatever the costs', async () => {
    const { clock, one, wait, log } = pair('10/s', 100)
    for (const name of ['a', 'b']) wait(one, name, { cost: 2 })
    one.pause({ durationMs: 1_000 })
    const controller = new AbortController()
    const names = Array.from({ length: 8 }, (_, i) => String(i))
    const all = names.map((name, i) =>
      wait(one, name, { cost: 1 + (i % 3), signal: i === 4 ? controller.signal : undefined }),
    )
    const gone = expect(all[4]).rejects.toThrow('gone')
    controller.abort(new Error('gone'))
    await gone
    await advanceToEnd(clock)
    expect(log.map(([name]) => name)).toEqual(['a', 'b', '0', '1', '2', '3', '5', '6', '7'])
  })

  it('accept no more units in a pause than the capacity, whatever the costs', async () => {
    const { clock, one, wait, log } = pair('10/s', 10)
    one.pause({ durationMs: 5_000 })
    for (let i = 0; i < 8; i++) wait(one, `one ${i}`)
    wait(one, 'two', { cost: 2 })
    await expect(wait(one, 'three', { cost: 3 })).rejects.toMatchObject({ retryAfterMs: 5_300 })
    await expect(wait(one, 'one more')).rejects.toMatchObject({ retryAfterMs: 5_100 })
    await advanceToEnd(clock)
    expect(log).toHaveLength(9)
    expect(one.size).toBe(0)
  })

  it('remember nothing of callers that come and go in a pause', async () => {
    const { clock, one, wait, log } = pair('10/s', 10)
    one.pause({ durationMs: 1_000 })
    wait(one, 'first', { cost: 2 })
    for (let i = 0; i < 1_000; i++) {
      const controller = new AbortController()
      const gone = expect(wait(one, 'gone', { signal: controller.signal })).rejects.toThrow('gone')
      controller.abort(new Error('gone'))
      await gone
    }
    wait(one, 'last')
    await advanceToEnd(clock)
    expect(log.map(([name]) => name)).toEqual(['first', 'last'])
  })

  it('keep waiters that missed their slots and find no room', async () => {
    const { clock, one, other, wait, log } = pair('10/s', 4)
    one.pause({ durationMs: 1_000 })
    for (const name of ['a', 'b', 'c']) wait(one, name)
    await advance(clock, 950)
    for (const name of ['x', 'y']) wait(other, name)
    await advanceToEnd(clock)
    expect(log.map(([name]) => name)).toEqual(['x', 'y', 'a', 'b', 'c'])
  })

  it('give a slot to the first waiter by priority, and reject no caller whose slot comes in time', async () => {
    const { clock, one, wait, log } = pair('10/s', 100)
    for (const name of ['a', 'b', 'c', 'd']) wait(one, name)
    wait(one, 'urgent', { priority: 1, maxWaitMs: 150 })
    await expect(wait(one, 'impatient', { maxWaitMs: 450 })).rejects.toMatchObject({ code: 'SLUICE_WAIT_TOO_LONG' })
    await advanceToEnd(clock)
    expect(log.map(([name]) => name)).toEqual(['a', 'urgent', 'b', 'c', 'd'])
  })

  it('reject all waiters on close, even those that came after a line was empty', async () => {
    const { clock, one, wait } = pair('10/s', 100)
    for (let round = 0; round < 5; round++) {
      const controller = new AbortController()
      const all = [wait(one, 'a'), wait(one, 'b', { signal: controller.signal }), wait(one, 'c', { maxWaitMs: 250 })]
      await advance(clock, 120)
      controller.abort()
      await advance(clock, 277)
      await Promise.allSettled(all)
    }
    const settled = Promise.allSettled([wait(one, 'x'), wait(one, 'y'), wait(one, 'z')])
    await one.close({ waiting: 'reject' })
    expect((await settled).some(({ status }) => status === 'rejected')).toBe(true)
    expect([one.size, clock.nextAlarmMs]).toEqual([0, undefined])
  })

  const steps = fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          kind: fc.constant('wait' as const),
          shaper: fc.nat(2),
          cost: fc.constantFrom(1, 1, 1, 2, 0),
          key: fc.constantFrom('a', 'b'),
          priority: fc.constantFrom(0, 0, 0, 1, -1),
          maxWaitMs: fc.constantFrom(undefined, undefined, 150, 1_000, 0),
          isAborted: fc.boolean(),
        }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const), which: fc.nat(100) }) },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('pause' as const),
          shaper: fc.nat(2),
          key: fc.constantFrom('a', 'b'),
          ms: fc.nat(700),
        }),
      },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(400) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer' as const), count: fc.nat(4) }) },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('close' as const),
          shaper: fc.nat(2),
          waiting: fc.constantFrom('leave' as const, 'reject' as const),
        }),
      },
    ),
    { maxLength: 60, size: 'max' },
  )

  it.each<[how: string, onFailure?: OnFailure]>([
    ['at once'],
    ['later'],
    ['later, or not at all', 'closed'],
    ['later, or not at all', 'local'],
  ])('let no caller wait for ever if the store answers %s (onFailure %s)', async (how, onFailure) => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    onTestFinished(() => void vi.restoreAllMocks())
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.array(fc.constantFrom(0, 0, 0, 3, 15, 60, 500), { minLength: 1 }),
        fc.array(fc.boolean(), { minLength: 1 }),
        async (given, lates, failures) => {
          let rings = 0
          let asks = 0
          const clock = new AlarmedClock((atMs) => atMs + lates[rings++ % lates.length])
          const memory = memoryStore({ clock })
          const { late, answer, isWaiting } = lateStore(
            memory,
            () => how === 'later, or not at all' && failures[asks++ % failures.length],
          )
          const options = { name: 'bank', drain: '10/s', capacity: 8 } as const
          const shapers = Array.from({ length: 3 }, () =>
            how === 'at once'
              ? createShaper({ ...options, store: memory })
              : createShaper({ ...options, store: late, ...(onFailure && { onFailure }) }),
          )
          const slots: { atMs: number; cost: number; key: string }[] = []
          const controllers: AbortController[] = []
          const closing: Promise<void>[] = []
          let open = 0
          for (const step of given) {
            if (step.kind === 'wait') {
              const { cost, key, priority, maxWaitMs, isAborted } = step
              const controller = new AbortController()
              if (isAborted) controllers.push(controller)
              open++
              const turn = shapers[step.shaper].wait({
                cost,
                key,
                priority,
                ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
                ...(isAborted ? { signal: controller.signal } : {}),
              })
              void turn
                .then(
                  ({ atMs }) => void slots.push({ atMs, cost, key }),
                  () => {},
                )
                .finally(() => open--)
            } else if (step.kind === 'abort') controllers[step.which % controllers.length]?.abort()
            else if (step.kind === 'pause') shapers[step.shaper].pause({ key: step.key, durationMs: step.ms })
            else if (step.kind === 'advance') clock.manual.advance(step.ms)
            else if (step.kind === 'answer') answer(step.count)
            else closing.push(shapers[step.shaper].close({ waiting: step.waiting }))
            await setImmediate()
          }
          for (let i = 0; i < 2_000 && (isWaiting() || clock.manual.nextAlarmMs !== undefined); i++) {
            answer()
            await setImmediate()
            const { nextAlarmMs } = clock.manual
            if (nextAlarmMs !== undefined) clock.manual.advance(Math.max(0, nextAlarmMs - clock.now()))
            await setImmediate()
          }
          expect([open, clock.alarms, isWaiting()]).toEqual([0, 0, false])
          expect(shapers.map(({ size }) => size)).toEqual([0, 0, 0])
          await Promise.all([...closing, ...shapers.map((shaper) => shaper.onIdle())])
          // Local slots are kept apart from each other, but not from slots of the store.
          for (const key of onFailure === 'local' ? [] : ['a', 'b']) {
            const own = slots.filter((slot) => slot.key === key && slot.cost > 0).sort((a, b) => a.atMs - b.atMs)
            for (let i = 1; i < own.length; i++)
              expect(own[i].atMs - own[i - 1].atMs).toBeGreaterThan(own[i - 1].cost * 100 - NEAR_MS)
          }
        },
      ),
      { numRuns: 300 },
    )
  })
})

function pair(drain: Rate, capacity: number) {
  const clock = new ManualClock(START_MS)
  const store = memoryStore({ clock })
  const [one, other] = [0, 1].map(() => createShaper({ name: 'bank', drain, capacity, store }))
  const log: [string, number][] = []
  const wait = (shaper: Shaper, name: string, options?: TurnOptions) => {
    const turn = shaper.wait(options).then(() => void log.push([name, clock.now() - START_MS]))
    turn.catch(() => {})
    return turn
  }
  return { clock, one, other, wait, log }
}

/** The methods of a store as an object, to which another clock can be added. */
function asStore(store: ReturnType<typeof memoryStore>) {
  return {
    synchronous: true as const,
    decide: store.decide.bind(store),
    decideOne: store.decideOne.bind(store),
    peek: store.peek.bind(store),
    peekOne: store.peekOne.bind(store),
    charge: store.charge.bind(store),
    set: store.set.bind(store),
    refund: store.refund.bind(store),
    reset: store.reset.bind(store),
    block: store.block.bind(store),
  }
}
