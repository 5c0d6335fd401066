import { expect, it, onTestFinished, vi } from 'vitest'
import { createLimiter, createPolicy, createShaper, memoryStore, tokenBucket } from '../../src/index.js'
import type { AsyncStore, Overrides, SyncStore } from '../../src/stores/index.js'
import { FailingStore } from '../../src/testing/failing-store.js'
import { ManualClock } from '../../src/testing/manual-clock.js'

const limit = tokenBucket({ capacity: 4, refill: '1/h' })
const clock = () => new ManualClock(Date.UTC(2026, 0, 1))
const away = () => {
  throw new Error('away')
}

/** The same store, answering later. */
function later(store: SyncStore): AsyncStore {
  const promised = (name: 'decide' | 'charge' | 'refund' | 'reset' | 'block') =>
    (async (...given: never[]) => Reflect.apply(store[name], store, given)) as never
  return {
    clock: store.clock,
    decide: promised('decide'),
    charge: promised('charge'),
    refund: promised('refund'),
    reset: promised('reset'),
    block: promised('block'),
  }
}

function emittedWarnings() {
  const spy = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  onTestFinished(() => spy.mockRestore())
  return () => (spy.mock.calls as unknown[][]).map(([message, , code]) => `${code}: ${message}`)
}

it('limiters of one store share its local limits', async () => {
  const failing = new FailingStore(later(memoryStore({ clock: clock() })), { onFailure: 'local' })
  const [one, other] = [1, 2].map(() => createLimiter({ name: 'a', limit, store: failing.store }))
  failing.failure = away
  expect((await one.tryAcquire('key', { cost: 3 })).remaining).toBe(1)
  expect((await other.tryAcquire('key', { cost: 3 })).allowed).toBe(false)
})

it('a limit without a rule beside one with a rule makes the failure an error, but a shadow does not', async () => {
  const failing = new FailingStore(memoryStore({ clock: clock() }))
  const store = failing.store as SyncStore
  const ruled = { name: 'one', key: 'user', limit, onFailure: 'open' as const }
  const two = { name: 'two', limit: tokenBucket({ capacity: 9, refill: '9/h' }) }
  const mixed = createPolicy({ name: 'mixed', levels: [ruled, two], store })
  const shadowed = createPolicy({ name: 'shadowed', levels: [ruled, { ...two, shadow: true }], store })
  failing.failure = away
  expect(() => mixed.check({ user: 'a' })).toThrow('away')
  expect(shadowed.check({ user: 'a' })).toMatchObject({ allowed: true, degraded: 'open' })
})

it('a synchronous store that returns promises has failed, and the process goes on', async () => {
  const failing = new FailingStore(memoryStore({ clock: clock() }), { onFailure: 'closed' })
  const limiter = createLimiter({ name: 'a', limit, store: failing.store as SyncStore })
  failing.failure = () => Promise.reject(new Error('away'))
  expect(limiter.tryAcquire('key')).toMatchObject({ allowed: false, degraded: 'closed' })
  expect(limiter.peek('key')).toMatchObject({ allowed: false, degraded: 'closed' })
  expect(() => limiter.block('key', { duration: '1m' })).toThrow('may not have been blocked')
  expect(() => limiter.reset('key')).toThrow('may not have been reset')
  await new Promise((resolve) => setImmediate(resolve))
})

it('a store may throw anything', async () => {
  const warnings = emittedWarnings()
  const time = clock()
  const failing = new FailingStore(later(memoryStore({ clock: time })), { onFailure: 'open' })
  const limiter = createLimiter({ name: 'a', limit, store: failing.store })
  for (const thrown of [undefined, null, Object.create(null), Symbol('away'), 'away', 1n]) {
    failing.failure = () => {
      throw thrown
    }
    time.advance(6_000)
    expect((await limiter.tryAcquire('key')).degraded).toBe('open')
  }
  expect(warnings()).toHaveLength(1)
})

it('a store that fails for five seconds is warned of once', async () => {
  const warnings = emittedWarnings()
  const time = clock()
  const failing = new FailingStore(memoryStore({ clock: time }), { onFailure: 'open' })
  const limiter = createLimiter({ name: 'a', limit, store: failing.store as SyncStore })
  failing.failure = away
  limiter.tryAcquire('key')
  time.advance(4_999)
  limiter.tryAcquire('key')
  failing.failure = undefined
  time.advance(10)
  limiter.tryAcquire('key')
  failing.failure = away
  limiter.tryAcquire('key')
  expect(warnings()).toEqual([])
  time.advance(5_000)
  limiter.tryAcquire('key')
  time.advance(5_000)
  limiter.tryAcquire('key')
  expect(warnings()).toEqual([expect.stringMatching(/^SLUICE_STORE_UNAVAILABLE: .*away/)])
})

it('a shaper leaves by its own share when its store fails, and by the store again afterwards', async () => {
  const time = clock()
  const failing = new FailingStore(later(memoryStore({ clock: time })), { instances: 2 })
  const shaper = createShaper({ name: 'bank', drain: '10/s', capacity: 100, store: failing.store })
  failing.failure = () => Promise.reject(new Error('away'))
  const turns = Array.from({ length: 3 }, () => shaper.wait())
  await time.advanceAsync(1_000)
  const slots = await Promise.all(turns)
  expect(slots.map(({ atMs, degraded }) => [atMs - slots[0].atMs, degraded])).toEqual([
    [0, 'local'],
    [200, 'local'],
    [400, 'local'],
  ])
  failing.failure = undefined
  const turn = shaper.wait()
  await time.advanceAsync(1_000)
  expect((await turn).degraded).toBeUndefined()
  await shaper.close()
})

it('overrides that cannot be read are those that are known, if every level has a rule', async () => {
  const failing = new FailingStore(later(memoryStore({ clock: clock() })))
  const overrides: Overrides = {
    size: 1,
    get: () => [tokenBucket({ capacity: 2, refill: '1/h' })],
    set: async () => {},
    refresh: () => (failing.failure === undefined ? true : Promise.reject(new Error('away'))),
  }
  const store = { ...(failing.store as AsyncStore), overrides: () => overrides }
  const level = { name: 'one', key: 'user', limit }
  const ruled = createPolicy({ name: 'ruled', levels: [{ ...level, onFailure: 'local' }], store })
  const unruled = createPolicy({ name: 'unruled', levels: [level], store })
  failing.failure = away
  expect((await ruled.check({ user: 'a' })).levels[0].decision).toMatchObject({ quota: 2, degraded: 'local' })
  await expect(unruled.check({ user: 'a' })).rejects.toThrow('away')
})

it('a degraded answer that the store made itself is settled with the store', async () => {
  const given: unknown[] = []
  const memory = memoryStore({ clock: clock() })
  const store = {
    ...later(memory),
    decide: async (demands: never) => {
      const answer = memory.decide(demands)
      return { ...answer, decisions: answer.decisions.map((each) => ({ ...each, degraded: 'local' as const })) }
    },
    refund: async (demand: never, taken: never) => {
      given.push(taken)
      return memory.refund(demand, taken)
    },
  }
  const limiter = createLimiter({ name: 'a', limit, store: store as AsyncStore, onFailure: 'local' })
  const reservation = await limiter.reserve('key', { cost: 3 })
  await reservation.cancel()
  expect(given).toMatchObject([{ degraded: 'local', cost: 3 }])
  expect((await limiter.peek('key')).remaining).toBe(4)
})

it('what a store says of its failures is checked when a limiter is made', () => {
  const on = (told: object) => () =>
    createLimiter({ name: 'a', limit, store: { ...later(memoryStore()), ...told } as never })
  expect(on({ onFailure: 'clsd' })).toThrow("onFailure must be 'open', 'closed' or 'local'")
  expect(on({ instances: 0 })).toThrow('instances must be a whole number from 1 to 1,000,000')
  expect(on({ maxLocalKeys: 1.5 })).toThrow('maxLocalKeys must be a whole number from 1 to')
})

it('a memory store cannot fail, and takes no rule for it', () => {
  expect(() => createLimiter({ name: 'a', limit, store: memoryStore(), onFailure: 'open' })).toThrow(/left out/)
})

it('an answer whose numbers are none, or that contradicts itself, is a failure', async () => {
  const memory = memoryStore({ clock: clock() })
  const spoil = (spoilt: (answer: ReturnType<typeof memory.decide>) => object) => ({
    ...later(memory),
    decide: async (demands: never) => spoilt(memory.decide(demands)),
  })
  const withNumbers = (numbers: object) =>
    spoil((answer) => ({ ...answer, decisions: answer.decisions.map((each) => ({ ...each, ...numbers })) }))
  const stores = [
    ...[{ delayMs: Number.NaN }, { delayMs: Infinity }, { delayMs: 1e300 }, { delayMs: -1 }].map(withNumbers),
    ...[{ quota: Infinity }, { remaining: Number.NaN }, { retryAfterMs: Number.NaN }].map(withNumbers),
    spoil((answer) => ({ ...answer, takenUs: [Number.NaN] })),
    spoil((answer) => ({ ...answer, allowed: false })),
  ]
  for (const [i, store] of stores.entries()) {
    const limiter = createLimiter({ name: 'a', limit, store: store as never, onFailure: 'closed' })
    expect(await limiter.tryAcquire(`key ${i}`)).toMatchObject({ allowed: false, degraded: 'closed' })
  }
})

it('a synchronous store may leave decideOne out', () => {
  const { clock: time, decide, charge, refund, reset, block } = memoryStore({ clock: clock() })
  const memory = memoryStore({ clock: time as ManualClock })
  const bound = (run: object) => (run as (...given: unknown[]) => unknown).bind(memory)
  const methods = { decide: bound(decide), charge: bound(charge), refund: bound(refund) }
  const store = { synchronous: true, ...methods, reset: bound(reset), block: bound(block) } as unknown as SyncStore
  const limiter = createLimiter({ name: 'a', limit, store, onFailure: 'open' })
  const answers = Array.from({ length: 5 }, () => limiter.tryAcquire('key'))
  expect(answers.map(({ allowed, degraded }) => [allowed, degraded])).toEqual([
    ...Array.from({ length: 4 }, () => [true, undefined]),
    [false, undefined],
  ])
})

it('a synchronous store without decideOne that returns promises is told so, and its rejections end nothing', () => {
  const refuse = () => Promise.reject(new Error('away'))
  const methods = { decide: refuse, charge: refuse, refund: refuse, reset: refuse, block: refuse }
  const store = { synchronous: true, ...methods } as unknown as SyncStore
  const limiter = createLimiter({ name: 'a', limit, store })
  expect(() => limiter.tryAcquire('key')).toThrow('because the store says that it is synchronous')
})

it('a store that lacks methods is a mistake that shows at once', () => {
  const store = { decide: async () => ({}), reset: async () => {} } as never
  expect(() => createLimiter({ name: 'a', limit, store })).toThrow('it lacks charge, refund, block')
})
