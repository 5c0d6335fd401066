/** What one key does to a limiter with `blockFor`, and an oracle that knows blocks but nothing of stores. */
import fc, { type Arbitrary } from 'fast-check'
import {
  type BlockFor,
  concurrency,
  createLimiter,
  fixedWindow,
  type Limit,
  leakyBucket,
  memoryStore,
  type Store,
  type SyncStore,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'sluice'
import type { ManualClock } from 'sluice/testing'
import { expect } from 'vitest'

const limits: Arbitrary<Limit> = fc
  .integer({ min: 1, max: 6 })
  .chain((units) =>
    fc.constantFrom<Limit>(
      tokenBucket({ capacity: units, refill: '2/s' }),
      leakyBucket({ capacity: units, drain: '3/s' }),
      fixedWindow({ quota: units, window: '2s' }),
      slidingWindow({ quota: units, window: '2s' }),
      slidingWindow({ quota: units, window: '3s', slices: 3 }),
      slidingLog({ quota: units, window: '2s' }),
      concurrency({ max: units, ttl: '2s' }),
    ),
  )

/** Lengths in microseconds, and the option that says so. */
interface RuleCase {
  readonly option: BlockFor
  readonly firstUs: number
  readonly factor: number
  readonly mostUs: number
  readonly forgetUs: number
}

const rules: Arbitrary<RuleCase> = fc
  .record({
    first: fc.integer({ min: 1, max: 5_000 }),
    factor: fc.constantFrom(1, 1.5, 2, 3.7),
    more: fc.integer({ min: 0, max: 20_000 }),
    forget: fc.integer({ min: 1, max: 8_000 }),
    isFixed: fc.boolean(),
  })
  .map(({ first, factor, more, forget, isFixed }) => ({
    option: isFixed ? `${first}ms` : { first: `${first}ms`, factor, most: `${first + more}ms`, forget: `${forget}ms` },
    firstUs: first * 1_000,
    factor,
    mostUs: (first + more) * 1_000,
    forgetUs: isFixed ? 0 : forget * 1_000,
  }))

interface Step {
  readonly advanceMs: number
  readonly call: 'tryAcquire' | 'reserve' | 'charge' | 'refund' | 'peek'
  readonly cost: number
}

const steps: Arbitrary<Step> = fc.record({
  advanceMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 9_000 })),
  call: fc.constantFrom('tryAcquire', 'tryAcquire', 'tryAcquire', 'tryAcquire', 'reserve', 'charge', 'refund', 'peek'),
  cost: fc.constantFrom(0, 1, 1, 1, 2, 3, 9),
})

export interface BlockedLife {
  readonly limit: Limit
  readonly rule: RuleCase
  readonly steps: readonly Step[]
}

export const blockedLives: Arbitrary<BlockedLife> = fc.record({
  limit: limits,
  rule: rules,
  steps: fc.array(steps, { minLength: 1, maxLength: 60 }),
})

/**
 * Checks one life: no unit is admitted within a block, every denial in it tells at least its end, a denial makes a block
 * only outside of one, and outside of blocks the limiter decides as one without `blockFor` does.
 */
export async function checkBlockedLife(store: Store, clock: ManualClock, life: BlockedLife): Promise<void> {
  const { limit, rule } = life
  const limiter = createLimiter({ name: 'test', limit, store: store as SyncStore, blockFor: rule.option })
  const twin = createLimiter({ name: 'test', limit, store: memoryStore({ clock }) })
  let untilUs = 0
  let lastUs = 0
  for (const { advanceMs, call, cost } of life.steps) {
    clock.advance(advanceMs)
    const nowUs = clock.now() * 1_000
    if (call === 'charge' || call === 'refund') {
      await limiter[call]('key', { cost })
      twin[call]('key', { cost })
      continue
    }
    const isTaking = call !== 'peek' && cost > 0
    const decision =
      call === 'peek'
        ? await limiter.peek('key')
        : call === 'reserve'
          ? (await limiter.reserve('key', { cost })).decision
          : await limiter.tryAcquire('key', { cost })
    if (nowUs < untilUs) {
      expect(decision.allowed).toBe(false)
    } else {
      const expected = call === 'peek' ? twin.peek('key') : twin.tryAcquire('key', { cost })
      expect(decision.allowed).toBe(expected.allowed)
      if (decision.allowed || !isTaking) continue
      const isRepeated = rule.forgetUs > 0 && lastUs > 0 && nowUs < untilUs + rule.forgetUs
      lastUs = isRepeated ? Math.min(rule.mostUs, Math.floor(lastUs * rule.factor)) : rule.firstUs
      untilUs = nowUs + lastUs
    }
    expect(decision.retryAfterMs).toBeGreaterThanOrEqual(Math.ceil((untilUs - nowUs) / 1_000))
    expect(decision.remaining).toBe(0)
  }
}
