/** Redis lends as the arithmetic in TypeScript says, to the last digit and to the last byte. */
import fc, { type Arbitrary } from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Decision,
  fixedWindow,
  type LeaseReturn,
  quotaOf,
  slidingWindow,
  type Taken,
  tokenBucket,
} from '../../src/limits/index.js'
import type { LeaseAnswer, LeaseFailure } from '../../src/stores/leases.js'
import { KeyLayout } from '../../src/stores/redis/key-layout.js'
import { ManualClock } from '../../src/testing/manual-clock.js'
import { assertLaw, fleetLives, liveThrough } from '../property/lending-life.js'
import { type LeasableLimit, LendingModel, type ModelRequest } from '../property/lending-model.js'
import { startInjected } from './injected-store.js'

let injected: Awaited<ReturnType<typeof startInjected>>
beforeAll(async () => {
  injected = await startInjected()
})
afterAll(() => injected?.stop())

/** Limits that share a state: the same one with lowered and raised numbers. */
const FAMILIES: Readonly<Record<string, readonly LeasableLimit[]>> = {
  'token bucket': [
    tokenBucket({ capacity: 12, refill: '3/s' }),
    tokenBucket({ capacity: 5, refill: '7/3s' }),
    tokenBucket({ capacity: 400, refill: '100/s' }),
  ],
  'token bucket of extreme numbers': [
    tokenBucket({ capacity: 2 ** 49, refill: '500000/s' }),
    tokenBucket({ capacity: 1e15, refill: '1000000/s' }),
    tokenBucket({ capacity: 10, refill: '1/30d' }),
    tokenBucket({ capacity: 1, refill: '1/9000d' }),
  ],
  'fixed window': [5, 12, 400].map((quota) => fixedWindow({ quota, window: '700ms' })),
  'fixed window of extreme numbers': [1, 1e15].map((quota) => fixedWindow({ quota, window: '36500d' })),
  'sliding window': [5, 12, 400].map((quota) => slidingWindow({ quota, window: '700ms' })),
  // Its state is as long as that of a bucket with leases.
  'sliding window of three slices': [5, 12].map((quota) => slidingWindow({ quota, window: '1s', slices: 3 })),
  'sliding window of extreme numbers': [7, 1e15].map((quota) => slidingWindow({ quota, window: '36500d', slices: 2 })),
}

interface Step {
  readonly advanceMs: number
  /** Which limit, and which of the leases so far, by their index. */
  readonly limit: number
  readonly lease: number
  readonly deed:
    | {
        readonly kind: 'exchange'
        readonly node: string
        readonly want: number
        readonly leaseUs: number
        readonly returned: number
      }
    | { readonly kind: 'again'; readonly node: string }
    | { readonly kind: 'decide' | 'charge' | 'refund' | 'refund taken'; readonly cost: number }
    | { readonly kind: 'set'; readonly share: number }
    | { readonly kind: 'block'; readonly durationUs: number }
    | { readonly kind: 'reset' }
}

const nodes = fc.constantFrom('a', 'b', '{node}:%')
const costs = fc.constantFrom(0, 1, 1, 2, 5, 12, 13, 2 ** 31, 1e15)
const exchanges = fc.record({
  kind: fc.constant('exchange' as const),
  node: nodes,
  want: fc.constantFrom(0, 1, 2, 4, 12, 300, 1e15),
  leaseUs: fc.constantFrom(5_000, 60_000, 175_000, 250_000),
  returned: fc.integer({ min: 0, max: 2 }),
})
const changes = fc.record({
  kind: fc.constantFrom(
    'decide' as const,
    'decide' as const,
    'charge' as const,
    'refund' as const,
    'refund taken' as const,
  ),
  cost: costs,
})
const steps: Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    advanceMs: fc.constantFrom(0, 0, 0.001, 7, 60, 175, 350, 699, 700, 1_001, 2_100, -5, -800),
    limit: fc.nat(),
    lease: fc.nat(),
    deed: fc.oneof(
      { weight: 10, arbitrary: exchanges },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('again' as const), node: nodes }) },
      { weight: 6, arbitrary: changes },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const) }) },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('set' as const), share: fc.constantFrom(0, 0.3, 0.7, 1) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('block' as const), durationUs: fc.integer({ min: 1, max: 900_000 }) }),
      },
    ),
  }),
  { minLength: 5, maxLength: 40 },
)

function answered(answer: LeaseAnswer | LeaseFailure): LeaseAnswer {
  if ('instead' in answer) throw new Error('Redis did not answer')
  return answer
}

/** Plays the steps on Redis and on the model, and compares every answer and the state that is left. */
async function play(limits: readonly LeasableLimit[], life: readonly Step[]): Promise<void> {
  const clock = new ManualClock(Date.UTC(2026, 0, 1) + 12_345.678)
  const { store, prefix } = injected.createWithPrefix(clock)
  const isBucket = limits[0].algorithm === 'token-bucket'
  const model = new LendingModel(isBucket, { guardsEnd: false })
  const last = new Map<string, ModelRequest>()
  const leases: LeaseReturn[] = []
  let taken: Taken | undefined
  const redisKey = new KeyLayout(prefix).of('n', limits[0], 'k')
  store.prepare({ name: 'n', limit: limits[0] })

  const exchange = async (limit: LeasableLimit, request: ModelRequest) => {
    const grant = model.exchange(limit, request)
    const answer = answered(await store.leases.exchange({ name: 'n', limit, key: 'k', ...request }))
    const { granted, roundUs, isBlocked, lastsMs } = answer
    expect({ granted, roundUs, isBlocked, lastsMs }).toEqual({
      granted: grant.granted,
      roundUs: grant.roundUs,
      isBlocked: model.isBlocked,
      lastsMs: (grant.roundUs - model.nowUs) / 1_000,
    })
    for (const cost of [0, 1, 7]) expectTold(answer.decisionFor(cost), model.peek(limit, cost), isBucket)
    if (grant.isChanged && !isBlocked) await expectExpiry(redisKey, model.peek(limit, 0).resetAfterMs)
    if (granted > 0) leases.push({ roundUs, spent: Math.floor(granted / 3), unspent: Math.ceil(granted / 2) })
  }

  for (const { advanceMs, limit: number, lease, deed } of life) {
    clock.advance(advanceMs)
    model.nowUs = Math.floor(clock.now() * 1_000)
    const limit = limits[number % limits.length]
    const demand = { name: 'n', limit, key: 'k', cost: 'cost' in deed ? deed.cost : 0 }
    if (deed.kind === 'exchange') {
      const sequence = (last.get(deed.node)?.sequence ?? 0) + 1
      // Of an earlier lease, of the last one, and of none.
      const known = [leases[lease % Math.max(1, leases.length)], leases.at(-1) ?? { roundUs: 1, spent: 1, unspent: 1 }]
      const returns = known.filter((each) => each !== undefined).slice(0, deed.returned)
      const request = { node: deed.node, sequence, want: deed.want, leaseUs: deed.leaseUs, returns }
      last.set(deed.node, request)
      await exchange(limit, request)
    } else if (deed.kind === 'again') {
      const earlier = last.get(deed.node)
      // The same request again, or an earlier one that arrives late.
      if (earlier !== undefined)
        await exchange(limit, { ...earlier, sequence: Math.max(1, earlier.sequence - (lease % 2)) })
    } else if (deed.kind === 'decide') {
      const answer = await store.decide([demand])
      expect(answer.decisions[0]).toEqual(model.decide(limit, deed.cost))
      taken = { atUs: answer.takenUs[0], cost: deed.cost, delayMs: 0 }
    } else if (deed.kind === 'charge') {
      if (deed.cost > 0) expect(await store.charge(demand)).toEqual(model.charge(limit, deed.cost))
    } else if (deed.kind === 'refund' || deed.kind === 'refund taken') {
      const of = deed.kind === 'refund' ? undefined : taken
      if (deed.cost > 0) expect(await store.refund(demand, of)).toEqual(model.refund(limit, deed.cost, of))
    } else if (deed.kind === 'set') {
      const remaining = Math.floor(deed.share * quotaOf(limit))
      expect(await store.set(demand, remaining)).toEqual(model.set(limit, remaining))
    } else if (deed.kind === 'block') {
      await store.block('n', 'k', deed.durationUs)
      model.block(deed.durationUs)
    } else {
      await store.reset('n', 'k')
      model.reset()
    }
    const kept = await keptIn(redisKey)
    if (kept.length === 0) model.forgetIfWhole()
    expect(kept).toEqual(model.words ?? [])
    const look = await store.decide([{ ...demand, cost: 0 }])
    expect(look.decisions[0]).toEqual(model.decide(limit, 0))
  }
  const keys = await injected.client.keys(`${prefix}*`)
  for (const key of keys) expect(await injected.client.pttl(key), key).toBeGreaterThan(0)
}

/** The answer to a lease describes the state as a decision does. Its waits for units of a bucket assume returns. */
function expectTold(told: Decision, exact: Decision, isBucket: boolean): void {
  if (!isBucket) expect(told).toEqual(exact)
  const { retryAfterMs, nextUnitAfterMs, resetAfterMs } = exact
  expect(told).toEqual({ ...told, allowed: exact.allowed, quota: exact.quota, remaining: exact.remaining })
  expect(told.retryAfterMs).toBeLessThanOrEqual(retryAfterMs)
  expect(told.nextUnitAfterMs).toBeLessThanOrEqual(nextUnitAfterMs)
  expect(told.resetAfterMs).toBeLessThanOrEqual(resetAfterMs)
}

/** The key lives until the state is whole, and, because the time is moved by hand, an hour longer. */
async function expectExpiry(redisKey: string, resetAfterMs: number): Promise<void> {
  const ttlMs = await injected.client.pttl(redisKey)
  if (resetAfterMs === 0) return expect(ttlMs).toBe(-2)
  expect(ttlMs).toBeLessThanOrEqual(resetAfterMs + 3_600_001)
  expect(ttlMs).toBeGreaterThan(resetAfterMs + 3_590_000)
}

/** The words that Redis keeps of a state, without the 17 bytes of a block behind them. */
async function keptIn(redisKey: string): Promise<readonly number[]> {
  const value = (await injected.client.getBuffer(redisKey)) ?? Buffer.alloc(0)
  const bytes = value.length % 8 === 1 ? value.length - 17 : value.length
  return Array.from({ length: bytes / 8 }, (_, i) => value.readDoubleLE(8 * i))
}

describe.each(Object.entries(FAMILIES))('a %s in Redis', (_, limits) => {
  it('lends, takes back, decides, charges, refunds, sets, resets and blocks as the model does', async () => {
    await fc.assert(
      fc.asyncProperty(steps, (life) => play(limits, life)),
      { numRuns: 100 },
    )
  }, 120_000)
})

it('a key that is reset after its leases have ended has its whole quota, however slowly it refills', async () => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const store = injected.create(clock)
  const limit = tokenBucket({ capacity: 10, refill: '1/30d' })
  const named = { name: 'n', limit, key: 'k' }
  const lease = { ...named, node: 'dead', sequence: 1, want: 4, leaseUs: 250_000, returns: [] }
  expect(answered(await store.leases.exchange(lease)).granted).toBe(4)
  clock.advance(3_000)
  await store.reset('n', 'k')
  expect((await store.peek([{ ...named, cost: 10 }])).decisions[0]).toMatchObject({ allowed: true, remaining: 10 })
  expect(answered(await store.leases.exchange({ ...lease, sequence: 2 })).granted).toBe(4)
  clock.advance(3_000)
  expect(await store.set(named, 10)).toMatchObject({ remaining: 10 })
})

it.each([
  tokenBucket({ capacity: 5, refill: '10/s' }),
  fixedWindow({ quota: 8, window: '1s' }),
  slidingWindow({ quota: 20, window: '30s', slices: 3 }),
])(
  'a fleet on Redis that holds leases of a $algorithm keeps the law of the limit',
  async (limit) => {
    const check = async (life: Parameters<typeof liveThrough>[1]) => {
      let nowMs = 0
      const store = injected.create({ now: () => nowMs })
      const admitted = await liveThrough(
        {
          setTime: (nowUs) => {
            nowMs = nowUs / 1_000
          },
          exchange: async (request) =>
            answered(await store.leases.exchange({ name: 'n', limit, key: 'k', ...request })),
          decideOne: async () => (await store.decide([{ name: 'n', limit, key: 'k', cost: 1 }])).allowed,
        },
        life,
      )
      assertLaw(limit, admitted)
    }
    await fc.assert(fc.asyncProperty(fleetLives, check), { numRuns: 100 })
  },
  120_000,
)
