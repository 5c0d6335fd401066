import { createPolicy, slidingLog, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'

const START = 1_745_000_000_000
const MINUTE = 60_000
const five = slidingLog({ quota: 5, window: '15m' })

describe('a level with blockFor', () => {
  it('denies its key everything once the key exceeds, and no other level and no other key', () => {
    const clock = new ManualClock(START)
    const policy = createPolicy({
      clock,
      levels: [
        { name: 'all', limit: tokenBucket({ capacity: 100, refill: '1/s' }) },
        { name: 'account', key: 'account', limit: five, blockFor: '30m' },
      ],
    })
    for (let i = 0; i < 5; i++) expect(policy.check({ account: 'a' }).allowed).toBe(true)
    expect(policy.check({ account: 'a' })).toMatchObject({ deniedBy: ['account'], retryAfterMs: 30 * MINUTE })
    clock.advance(30 * MINUTE - 1)
    expect(policy.check({ account: 'a' })).toMatchObject({ deniedBy: ['account'], retryAfterMs: 1 })
    expect(policy.check({ account: 'b' }).allowed).toBe(true)
    clock.advance(1)
    expect(policy.check({ account: 'a' }).allowed).toBe(true)
  })

  it('blocks even if another level denies the request too, and not if only another level does', () => {
    const policy = createPolicy({
      levels: [
        { name: 'one', limit: tokenBucket({ capacity: 2, refill: '1/h' }) },
        { name: 'two', key: 'user', limit: tokenBucket({ capacity: 1, refill: '1/h' }), blockFor: '5h' },
      ],
    })
    policy.check({ user: 'a' })
    policy.check({ user: 'b' })
    expect(policy.check({ user: 'c' })).toMatchObject({ deniedBy: ['one'] })
    expect(policy.peek({ user: 'c' }).levels[1].decision.allowed).toBe(true)
    expect(policy.check({ user: 'a' })).toMatchObject({ deniedBy: ['one', 'two'] })
    expect(policy.peek({ user: 'a' }, { cost: 0 }).deniedBy).toEqual(['two'])
  })

  it('that is a shadow counts what it would deny, blocks included, and denies nothing', () => {
    const clock = new ManualClock(START)
    const policy = createPolicy({
      clock,
      levels: [{ name: 'a', limit: tokenBucket({ capacity: 1, refill: '1/s' }), blockFor: '1m', shadow: true }],
    })
    const decisions = Array.from({ length: 5 }, () => {
      const verdict = policy.check({})
      clock.advance(1_000)
      return [verdict.allowed, verdict.levels[0].decision.allowed]
    })
    // After the second request of the first second, the level would deny for a minute.
    policy.reset({})
    const [first, second] = [policy.check({}), policy.check({})]
    clock.advance(5_000)
    const third = policy.check({})
    expect(decisions).toEqual(Array(5).fill([true, true]))
    expect([first, second, third].map(({ allowed }) => allowed)).toEqual([true, true, true])
    expect([first, second, third].map(({ levels }) => levels[0].decision.allowed)).toEqual([true, false, false])
  })

  it('with several limits blocks by the limit that lacks units', () => {
    const clock = new ManualClock(START)
    const second = tokenBucket({ capacity: 1, refill: '1/s' })
    const policy = createPolicy({ clock, levels: [{ name: 'a', limit: [second, five], blockFor: '1m' }] })
    policy.check({})
    policy.check({})
    clock.advance(MINUTE - 1)
    expect(policy.check({})).toMatchObject({ allowed: false, retryAfterMs: 1 })
    expect(policy.peek({}).levels.map(({ decision }) => decision.allowed)).toEqual([false, true])
  })

  it('applies the rule to overrides, in the policy and at run time', () => {
    const one = tokenBucket({ capacity: 1, refill: '1/s' })
    const policy = createPolicy({
      clock: new ManualClock(START),
      levels: [
        { name: 'a', key: 'user', limit: five, overrides: [{ when: { user: 'b' }, limit: one }], blockFor: '1h' },
      ],
    })
    policy.override('a', 'c', one)
    for (const user of ['b', 'c']) {
      policy.check({ user })
      expect(policy.check({ user }).retryAfterMs, user).toBe(60 * MINUTE)
    }
  })

  it('blocks by a denied reservation; peek, charge, refund and a cancelled reservation block nothing', () => {
    const policy = createPolicy({ levels: [{ name: 'a', limit: five, blockFor: '1h' }] })
    const reservation = policy.reserve({}, { cost: 5 })
    policy.peek({})
    policy.charge({}, { cost: 3 })
    policy.refund({}, { cost: 3 })
    reservation.cancel()
    expect(policy.peek({}).allowed).toBe(true)
    policy.reserve({}, { cost: 6 })
    expect(policy.peek({})).toMatchObject({ allowed: false, deniedBy: ['a'] })
  })

  it('is told by explain', () => {
    const growing = { first: '1m', factor: 2, most: '1d', forget: '1d' } as const
    const policy = createPolicy({
      levels: [
        { name: 'a', limit: five, blockFor: '15m' },
        { name: 'b', limit: five, blockFor: growing },
        { name: 'c', limit: five },
      ],
    })
    expect(policy.explain({}).map(({ blockFor }) => blockFor)).toEqual(['15m', growing, undefined])
  })
})
