import { type AsyncStore, createPolicy, fixedWindow, tokenBucket } from 'sluice'
import { ManualClock } from 'sluice/testing'
import { describe, expect, it } from 'vitest'
import { expectRefusal, expectRejection, WRONG_NUMBERS, WRONG_TYPES } from '../../limits/refusals.js'

const limit = fixedWindow({ quota: 100, window: '1h' })
const clock = () => new ManualClock(1_745_000_100_000)

describe('the cost of a request', () => {
  const policy = () =>
    createPolicy({
      levels: [
        { name: 'calls', limit, cost: 1 },
        { name: 'call', limit },
        { name: 'bytes', limit, cost: 'bytes' },
      ],
      clock: clock(),
    })
  const left = (request: { bytes: number | string | null | undefined }, options?: { cost: number }) =>
    policy()
      .check(request, options)
      .levels.map(({ decision }) => decision.remaining)

  it('is 1, or the cost of the call, or the cost of the level', () => {
    expect(left({ bytes: 10 })).toEqual([99, 99, 90])
    expect(left({ bytes: 10 }, { cost: 3 })).toEqual([99, 97, 90])
    expect(left({ bytes: 10 }, { cost: 0 })).toEqual([99, 100, 90])
    expect(left({ bytes: 0 })).toEqual([99, 99, 100])
    expect(left({ bytes: -0 })).toEqual([99, 99, 100])
  })

  it('may be a text of digits', () => {
    expect(left({ bytes: '10' })).toEqual([99, 99, 90])
    expect(left({ bytes: '0' })).toEqual([99, 99, 100])
  })

  it('is the cost of the call if the attribute is absent', () => {
    for (const bytes of [undefined, null, '']) expect(left({ bytes }, { cost: 3 })).toEqual([99, 97, 97])
  })

  it.each([
    -1,
    1.5,
    2 ** 53,
    1e21,
    true,
    false,
    '-1',
    '1.5',
    '1e3',
    '0x10',
    ' 1',
    '1 ',
    '+1',
    '１',
    'ten',
    '9'.repeat(17),
    '9'.repeat(100),
  ])('is an error that takes nothing if the attribute is %j', (bytes) => {
    const each = policy()
    for (const method of ['check', 'peek', 'charge', 'refund', 'reserve', 'explain'] as const) {
      expectRefusal(
        () => each[method as 'check']({ bytes }),
        "the attribute bytes must be a whole number from 0, because it is the cost in level 'bytes'",
      )
    }
    expect(each.peek({ bytes: 1 }).levels.map(({ decision }) => decision.remaining)).toEqual([100, 100, 100])
  })

  it('is not read for a level that does not match', () => {
    const other = createPolicy({ levels: [{ name: 'bytes', when: { path: '/upload' }, limit, cost: 'bytes' }] })
    expect(other.check({ path: '/', bytes: 'many' }).allowed).toBe(true)
    expectRefusal(() => other.check({ path: '/upload', bytes: 'many' }), 'the attribute bytes')
  })

  it('is checked before anything is taken', () => {
    const each = policy()
    for (const [cost, shown] of [...WRONG_NUMBERS, ...WRONG_TYPES]) {
      expectRefusal(() => each.check({ bytes: 1 }, { cost: cost as never }), /^cost must be a whole number/, shown)
    }
    expectRefusal(() => each.check({ bytes: 1 }, 3 as never), 'options must be an object such as { cost: 3 }')
    expect(each.peek({ bytes: 1 }).levels.map(({ decision }) => decision.remaining)).toEqual([100, 100, 100])
  })

  it.each(['check', 'peek', 'charge', 'refund', 'reserve', 'explain'] as const)(
    'is the only option of %s',
    async (method) => {
      const asked = () => Promise.reject(new Error('asked'))
      const store: AsyncStore = {
        decide: asked,
        peek: asked,
        charge: asked,
        refund: asked,
        set: asked,
        reset: asked,
        block: asked,
      }
      const apart = createPolicy({ name: 'apart', levels: [{ name: 'all', limit }], store })
      const wrong = { csot: 3 } as never
      expectRefusal(
        () => policy()[method as 'check']({ bytes: 1 }, wrong),
        `${method} has no option 'csot'; did you mean cost?`,
      )
      await expectRejection(
        apart[method as 'check']({ bytes: 1 }, wrong),
        `${method} has no option 'csot'; did you mean cost?`,
      )
    },
  )

  it('decides what peek and explain say, and is not taken', () => {
    const each = policy()
    for (const [bytes, cost, deniedBy] of [
      [100, 100, []],
      [101, 100, ['bytes']],
      [101, 101, ['call', 'bytes']],
    ] as const) {
      const peeked = each.peek({ bytes }, { cost })
      expect(peeked.deniedBy).toEqual(deniedBy)
      expect(peeked.levels.map(({ decision }) => decision.remaining)).toEqual([100, 100, 100])
      const explained = each.explain({ bytes }, { cost }).flatMap(({ limits = [] }) => limits)
      expect(explained.map(({ decision }) => decision)).toEqual(peeked.levels.map(({ decision }) => decision))
    }
  })
})

describe('several limits on one level', () => {
  const both = () => {
    const time = clock()
    const levels = [
      { name: 'global', limit },
      {
        name: 'user',
        key: 'user',
        limit: [tokenBucket({ capacity: 10, refill: '10/s' }), fixedWindow({ quota: 25, window: '1d' })],
      },
    ] as const
    return { time, policy: createPolicy({ levels, clock: time }) }
  }
  const left = (policy: ReturnType<typeof both>['policy'], user = 'a') =>
    policy.peek({ user }).levels.map(({ decision }) => decision.remaining)

  it('take together or not at all', () => {
    const { policy, time } = both()
    expect(policy.check({ user: 'a' }, { cost: 10 }).allowed).toBe(true)
    expect(left(policy)).toEqual([90, 0, 15])
    // The first limit denies, so neither the daily limit nor the other level is charged.
    expect(policy.check({ user: 'a' }).deniedBy).toEqual(['user'])
    expect(left(policy)).toEqual([90, 0, 15])
    time.advance(1_000)
    policy.check({ user: 'a' }, { cost: 10 })
    time.advance(1_000)
    // Now the daily limit denies.
    const verdict = policy.check({ user: 'a' }, { cost: 6 })
    expect(verdict.deniedBy).toEqual(['user'])
    expect(verdict.levels.map(({ name, decision }) => [name, decision.allowed])).toEqual([
      ['global', true],
      ['user', true],
      ['user', false],
    ])
    expect(left(policy)).toEqual([80, 10, 5])
    expect(policy.check({ user: 'a' }, { cost: 5 }).allowed).toBe(true)
  })

  it('are named once in deniedBy, with the longer wait', () => {
    const { policy } = both()
    policy.charge({ user: 'a' }, { cost: 25 })
    const verdict = policy.check({ user: 'a' })
    expect(verdict.deniedBy).toEqual(['user'])
    const waits = verdict.levels.slice(1).map(({ decision }) => decision.retryAfterMs)
    expect(waits.every((ms) => ms > 0)).toBe(true)
    expect(verdict.retryAfterMs).toBe(Math.max(...waits))
  })

  it('have separate states for each key', () => {
    const { policy } = both()
    policy.check({ user: 'a' }, { cost: 10 })
    expect(left(policy, 'b')).toEqual([90, 10, 25])
  })

  it('may be fewer or more in an override', () => {
    const policy = createPolicy({
      levels: [
        {
          name: 'user',
          key: 'user',
          limit: [limit, tokenBucket({ capacity: 50, refill: '1/s' })],
          overrides: [
            { when: { user: 'one' }, limit },
            { when: { user: 'three' }, limit: [limit, limit, tokenBucket({ capacity: 2, refill: '1/s' })] },
          ],
        },
      ],
      clock: clock(),
    })
    expect(policy.check({ user: 'one' }).levels).toHaveLength(1)
    expect(policy.check({ user: 'three' }).levels.map(({ decision }) => decision.remaining)).toEqual([99, 99, 1])
    expect(policy.check({ user: 'other' }).levels.map(({ decision }) => decision.remaining)).toEqual([99, 49])
  })
})
