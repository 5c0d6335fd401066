import { expect, it, onTestFinished, vi } from 'vitest'
import {
  createLimiter,
  createPolicy,
  createShaper,
  fixedWindow,
  memoryStore,
  StoreUnavailableError,
  tokenBucket,
} from '../../src/index.js'
import { type AsyncStore, type Overrides, type SyncStore, withFallback } from '../../src/stores/index.js'
import { FailingStore } from '../../src/testing/failing-store.js'
import { ManualClock } from '../../src/testing/manual-clock.js'

const limit = tokenBucket({ capacity: 4, refill: '1/h' })
const clock = () => new ManualClock(Date.UTC(2026, 0, 1))
const fail = () => {
  throw new Error('unreachable')
}

/** The same store with methods that return promises. */
function later(store: SyncStore): AsyncStore {
  const promised = (name: 'decide' | 'peek' | 'charge' | 'refund' | 'set' | 'reset' | 'block') =>
    (async (...given: never[]) => Reflect.apply(store[name], store, given)) as never
  return {
    clock: store.clock,
    decide: promised('decide'),
    peek: promised('peek'),
    charge: promised('charge'),
    set: promised('set'),
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

it('limiters of one store share their local limits while the store fails', async () => {
  const failing = new FailingStore(later(memoryStore({ clock: clock() })), { onFailure: 'local' })
  const [one, other] = [1, 2].map(() => createLimiter({ name: 'a', limit, store: failing.store }))
  failing.failure = fail
  expect((await one.tryAcquire('key', { cost: 3 })).remaining).toBe(1)
  expect((await other.tryAcquire('key', { cost: 3 })).allowed).toBe(false)
})

it('a failure is an error if one level has no rule, unless that level is a shadow', async () => {
  const failing = new FailingStore(memoryStore({ clock: clock() }))
  const store = failing.store as SyncStore
  const ruled = { name: 'one', key: 'user', limit, onFailure: 'open' as const }
  const two = { name: 'two', limit: tokenBucket({ capacity: 9, refill: '9/h' }) }
  const mixed = createPolicy({ name: 'mixed', levels: [ruled, two], store })
  const shadowed = createPolicy({ name: 'shadowed', levels: [ruled, { ...two, shadow: true }], store })
  failing.failure = fail
  expect(() => mixed.check({ user: 'a' })).toThrow('unreachable')
  expect(shadowed.check({ user: 'a' })).toMatchObject({ allowed: true, degraded: 'open' })
})

it('a synchronous store that returns a promise has failed, and a rejection of the promise is handled', async () => {
  const failing = new FailingStore(memoryStore({ clock: clock() }), { onFailure: 'closed' })
  const limiter = createLimiter({ name: 'a', limit, store: failing.store as SyncStore })
  failing.failure = () => Promise.reject(new Error('unreachable'))
  expect(limiter.tryAcquire('key')).toMatchObject({ allowed: false, degraded: 'closed' })
  expect(limiter.peek('key')).toMatchObject({ allowed: false, degraded: 'closed' })
  expect(() => limiter.block('key', { duration: '1m' })).toThrow('may not have been blocked')
  expect(() => limiter.reset('key')).toThrow('may not have been reset')
  await new Promise((resolve) => setImmediate(resolve))
})

it('a limiter answers a failure whatever value the store throws', async () => {
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

it('a store that fails for five seconds causes one warning', async () => {
  const warnings = emittedWarnings()
  const time = clock()
  const failing = new FailingStore(memoryStore({ clock: time }), { onFailure: 'open' })
  const limiter = createLimiter({ name: 'a', limit, store: failing.store as SyncStore })
  failing.failure = fail
  limiter.tryAcquire('key')
  time.advance(4_999)
  limiter.tryAcquire('key')
  failing.failure = undefined
  time.advance(10)
  limiter.tryAcquire('key')
  failing.failure = fail
  limiter.tryAcquire('key')
  expect(warnings()).toEqual([])
  time.advance(5_000)
  limiter.tryAcquire('key')
  time.advance(5_000)
  limiter.tryAcquire('key')
  expect(warnings()).toEqual([expect.stringMatching(/^SLUICE_STORE_UNAVAILABLE: .*unreachable/)])
})

it('a shaper drains by its own share while its store fails, and by the store again afterwards', async () => {
  const time = clock()
  const failing = new FailingStore(later(memoryStore({ clock: time })), { instances: 2 })
  const shaper = createShaper({ name: 'bank', drain: '10/s', capacity: 100, store: failing.store })
  failing.failure = () => Promise.reject(new Error('unreachable'))
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

it('a policy uses the overrides it knows if it cannot read them and every level has a rule', async () => {
  const failing = new FailingStore(later(memoryStore({ clock: clock() })))
  const overrides: Overrides = {
    size: 1,
    get: () => [tokenBucket({ capacity: 2, refill: '1/h' })],
    entries: () => [],
    set: async () => {},
    refresh: () => (failing.failure === undefined ? true : Promise.reject(new Error('unreachable'))),
  }
  const store = { ...(failing.store as AsyncStore), overrides: () => overrides }
  const level = { name: 'one', key: 'user', limit }
  const ruled = createPolicy({ name: 'ruled', levels: [{ ...level, onFailure: 'local' }], store })
  const unruled = createPolicy({ name: 'unruled', levels: [level], store })
  failing.failure = fail
  expect((await ruled.check({ user: 'a' })).levels[0].decision).toMatchObject({ quota: 2, degraded: 'local' })
  await expect(unruled.check({ user: 'a' })).rejects.toThrow('unreachable')
  // A list has no place to say that it may be incomplete.
  await expect(ruled.overrides()).rejects.toThrow(StoreUnavailableError)
  await expect(unruled.overrides()).rejects.toThrow('unreachable')
})

it('a reservation with a degraded answer of the store itself is settled with the store', async () => {
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

it('a limiter checks onFailure, instances and maxLocalKeys of its store when it is made', () => {
  const on = (properties: object) => () =>
    createLimiter({ name: 'a', limit, store: { ...later(memoryStore()), ...properties } as never })
  expect(on({ onFailure: 'clsd' })).toThrow("onFailure must be 'open', 'closed' or 'local'")
  expect(on({ instances: 0 })).toThrow('instances must be a whole number from 1 to 1,000,000')
  expect(on({ maxLocalKeys: 1.5 })).toThrow('maxLocalKeys must be a whole number from 1 to')
})

it('a limiter on a memory store refuses onFailure, because the store cannot fail', () => {
  expect(() => createLimiter({ name: 'a', limit, store: memoryStore(), onFailure: 'open' })).toThrow(/left out/)
})

it('an answer with a number that is not one, or that contradicts itself, is a failure', async () => {
  const memory = memoryStore({ clock: clock() })
  const malformed = (change: (answer: ReturnType<typeof memory.decide>) => object) => ({
    ...later(memory),
    decide: async (demands: never) => change(memory.decide(demands)),
  })
  const withNumbers = (numbers: object) =>
    malformed((answer) => ({ ...answer, decisions: answer.decisions.map((each) => ({ ...each, ...numbers })) }))
  const stores = [
    ...[{ delayMs: Number.NaN }, { delayMs: Infinity }, { delayMs: 1e300 }, { delayMs: -1 }].map(withNumbers),
    ...[{ quota: Infinity }, { remaining: Number.NaN }, { retryAfterMs: Number.NaN }].map(withNumbers),
    malformed((answer) => ({ ...answer, takenUs: [Number.NaN] })),
    malformed((answer) => ({ ...answer, allowed: false })),
  ]
  for (const [i, store] of stores.entries()) {
    const limiter = createLimiter({ name: 'a', limit, store: store as AsyncStore, onFailure: 'closed' })
    expect(await limiter.tryAcquire(`key ${i}`)).toMatchObject({ allowed: false, degraded: 'closed' })
  }
})

it('a synchronous store works without decideOne and peekOne', () => {
  const { clock: time, decide, peek, charge, refund, set, reset, block } = memoryStore({ clock: clock() })
  const memory = memoryStore({ clock: time as ManualClock })
  const bound = (run: object) => (run as (...given: unknown[]) => unknown).bind(memory)
  const asking = { decide: bound(decide), peek: bound(peek) }
  const methods = { ...asking, charge: bound(charge), refund: bound(refund), set: bound(set) }
  const store = { synchronous: true, ...methods, reset: bound(reset), block: bound(block) } as unknown as SyncStore
  const limiter = createLimiter({ name: 'a', limit, store, onFailure: 'open' })
  const answers = Array.from({ length: 5 }, () => limiter.tryAcquire('key'))
  expect(answers.map(({ allowed, degraded }) => [allowed, degraded])).toEqual([
    ...Array.from({ length: 4 }, () => [true, undefined]),
    [false, undefined],
  ])
  expect(limiter.peek('key')).toMatchObject({ allowed: false, remaining: 0 })
})

it('a synchronous store without decideOne that returns a promise is an error that says so', () => {
  const refuse = () => Promise.reject(new Error('unreachable'))
  const methods = {
    decide: refuse,
    peek: refuse,
    charge: refuse,
    refund: refuse,
    set: refuse,
    reset: refuse,
    block: refuse,
  }
  const store = { synchronous: true, ...methods } as unknown as SyncStore
  const limiter = createLimiter({ name: 'a', limit, store })
  expect(() => limiter.tryAcquire('key')).toThrow('because the store says that it is synchronous')
  expect(() => limiter.peek('key')).toThrow('because the store says that it is synchronous')
})

it('a limiter refuses a store that lacks methods when it is made', () => {
  const store = { decide: async () => ({}), reset: async () => {} } as never
  expect(() => createLimiter({ name: 'a', limit, store })).toThrow('it lacks peek, charge, refund, set, block')
})

it('a shadow that shares its state with a demand that is none may deny the request', async () => {
  const store = withFallback({ ...later(memoryStore({ clock: clock() })), onFailure: 'open' })
  const [small, large] = [1, 5].map((quota) => fixedWindow({ quota, window: '1h' }))
  const answer = await store.decide([
    { name: 'test', key: 'key', limit: small, cost: 1, shadow: true },
    { name: 'test', key: 'key', limit: large, cost: 1 },
  ])
  expect(answer.allowed).toBe(false)
  expect(answer.decisions.map(({ degraded }) => degraded)).toEqual([undefined, undefined])
})
