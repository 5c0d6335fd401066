import fc from 'fast-check'
import {
  type Answer,
  concurrency,
  createPolicy,
  type Demand,
  fixedWindow,
  type Limit,
  leakyBucket,
  type MemoryStore,
  type MemoryStoreOptions,
  memoryStore,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { UnitsInForce } from './units-in-force.js'

const START = 1_745_000_000_000
const FEW = { min: 1, max: 4 }
const MANY = { min: 1, max: 60 }
const quota = fc.oneof({ weight: 4, arbitrary: fc.integer(FEW) }, { weight: 1, arbitrary: fc.integer(MANY) })
const FILLER = fixedWindow({ quota: 1, window: '36500d' })

/** Limits with short windows and few units, so that a few calls use them up. */
const limits: fc.Arbitrary<Limit> = fc.oneof(
  { weight: 3, arbitrary: quota.map((max) => concurrency({ max, ttl: '5s' })) },
  { weight: 3, arbitrary: quota.map((quota) => slidingLog({ quota, window: '4s' })) },
  { weight: 1, arbitrary: quota.map((quota) => fixedWindow({ quota, window: '4s' })) },
  { weight: 1, arbitrary: quota.map((quota) => slidingWindow({ quota, window: '4s', slices: 2 })) },
  { weight: 1, arbitrary: quota.map((capacity) => tokenBucket({ capacity, refill: '1/s' })) },
  { weight: 1, arbitrary: quota.map((capacity) => leakyBucket({ capacity, drain: '1/s' })) },
)

const DEEDS = ['decide', 'decide', 'decide', 'decide', 'decideOne', 'refund', 'charge', 'peek', 'reset'] as const

const SEED = [1, 2] as const

/** Keys that share a state when a store with that seed is full. A unit taken by one of them shows which others share it. */
function sharingKeys(count: number): readonly string[] {
  const store = memoryStore({ clock: new ManualClock(START), maxKeys: 1, seed: SEED })
  store.decideOne('filler', FILLER, 'filler', 1)
  const limit = fixedWindow({ quota: 1_000, window: '36500d' })
  store.decideOne('api', limit, 'a', 7)
  const keys = ['a']
  for (let i = 0; keys.length < count; i++) {
    if (store.decideOne('api', limit, `key:${i}`, 0).remaining === 993) keys.push(`key:${i}`)
  }
  return keys
}

const [FIRST, SECOND, THIRD] = sharingKeys(3)

const asked = fc.record({
  name: fc.nat({ max: 3 }),
  key: fc.constantFrom(FIRST, SECOND, THIRD, 'other'),
  cost: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(0, 1, 1, 1, 2, 3) },
    { weight: 1, arbitrary: fc.integer(MANY) },
  ),
  shadow: fc.constantFrom(false, false, false, true),
})

const steps = fc.array(
  fc.record({
    deed: fc.constantFrom(...DEEDS),
    asked: fc.array(asked, { minLength: 1, maxLength: 4 }),
    afterMs: fc.constantFrom(0, 0, 0, 0, 1, 500, 1_000, 2_500, 6_000),
  }),
  { minLength: 1, maxLength: 25 },
)

const stores = fc.record({
  /** How many keys other limits hold before the test begins. */
  filled: fc.integer({ min: 0, max: 4 }),
  maxKeys: fc.integer({ min: 1, max: 4 }),
  maxLogTimestamps: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 1, max: 16 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 120 }) },
  ),
  onFull: fc.constantFrom('share' as const, 'deny' as const),
  seed: fc.oneof(fc.constant(SEED), fc.tuple(fc.nat(), fc.nat())),
})

interface HeldUnits {
  readonly demand: Demand
  readonly atUs: number
  readonly delayMs: number
  readonly admission: ReturnType<UnitsInForce['admit']>
}

/** A store with room for one key, which is taken, so that all other keys share states. */
function storeWithoutKeys(maxLogTimestamps: number) {
  const store = memoryStore({ clock: new ManualClock(START), maxKeys: 1, maxLogTimestamps, seed: SEED })
  store.decideOne('filler', FILLER, 'filler', 1)
  return store
}

const log = (quota: number) => slidingLog({ quota, window: '1m' })

describe('memory that is reserved for one demand of a request', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 12])(
    'is not used by another level of a policy, in a store of %i timestamps',
    (most) => {
      const policy = createPolicy({
        name: 'reports',
        store: storeWithoutKeys(most),
        levels: [
          { name: 'at-once', key: 'user', limit: concurrency({ max: 1, ttl: '1m' }) },
          { name: 'pages', key: 'user', limit: log(100), cost: 'pages' },
        ],
      })
      let inFlight = 0
      for (let i = 0; i < 200; i++) if (policy.reserve({ user: 'ada', pages: 0 }).verdict.allowed) inFlight++
      expect(inFlight).toBe(most < 7 ? 0 : 1)
    },
  )

  it('is not used by a shadow that finds too little', () => {
    const store = storeWithoutKeys(4)
    const demands = [
      { name: 'calls', limit: log(1), key: 'ada', cost: 1 },
      { name: 'tried out', limit: log(1), key: 'ada', cost: 1, shadow: true },
    ]
    const { allowed, decisions } = store.decide(demands)
    expect([allowed, decisions[0].remaining, decisions[1].allowed]).toEqual([true, 0, false])
  })

  it('is not used by another log that grows by more than it needs', () => {
    const store = memoryStore({ clock: new ManualClock(START), maxLogTimestamps: 90 })
    store.decideOne('small', log(1_000), 'ada', 7)
    const { decisions, allowed } = store.decide([
      { name: 'small', limit: log(1_000), key: 'ada', cost: 1 },
      { name: 'large', limit: log(76), key: 'ada', cost: 76 },
    ])
    expect(allowed).toBe(true)
    expect(decisions.map(({ remaining }) => remaining)).toEqual([992, 0])
  })
})

describe('keys that share a state', () => {
  it('get no more units together in one request than one after the other', () => {
    const limit = tokenBucket({ capacity: 1, refill: '1/d' })
    const store = storeWithoutKeys(1)
    const both = [FIRST, SECOND].map((key) => ({ name: 'api', limit, key, cost: 1 }))
    const { allowed, decisions } = store.decide(both)
    expect(allowed).toBe(false)
    expect(decisions[1]).toMatchObject({ allowed: false, retryAfterMs: 1_000 })
    expect(store.decideOne('api', limit, FIRST, 1).allowed).toBe(true)
  })

  it('get no refund of units that a key took from a state of its own', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 1, seed: SEED })
    const limit = tokenBucket({ capacity: 1, refill: '1/s' })
    const { takenUs } = store.decide([{ name: 'api', limit, key: FIRST, cost: 1 }])
    clock.advance(1_000)
    store.decideOne('filler', FILLER, 'filler', 1)
    expect(store.decideOne('api', limit, SECOND, 1).allowed).toBe(true)
    store.refund({ name: 'api', limit, key: FIRST, cost: 1 }, { atUs: takenUs[0], cost: 1, delayMs: 0 })
    expect(store.decideOne('api', limit, SECOND, 1).allowed).toBe(false)
  })

  it('do not create it by a look', () => {
    const store = storeWithoutKeys(4)
    for (let i = 0; i < 100; i++) store.decideOne(`log ${i}`, log(1), 'ada', 0)
    expect(store.decideOne('calls', log(1), 'ada', 1).allowed).toBe(true)
  })

  it('keep the bound on timestamps when they are charged and get states of their own', () => {
    const clock = new ManualClock(START)
    const store = memoryStore({ clock, maxKeys: 500, maxLogTimestamps: 1_000 })
    for (let i = 0; i < 500; i++) store.decideOne('filler', FILLER, `${i}`, 1)
    for (let i = 0; i < 1_000; i++) store.decideOne('log', log(200), `${i}`, 100)
    for (let i = 0; i < 500; i++) store.reset('filler', `${i}`)
    const before = store.stats()
    for (let i = 0; i < 500; i++) store.charge({ name: 'log', limit: log(200), key: `${i}`, cost: 1 })
    // An entry of a table is two words, and at most two thirds of the entries are free.
    const entryBytes = (store.stats().keys - before.keys) * 16 * 3
    expect(store.stats().bytes).toBeLessThan(before.bytes + 100 * 8 + entryBytes)
    expect(store.stats().refused).toBeGreaterThan(before.refused + 400)
  })
})

/** A store, and the units of each name and key that are in force by the store's own answers. */
class Play {
  readonly #clock = new ManualClock(START)
  readonly #inForce = new Map<string, UnitsInForce>()
  readonly store: MemoryStore
  #held: HeldUnits[] = []

  constructor({ filled, ...options }: { filled: number } & MemoryStoreOptions) {
    this.store = memoryStore({ ...options, clock: this.#clock })
    for (let i = 0; i < filled; i++) this.store.decideOne('filler', FILLER, `${i}`, 1)
  }

  do(deed: (typeof DEEDS)[number], demands: readonly Demand[], afterMs: number): void {
    this.#clock.advance(afterMs)
    const [first] = demands
    if (deed === 'decide') this.#see(demands, this.store.decide(demands))
    else if (deed === 'decideOne') {
      const decision = this.store.decideOne(first.name, first.limit, first.key, first.cost)
      this.#see([first], { allowed: decision.allowed, decisions: [decision], takenUs: [this.#nowUs] })
    } else if (deed === 'charge') this.store.charge(first)
    else if (deed === 'peek') this.store.peek(demands)
    else if (deed === 'refund') this.#refund()
    else this.#reset(first)
  }

  get #nowUs(): number {
    return this.#clock.now() * 1_000
  }

  #see(demands: readonly Demand[], { allowed, decisions, takenUs }: Answer): void {
    if (!allowed) return
    for (const [i, demand] of demands.entries()) {
      if (!decisions[i].allowed) continue
      const admission = this.#of(demand).admit(this.#nowUs, demand.cost)
      this.#held.push({ demand, atUs: takenUs[i], delayMs: decisions[i].delayMs, admission })
    }
    for (const [i, demand] of demands.entries()) {
      const { allowed, quota, remaining } = decisions[i]
      const units = this.#of(demand).at(this.#nowUs)
      if (allowed) expect(units + remaining, `${demand.limit.algorithm} ${demand.key}`).toBeLessThanOrEqual(quota)
    }
  }

  /** Refunds the oldest admission that is still held. */
  #refund(): void {
    const taken = this.#held.shift()
    if (taken === undefined) return
    const { demand, admission, atUs, delayMs } = taken
    this.store.refund(demand, { cost: demand.cost, delayMs, atUs })
    this.#of(demand).refund(this.#nowUs, admission, demand.cost)
  }

  #reset({ name, key }: Demand): void {
    this.store.reset(name, key)
    this.#inForce.delete(`${name} ${key}`)
    this.#held = this.#held.filter(({ demand }) => demand.name !== name || demand.key !== key)
  }

  #of({ name, key, limit }: Demand): UnitsInForce {
    const id = `${name} ${key}`
    const units = this.#inForce.get(id) ?? new UnitsInForce(limit)
    this.#inForce.set(id, units)
    return units
  }
}

describe('a store with too little memory for keys and timestamps', () => {
  it('records every unit that it admits', () => {
    const fourLimits = fc.array(limits, { minLength: 4, maxLength: 4 })
    fc.assert(
      fc.property(stores, fourLimits, steps, (options, limits, steps) => {
        const play = new Play(options)
        for (const { deed, asked, afterMs } of steps) {
          const demands = asked.map(({ name, ...rest }) => ({ ...rest, name: `${name}`, limit: limits[name] }))
          play.do(deed, demands, afterMs)
          expect(play.store.size).toBeLessThanOrEqual(options.maxKeys)
        }
      }),
      { numRuns: 4_000 },
    )
  })
})
