import { setImmediate } from 'node:timers/promises'
import { type AsyncStore, createShaper, memoryStore } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { HeldUpClock } from '../held-up-clock.js'
import { advanceToEnd, START_MS } from './moving-clocks.js'
import { mostInASecond, processes } from './processes.js'

const TEN = { name: 'bank', drain: '10/s', capacity: 60 } as const

describe('processes that share a schedule', () => {
  it.each([
    ['when they begin', false],
    ['later', true],
  ])(
    'leave at the rate together, even if each is held up for a different time before it reads answers: %s',
    async (_when, isWarm) => {
      const { clock, fleet } = processes(3, TEN)
      const tick = async (ms: number) => {
        clock.pass(ms)
        await clock.ring()
      }
      if (isWarm) {
        for (const each of fleet) each.come(1)
        for (const each of fleet) await each.read()
        for (let i = 0; i < 100; i++) await tick(100)
      }
      for (const each of fleet) each.come(20)
      // The first reads its answers after four seconds, the second after two, and the third at once.
      const untilMs = [4_000, 2_000, 0].map((ms) => clock.now() + ms)
      for (let i = 0; i < 2_000; i++) {
        for (const [p, each] of fleet.entries()) if (clock.now() >= untilMs[p]) await each.read()
        await tick(10)
      }
      const all = fleet.flatMap(({ departures }) => departures)
      expect(all).toHaveLength(isWarm ? 63 : 60)
      expect(mostInASecond(all)).toBeLessThanOrEqual(11)
    },
  )

  it('use no slot that has passed, even if the queue is full when the store is asked for its time', async () => {
    const { clock, fleet } = processes(2, { name: 'bank', drain: '10/s', capacity: 10 })
    const [held, other] = fleet
    const tick = async (ms: number) => {
      clock.pass(ms)
      await clock.ring()
    }
    other.come(5)
    await other.read()
    held.come(5)
    // The other process keeps the queue full for three seconds, and this one reads nothing meanwhile.
    for (let i = 0; i < 30; i++) {
      await tick(100)
      other.come(1)
      await other.read()
    }
    for (let i = 0; i < 200; i++) {
      await held.read()
      await other.read()
      await tick(10)
    }
    const all = fleet.flatMap(({ departures }) => departures)
    expect(held.departures).toHaveLength(5)
    expect(all).toHaveLength(40)
    expect(mostInASecond(all)).toBeLessThanOrEqual(11)
    for (const { leftMs, slotMs } of all) expect(leftMs - slotMs).toBeLessThanOrEqual(101)
  })

  it('reject no waiter because of a question that was asked for another', async () => {
    const clock = new ManualClock(START_MS)
    const memory = memoryStore({ clock })
    let answer = () => {}
    let isAway = false
    const store: AsyncStore = {
      clock,
      decide: (demands) =>
        new Promise((resolve, reject) => {
          answer = () => (isAway ? reject(new Error('away')) : resolve(memory.decide(demands)))
        }),
      refund: async (demand, taken) => memory.refund(demand, taken),
      peek: async (demands) => memory.peek(demands),
      charge: async (demand) => memory.charge(demand),
      set: async (limited, remaining) => memory.set(limited, remaining),
      reset: async (name, key) => memory.reset(name, key),
      block: async (name, key, durationUs) => memory.block(name, key, durationUs),
    }
    const shaper = createShaper({ name: 'bank', drain: '10/s', capacity: 10, store })
    const controller = new AbortController()
    const gone = shaper.wait({ signal: controller.signal }).catch(() => 'gone')
    const failing = answer
    controller.abort()
    shaper.pause({ durationMs: 1_000 })
    let outcome = 'waits'
    const later = shaper.wait().then(
      () => {
        outcome = 'left'
      },
      () => {
        outcome = 'refused'
      },
    )
    isAway = true
    failing()
    expect(await gone).toBe('gone')
    await clock.advanceAsync(500)
    expect(outcome).toBe('waits')
    isAway = false
    await clock.advanceAsync(501)
    answer()
    await clock.advanceAsync(100)
    await later
    expect(outcome).toBe('left')
  })

  it.each(['denied', 'failed'])(
    'reject no waiter that can have the slot of another, if its own question is %s',
    async (how) => {
      const clock = new ManualClock(START_MS)
      const memory = memoryStore({ clock })
      const answers: (() => void)[] = []
      let isAway = false
      const store: AsyncStore = {
        clock,
        decide: (demands) =>
          new Promise((resolve, reject) => {
            answers.push(() => (isAway ? reject(new Error('away')) : resolve(memory.decide(demands))))
          }),
        refund: async (demand, taken) => memory.refund(demand, taken),
        peek: async (demands) => memory.peek(demands),
        charge: async (demand) => memory.charge(demand),
        set: async (limited, remaining) => memory.set(limited, remaining),
        reset: async (name, key) => memory.reset(name, key),
        block: async (name, key, durationUs) => memory.block(name, key, durationUs),
      }
      const answer = async () => {
        for (const each of answers.splice(0)) each()
        await setImmediate()
      }
      const shaper = createShaper({ name: 'bank', drain: '10/s', capacity: 3, store })
      const controller = new AbortController()
      const first = shaper.wait()
      const gone = shaper.wait({ signal: controller.signal }).catch(() => 'gone')
      const third = shaper.wait()
      await answer()
      await first
      const last = shaper.wait()
      controller.abort()
      isAway = how === 'failed'
      await answer()
      expect([await gone, shaper.size]).toEqual(['gone', 2])
      await clock.advanceAsync(200)
      await Promise.all([third, last])
    },
  )

  it('use their slots again as soon as the gap between the clocks is known', async () => {
    const { clock, fleet } = processes(1, { name: 'bank', drain: '100/s', capacity: 100 })
    const [only] = fleet
    const tick = async (ms: number) => {
      clock.pass(ms)
      await clock.ring()
    }
    // The process is held up before it reads its first answers, and before it reads the answer that tells the time.
    only.come(30)
    await tick(60)
    await only.read()
    await tick(60)
    await only.read()
    only.come(1)
    await only.read()
    const from = only.departures.length
    for (let i = 0; i < 600; i++) {
      await tick(1)
      await only.read()
    }
    expect(only.departures).toHaveLength(31)
    for (const { leftMs, slotMs } of only.departures.slice(from)) expect(leftMs - slotMs).toBeLessThanOrEqual(21)
  })

  it('leave at the rate together, in whatever order the answers come', async () => {
    const { clock, fleet } = processes(3, TEN)
    for (const each of fleet) each.come(20)
    for (let i = 0; i < 8_000; i++) {
      for (const each of fleet) await each.read(true)
      clock.pass(1)
      await clock.ring()
    }
    const all = fleet.flatMap(({ departures }) => departures)
    expect(all).toHaveLength(60)
    expect(mostInASecond(all)).toBeLessThanOrEqual(11)
    for (const { leftMs, slotMs } of all) expect(leftMs - slotMs).toBeLessThanOrEqual(2)
  })

  it('do not all ask again each time that there is room for one more', async () => {
    const { clock, fleet } = processes(2, { name: 'bank', drain: '100/s', capacity: 400 })
    for (const { shaper } of fleet) shaper.pause({ durationMs: 1_000 })
    for (const each of fleet) each.come(400)
    for (let i = 0; i < 1_200; i++) {
      clock.pass(10)
      await clock.ring()
      for (const each of fleet) await each.read()
    }
    for (const { departures } of fleet) expect(departures).toHaveLength(400)
    const asks = fleet.reduce((total, each) => total + each.asks, 0)
    expect(asks).toBeGreaterThanOrEqual(800)
    expect(asks).toBeLessThan(4 * 800)
  })

  it('accept no more units in a pause than the capacity, counting those that came before it', async () => {
    const clock = new ManualClock(START_MS)
    const shaper = createShaper({ name: 'bank', drain: '10/s', capacity: 10, store: memoryStore({ clock }) })
    for (let i = 0; i < 10; i++) void shaper.wait()
    shaper.pause({ durationMs: 5_000 })
    await expect(shaper.wait({ cost: 2 })).rejects.toMatchObject({ code: 'SLUICE_QUEUE_FULL' })
    void shaper.wait({ cost: 1 })
    await expect(shaper.wait({ cost: 1 })).rejects.toMatchObject({ code: 'SLUICE_QUEUE_FULL' })
    // A cost of 0 needs no room.
    void shaper.wait({ cost: 0 })
    await advanceToEnd(clock)
    expect(shaper.size).toBe(0)
  })

  it('keep slots of all costs apart, even if the store forgets the slots that it has given', async () => {
    const clock = new ManualClock(START_MS)
    const store = memoryStore({ clock })
    const shaper = createShaper({ name: 'bank', drain: '10/s', capacity: 20, store })
    const left: [cost: number, ms: number][] = []
    const come = (cost: number) => void shaper.wait({ key: 'k', cost }).then(() => left.push([cost, clock.now()]))
    for (let i = 0; i < 8; i++) come(1)
    await clock.advanceAsync(50)
    store.reset('bank', 'k')
    for (let i = 0; i < 3; i++) come(2)
    await advanceToEnd(clock)
    expect(left).toHaveLength(11)
    for (let i = 1; i < left.length; i++)
      expect(left[i][1] - left[i - 1][1]).toBeGreaterThanOrEqual(100 * left[i - 1][0] - 0.01)
  })

  it('let no waiter starve: at most capacity callers overtake it for each step of priority', async () => {
    const capacity = 5
    for (const steps of [1, 2, 18]) {
      const clock = new ManualClock(START_MS)
      const shaper = createShaper({ name: 'bank', drain: '1000/s', capacity, store: memoryStore({ clock }) })
      const left: string[] = []
      void shaper.wait()
      clock.advance(0.5)
      void shaper.wait({ priority: -9, cost: 0 }).then(() => left.push('low'))
      for (let i = 0; i < steps * capacity + 50; i++)
        void shaper.wait({ priority: steps - 9, cost: 0 }).then(() => left.push('high'))
      await advanceToEnd(clock)
      expect(left.indexOf('low')).toBeLessThanOrEqual(steps * capacity)
      expect(left.indexOf('low')).toBeGreaterThan(0)
    }
  })
})

it.each(['without a store', 'on a store that answers at once'])(
  'a caller that goes on calling, more slowly than the rate, does not let a crowd leave at its end: %s',
  async (kind) => {
    const clock = new HeldUpClock(START_MS)
    const shaper =
      kind === 'without a store'
        ? createShaper({ drain: '100/s', capacity: 1000, clock })
        : createShaper({ name: 'pace', drain: '100/s', capacity: 1000, store: memoryStore({ clock }) })
    let left = 0
    for (let i = 0; i < 200; i++) {
      void shaper.wait().then(() => left++)
      clock.pass(11)
    }
    await setImmediate()
    await clock.ring()
    expect(left).toBeGreaterThan(0)
    // The slots of 20 ms, at the beginning and at the end.
    expect(left).toBeLessThanOrEqual(6)
    for (let i = 0; i < 250; i++) {
      clock.pass(10)
      await clock.ring()
    }
    expect(left).toBe(200)
  },
)
