import { setImmediate } from 'node:timers/promises'
import {
  type Answer,
  type AsyncStore,
  type Clock,
  createShaper,
  memoryStore,
  StoreUnavailableError,
  WaitTooLongError,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { HeldUpClock } from '../held-up-clock.js'
import { START_MS } from './moving-clocks.js'

/** A store whose answers arrive when `read` is called. */
function laterStore(clock: Clock): { store: AsyncStore; read: () => Promise<void> } {
  const memory = memoryStore({ clock })
  let reads: (() => void)[] = []
  const later = <T>(value: T) => new Promise<T>((resolve) => reads.push(() => resolve(value)))
  const store: AsyncStore = {
    clock,
    decide: (demands) => later(memory.decide(demands)),
    peek: (demands) => later(memory.peek(demands)),
    charge: (demand) => later(memory.charge(demand)),
    set: (limited, remaining) => later(memory.set(limited, remaining)),
    refund: async (demand, taken) => memory.refund(demand, taken),
    reset: async (name, key) => memory.reset(name, key),
    block: async (name, key, durationUs) => memory.block(name, key, durationUs),
  }
  const read = async () => {
    const due = reads
    reads = []
    for (const each of due) each()
    await setImmediate()
  }
  return { store, read }
}

const PACE = { name: 'pace', drain: '100/s', capacity: 1000 } as const
/** 2 slots in 20 ms at that rate, the slot of the very moment, the first of all, and one that was missed. */
const NO_CROWD = 5

it('a waiter whose time is over is told when its turn would come, by the waiters before it', async () => {
  const clock = new ManualClock(START_MS)
  const shaper = createShaper({ drain: '10/s', capacity: 10, clock })
  void shaper.wait()
  const low = expect(shaper.wait({ maxWaitMs: 150 })).rejects.toMatchObject({ retryAfterMs: 250 })
  for (let i = 0; i < 3; i++) void shaper.wait({ priority: 1 })
  await clock.advanceAsync(1_000)
  await low
})

it('a key whose turn has come makes room, whatever other keys do', async () => {
  const clock = new HeldUpClock(START_MS)
  const shaper = createShaper({ drain: '100/s', capacity: 2, clock })
  const keys = ['a', 'b']
  for (const key of [...keys, ...keys]) shaper.wait({ key }).catch(() => {})
  clock.pass(30)
  const third = keys.map((key) => shaper.wait({ key }))
  await setImmediate()
  clock.pass(30)
  const fourth = keys.map((key) => shaper.wait({ key }))
  await setImmediate()
  clock.pass(100)
  await clock.ring()
  await clock.ring()
  expect((await Promise.allSettled([...third, ...fourth])).map(({ status }) => status)).not.toContain('rejected')
})

describe('a process that is held up does not let a crowd leave', () => {
  it.each(['without a store', 'on a store that answers at once'])('when a caller goes on calling, %s', async (kind) => {
    const clock = new HeldUpClock(START_MS)
    const { name, ...numbers } = PACE
    const shaper =
      kind === 'without a store'
        ? createShaper({ ...numbers, clock })
        : createShaper({ ...numbers, name, store: memoryStore({ clock }) })
    let left = 0
    for (let i = 0; i < 400; i++) {
      shaper.wait().then(() => left++)
      clock.pass(5)
    }
    await setImmediate()
    await clock.ring()
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThanOrEqual(NO_CROWD)
  })

  it('when it takes a while to let the waiters leave', async () => {
    const clock = new HeldUpClock(START_MS)
    const shaper = createShaper({ drain: '1000/s', capacity: 1000, clock })
    let left = 0
    for (let i = 0; i < 500; i++) shaper.wait().then(() => left++)
    clock.pass(300)
    clock.afterLookMs = 15
    await clock.ring()
    // 20 slots in 20 ms, the slot of the very moment, and the first of all.
    expect(left).toBe(22)
    await clock.ring()
    expect(left).toBe(23)
    clock.pass(5)
    await clock.ring()
    expect(left).toBe(28)
  })

  it('when a caller goes on calling although the queue is full', async () => {
    const clock = new HeldUpClock(START_MS)
    const shaper = createShaper({ drain: '100/s', capacity: 10, clock })
    let left = 0
    let refused = 0
    for (let i = 0; i < 400; i++) {
      shaper.wait().then(
        () => left++,
        () => refused++,
      )
      clock.pass(5)
    }
    await setImmediate()
    await clock.ring()
    expect(refused).toBeGreaterThan(300)
    // A group leaves once before the caller ends, and once when the alarm rings.
    expect(left).toBeLessThanOrEqual(2 * NO_CROWD)
  })

  it('when it is held up before it reads the answers of its store', async () => {
    const clock = new HeldUpClock(START_MS)
    const { store, read } = laterStore(clock)
    const shaper = createShaper({ ...PACE, store })
    let left = 0
    for (let i = 0; i < 200; i++) shaper.wait().then(() => left++)
    clock.pass(1000)
    await read()
    await clock.ring()
    expect(left).toBeLessThanOrEqual(NO_CROWD)
    // Slots that were missed are asked for again, and no waiter is forgotten.
    for (let i = 0; i < 400; i++) {
      clock.pass(10)
      await clock.ring()
      await read()
    }
    expect(left).toBe(200)
  })

  it('when it is held up while it holds slots', async () => {
    const clock = new HeldUpClock(START_MS)
    const shaper = createShaper({ ...PACE, store: memoryStore({ clock }) })
    let left = 0
    for (let i = 0; i < 200; i++) shaper.wait().then(() => left++)
    clock.pass(1000)
    await clock.ring()
    expect(left).toBeLessThanOrEqual(NO_CROWD)
  })
})

it('processes that are held up at the same time do not let a crowd leave together', async () => {
  const clock = new HeldUpClock(START_MS)
  const store = memoryStore({ clock })
  const fleet = Array.from({ length: 10 }, () => createShaper({ ...PACE, store }))
  let left = 0
  for (let i = 0; i < 300; i++) fleet[i % fleet.length].wait().then(() => left++)
  const pass = async (ms: number) => {
    const before = left
    clock.pass(ms)
    await clock.ring()
    return left - before
  }
  for (let i = 0; i < 50; i++) await pass(10)
  for (let i = 0; i < 10; i++) {
    // 2 slots in 20 ms, and the slot of the very moment.
    expect(await pass(100)).toBeLessThanOrEqual(3)
    for (let j = 0; j < 10; j++) expect(await pass(10)).toBeLessThanOrEqual(1)
  }
})

describe('slots of a process are kept apart', () => {
  it('even if the store forgets the slots that it has given', async () => {
    const clock = new HeldUpClock(START_MS)
    const store = memoryStore({ clock })
    const shaper = createShaper({ ...PACE, store })
    const leftMs: number[] = []
    const come = (many: number) => {
      for (let i = 0; i < many; i++) shaper.wait({ key: 'k' }).then(() => leftMs.push(clock.now() - START_MS))
    }
    come(20)
    store.reset('pace', 'k')
    come(20)
    for (let i = 0; i < 400; i++) {
      await setImmediate()
      clock.pass(1)
      await clock.ring()
    }
    expect(leftMs).toHaveLength(40)
    for (let i = 1; i < leftMs.length; i++) expect(leftMs[i] - leftMs[i - 1]).toBeGreaterThanOrEqual(9)
  })
})

describe('a caller that would wait too long is rejected at once', () => {
  it('among many that ask a store at the same time, and leaves nothing reserved', async () => {
    const clock = new HeldUpClock(START_MS)
    const { store, read } = laterStore(clock)
    const numbers = { name: 'pace', drain: '10/s', capacity: 100, store } as const
    const shaper = createShaper(numbers)
    const refused = Array.from({ length: 20 }, () =>
      shaper.wait({ maxWaitMs: 150 }).then(
        () => false,
        (error: unknown) => error instanceof WaitTooLongError,
      ),
    )
    await read()
    expect(shaper.size).toBe(1)
    const other = createShaper(numbers).wait()
    await read()
    clock.pass(100)
    await clock.ring()
    expect((await Promise.all(refused)).filter((each) => each)).toHaveLength(18)
    clock.pass(100)
    await clock.ring()
    expect((await other).atMs).toBe(START_MS + 200)
  })

  it('even if a waiter of a low priority was there before', async () => {
    const clock = new HeldUpClock(START_MS)
    const shaper = createShaper({ drain: '1/s', capacity: 100, clock })
    const controller = new AbortController()
    await shaper.wait()
    const low = shaper.wait({ priority: -9, signal: controller.signal })
    for (let i = 0; i < 20; i++) shaper.wait()
    controller.abort()
    await expect(low).rejects.toThrow()
    await expect(shaper.wait({ maxWaitMs: 10 })).rejects.toMatchObject({ retryAfterMs: 21_000 })
  })
})

describe('a store that answers nonsense', () => {
  const nonsense: [string, () => unknown][] = [
    ['nothing, later', async () => undefined],
    ['no decisions, later', async () => ({ allowed: true, decisions: [], takenUs: [] })],
    ['nothing', () => undefined],
    ['no times', () => ({ allowed: true, decisions: [{ delayMs: 0 }] })],
    // biome-ignore lint/suspicious/noThenProperty: the test is about such an object
    ['what is like a promise', () => ({ then: (resolve: (value: unknown) => void) => resolve(undefined) })],
  ]
  it.each(nonsense)('%s: has failed, and no waiter is left', async (_, decide) => {
    const memory = memoryStore()
    const store = Object.assign(Object.create(memory), { synchronous: true, decide: decide as () => Answer })
    const local = createShaper({ ...PACE, store })
    expect(await local.wait()).toMatchObject({ degraded: 'local' })
    const closed = createShaper({ ...PACE, store, onFailure: 'closed' })
    await expect(closed.wait()).rejects.toThrow(StoreUnavailableError)
    for (const shaper of [local, closed]) {
      expect(shaper.size).toBe(0)
      await shaper.close()
    }
  })
})
