import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  type AsyncStore,
  concurrency,
  createLimiter,
  createPolicy,
  type DecisionEvent,
  memoryStore,
  type Store,
  tokenBucket,
  WaitTooLongError,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { afterEach, describe, expect, it } from 'vitest'

const two = tokenBucket({ capacity: 2, refill: '1/h' })
const stops: (() => void)[] = []

afterEach(() => {
  for (const stop of stops.splice(0)) stop()
})

/** A copy of each event, as a subscriber has to make it. */
function listen(onEvent: (event: DecisionEvent) => void = () => {}): DecisionEvent[] {
  const events: DecisionEvent[] = []
  const hear = (message: unknown) => {
    const event = message as DecisionEvent
    events.push({ ...event, demands: event.demands.map((each) => ({ ...each })), decisions: [...event.decisions] })
    onEvent(event)
  }
  subscribe('sluice:decision', hear)
  stops.push(() => unsubscribe('sluice:decision', hear))
  return events
}

/** A memory store that answers later. */
function laterStore(decide?: () => Promise<never>): AsyncStore {
  const store = memoryStore()
  return {
    decide: decide ?? (async (demands) => store.decide(demands)),
    peek: async (demands) => store.peek(demands),
    charge: async (demand) => store.charge(demand),
    set: async (limited, remaining) => store.set(limited, remaining),
    refund: async (demand, taken) => store.refund(demand, taken),
    reset: async (name, key) => store.reset(name, key),
    block: async (name, key, durationUs) => store.block(name, key, durationUs),
  }
}

describe('the channel sluice:decision', () => {
  it('has the request and the cost of a policy, in each of its methods and on each kind of store', async () => {
    const events = listen()
    const levels = [{ name: 'user', key: ['user'], limit: two }] as const
    const request = { user: 'a' }
    const policy = createPolicy({ name: 'api', levels })
    policy.check(request, { cost: 2 })
    policy.reserve(request)
    await policy.reserve(request, { ttl: '1m' })
    await createPolicy({ name: 'api', levels, store: laterStore() }).check(request, { cost: 2 })
    expect(events.map(({ request: told, cost }) => [told, cost])).toEqual([
      [request, 2],
      [request, 1],
      [request, 1],
      [request, 2],
    ])
    expect(events[0].request).toBe(request)
    createLimiter({ name: 'search', limit: two }).tryAcquire('user:42', { cost: 2 })
    expect(events[4]).toMatchObject({ request: undefined, cost: 2 })
  })

  it('says what a limiter was asked and what it decided', () => {
    const events = listen()
    const limiter = createLimiter({ name: 'search', limit: two })
    const decision = limiter.tryAcquire('user:42', { cost: 2 })
    limiter.tryAcquire('user:43', { cost: 3 })
    expect(events).toHaveLength(2)
    expect(events[0]).toMatchObject({ kind: 'limiter', method: 'tryAcquire', name: 'search', allowed: true })
    expect(events[0].demands).toEqual([{ name: 'search', limit: two, key: 'user:42', cost: 2 }])
    expect(events[0].decisions).toEqual([decision])
    expect(events[0].durationMs).toBeGreaterThan(0)
    expect(events[1]).toMatchObject({ allowed: false, degraded: undefined, error: undefined })
    expect(events[1].demands[0].key).toBe('user:43')
  })

  it('names the levels of a policy', () => {
    const events = listen()
    const policy = createPolicy({
      name: 'api',
      levels: [
        { name: 'user', key: ['user'], limit: two },
        { name: 'new', key: ['user'], limit: tokenBucket({ capacity: 1, refill: '1/h' }), shadow: true },
      ],
    })
    policy.check({ user: 'a' })
    policy.check({ user: 'a' })
    expect(events.map(({ kind, method, name, allowed }) => [kind, method, name, allowed])).toEqual([
      ['policy', 'check', 'api', true],
      ['policy', 'check', 'api', true],
    ])
    expect(events[1].demands.map(({ level, key, shadow }) => [level, key, shadow])).toEqual([
      ['user', 'a', false],
      ['new', 'a', true],
    ])
    expect(events[1].decisions.map(({ allowed }) => allowed)).toEqual([true, false])
  })

  it.each([
    ['at once', () => memoryStore()],
    ['later', () => laterStore()],
  ])('hears of every method that takes units, and of no other, on a store that answers %s', async (_, store) => {
    const events = listen()
    const shared = store() as AsyncStore
    const limiter = createLimiter({ name: 'units', limit: two, store: shared })
    await limiter.tryAcquire('a')
    await limiter.reserve('b')
    await limiter.acquire('c')
    const places = createLimiter({ name: 'places', limit: concurrency({ max: 1, ttl: '1m' }), store: shared })
    await places.lease('a')
    await places.acquireLease('b')
    const policy = createPolicy({ name: 'api', levels: [{ name: 'user', key: ['user'], limit: two }], store: shared })
    await policy.check({ user: 'a' })
    await policy.reserve({ user: 'a' })
    await limiter.peek('a')
    await limiter.charge('a')
    await limiter.refund('a')
    await limiter.set('a', { remaining: 1 })
    await limiter.reset('a')
    await policy.peek({ user: 'a' })
    await policy.set({ user: 'a' }, { remaining: 1 })
    await policy.explain({ user: 'a' })
    expect(events.map(({ name, method, allowed }) => [name, method, allowed])).toEqual([
      ['units', 'tryAcquire', true],
      ['units', 'reserve', true],
      ['units', 'acquire', true],
      ['places', 'lease', true],
      ['places', 'acquireLease', true],
      ['api', 'check', true],
      ['api', 'reserve', true],
    ])
  })

  it('says if the store failed, and how the limit answered then', async () => {
    const events = listen()
    const failure = new Error('no connection')
    const store: Store = laterStore(() => Promise.reject(failure))
    const closed = createLimiter({ name: 'closed', limit: two, store: store as AsyncStore, onFailure: 'closed' })
    const strict = createLimiter({ name: 'strict', limit: two, store: store as AsyncStore })
    expect((await closed.tryAcquire('a')).degraded).toBe('closed')
    await expect(strict.tryAcquire('a')).rejects.toThrow()
    expect(events[0]).toMatchObject({ name: 'closed', allowed: false, degraded: 'closed', error: undefined })
    expect(events[1]).toMatchObject({ name: 'strict', allowed: false, decisions: [] })
    expect(events[1].error).toBeInstanceOf(Error)
  })

  it('hears of a caller that waited too long, but not of one that gave up', async () => {
    const events = listen()
    const clock = new ManualClock(0)
    const limiter = createLimiter({ name: 'slow', limit: tokenBucket({ capacity: 1, refill: '1/h' }), clock })
    await limiter.acquire('a')
    await expect(limiter.acquire('a', { maxWaitMs: 1 })).rejects.toThrow(WaitTooLongError)
    const abort = new AbortController()
    const waiting = limiter.acquire('a', { signal: abort.signal })
    abort.abort()
    await expect(waiting).rejects.toThrow('aborted')
    expect(events.map(({ allowed, error }) => [allowed, error instanceof WaitTooLongError])).toEqual([
      [true, false],
      [false, true],
    ])
  })

  it('hears of no call with wrong arguments, because that decides nothing', () => {
    const events = listen()
    const limiter = createLimiter({ limit: two })
    expect(() => limiter.tryAcquire('')).toThrow()
    expect(() => createPolicy({ levels: [{ name: 'a', limit: two }] }).check(1 as unknown as object)).toThrow()
    expect(events).toEqual([])
  })

  it('lets a subscriber decide something itself without changing the event that it was given', () => {
    const inner = createLimiter({ name: 'inner', limit: two })
    const outer = createLimiter({ name: 'outer', limit: two })
    const seen: string[] = []
    listen((event) => {
      if (event.name !== 'outer') return
      inner.tryAcquire('from a subscriber')
      seen.push(`${event.name} ${event.demands[0].key} ${event.decisions.length}`)
    })
    outer.tryAcquire('from the caller')
    expect(seen).toEqual(['outer from the caller 1'])
  })

  it('uses one event again, and keeps nothing of a decision', () => {
    const kept: DecisionEvent[] = []
    listen((event) => kept.push(event))
    const limiter = createLimiter({ limit: two })
    limiter.tryAcquire('a')
    limiter.tryAcquire('b')
    expect(kept[0]).toBe(kept[1])
    expect(kept[0].demands).toEqual([])
    expect(kept[0].decisions).toEqual([])
  })
})
