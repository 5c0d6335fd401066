/** Verdicts: written by hand, of real policies, and with numbers that no policy returns. */
import fc, { type Arbitrary } from 'fast-check'
import { createPolicy, type Decision, fixedWindow, type Limit, type Verdict } from 'sluice'
import type { Dialect } from 'sluice/http'
import { blockedDecision } from 'sluice/limits'
import { ManualClock } from 'sluice/testing'
import { anyLimit } from '../../property/arbitraries.js'

export type LevelDecision = Verdict['levels'][number]

export const NOW_MS = Date.UTC(2026, 0, 1)

/** A decision with these values and defaults for all others. */
function decision(said: Partial<Decision> = {}): Decision {
  return {
    allowed: true,
    quota: 100,
    remaining: 50,
    retryAfterMs: 0,
    nextUnitAfterMs: 30_000,
    resetAfterMs: 60_000,
    delayMs: 0,
    ...said,
  }
}

export function level(name: string, said: Partial<Decision> = {}, more: Partial<LevelDecision> = {}): LevelDecision {
  return { name, limit: fixedWindow({ quota: 100, window: '1m' }), decision: decision(said), ...more }
}

/** The verdict that a policy returns for these levels. */
export function verdictOf(...levels: readonly LevelDecision[]): Verdict {
  const denied = levels.filter(({ decision, shadow }) => !decision.allowed && shadow !== true)
  return {
    allowed: denied.length === 0,
    deniedBy: [...new Set(denied.map(({ name }) => name))],
    levels,
    retryAfterMs: Math.max(0, ...denied.map(({ decision }) => decision.retryAfterMs)),
    delayMs: 0,
  }
}

/** Every choice of dialects, the empty one too. */
export const DIALECTS: readonly Dialect[] = ['draft', 'draft-6', 'legacy']
export const dialects: Arbitrary<readonly Dialect[]> = fc.subarray([...DIALECTS])

const names = fc.stringMatching(/^[\w.-]{1,64}$/)

/** Names that only a direct call of `describe` can have. */
export const oddNames = fc.oneof(
  names,
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: fc.constantFrom('"', '\\', '%', ';', ',', '=', ' ', 'a', 'ü', '\n', '\u0000', '\u007f', '😀') }),
  fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', 'x') }),
  fc.constantFrom('', '"', '\\', '\\"', '日本語', 'a\r\nSet-Cookie: b=c', 'x'.repeat(300)),
)

const oddNumbers = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.nat(100),
  fc.constantFrom(Number.NaN, Infinity, -Infinity, -0, 0, 0.5, 1.5, -1, 1e-300, 1e21, 1e300),
  fc.constantFrom(999, 1_000, 1_001, 999_999_999_999_999, 999_999_999_999_999.9, 1e15, Number.MAX_SAFE_INTEGER),
)

const oddDecisions: Arbitrary<Decision> = fc.record({
  allowed: fc.boolean(),
  quota: oddNumbers,
  remaining: oddNumbers,
  retryAfterMs: oddNumbers,
  nextUnitAfterMs: oddNumbers,
  resetAfterMs: oddNumbers,
  delayMs: oddNumbers,
})

const oddLimits: Arbitrary<Limit> = fc.oneof(
  anyLimit.map(({ limit }) => limit),
  fc.record({
    algorithm: fc.constant('token-bucket' as const),
    capacity: oddNumbers,
    refill: fc.constantFrom('1/s', '0.000000001/36500d', '999999999999999/ms'),
  }),
  fc.record({
    algorithm: fc.constant('leaky-bucket' as const),
    capacity: oddNumbers,
    drain: fc.constantFrom('1/s', '0.000000001/36500d', '999999999999999/ms'),
  }),
  fc.record({
    algorithm: fc.constantFrom('fixed-window' as const, 'sliding-window' as const, 'sliding-log' as const),
    quota: oddNumbers,
    window: fc.constantFrom('1ms', '999ms', '1.001s', '36500d'),
  }),
  fc.record({ algorithm: fc.constant('concurrency' as const), max: oddNumbers, ttl: fc.constantFrom('1ms', '36500d') }),
)

const oddLevels: Arbitrary<LevelDecision> = fc
  .record({ name: oddNames, limit: oddLimits, decision: oddDecisions, shadow: fc.constantFrom(false, false, true) })
  .map(({ shadow, ...rest }) => (shadow ? { ...rest, shadow } : rest))

/** Verdicts that no policy returns: inconsistent parts, and values that are not numbers. */
export const oddVerdicts: Arbitrary<Verdict> = fc.record({
  allowed: fc.boolean(),
  deniedBy: fc.constant([]),
  levels: fc.array(oddLevels, { maxLength: 5 }),
  retryAfterMs: oddNumbers,
  delayMs: oddNumbers,
})

const steps = fc.record({
  advanceMs: fc.oneof(fc.constant(0), fc.nat(2_000), fc.nat(100_000_000)),
  cost: fc.oneof(fc.constant(1), fc.nat(5), fc.nat(200_000)),
  act: fc.constantFrom('check', 'check', 'check', 'peek', 'charge', 'block'),
  blockedMs: fc.integer({ min: 1, max: 100_000 }),
})

const realLevels = fc.record({
  limits: fc.array(
    anyLimit.map(({ limit }) => limit),
    { minLength: 1, maxLength: 3 },
  ),
  shadow: fc.constantFrom(false, false, false, true),
})

/** Verdicts of a policy for a series of requests: some cost more than the quota, some keys are blocked or in debt. */
export const realVerdicts: Arbitrary<readonly Verdict[]> = fc
  .record({
    names: fc.uniqueArray(names, { minLength: 3, maxLength: 3 }),
    levels: fc.array(realLevels, { minLength: 1, maxLength: 3 }),
    steps: fc.array(steps, { minLength: 1, maxLength: 12 }),
  })
  .map(({ names, levels, steps }) => {
    const clock = new ManualClock(NOW_MS)
    const policy = createPolicy({
      clock,
      levels: levels.map(({ limits, shadow }, i) => ({ name: names[i], key: 'user', limit: limits, shadow })),
    })
    return steps.map(({ advanceMs, cost, act, blockedMs }) => {
      clock.advance(advanceMs)
      if (act === 'block') {
        const [first, ...others] = policy.check({ user: 'u' }, { cost }).levels
        return verdictOf({ ...first, decision: blockedDecision(first.decision, blockedMs * 1_000) }, ...others)
      }
      return act === 'peek' ? policy.peek({ user: 'u' }) : policy[act as 'check' | 'charge']({ user: 'u' }, { cost })
    })
  })

/** Either, one at a time. */
export const anyVerdict: Arbitrary<Verdict> = fc.oneof(
  oddVerdicts,
  realVerdicts.map((verdicts) => verdicts[verdicts.length - 1]),
)
