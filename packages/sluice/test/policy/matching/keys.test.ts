import fc from 'fast-check'
import { createPolicy, fixedWindow, memoryStore, tokenBucket } from 'sluice'
import { describe, expect, it, test } from 'vitest'

const limit = fixedWindow({ quota: 1_000, window: '1h' })

test('different lists of attributes make different keys', () => {
  const texts = fc.string({ unit: fc.constantFrom('|', '\\', 'a', 'b', '*', '/', ' '), minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(fc.array(fc.tuple(texts, texts, texts), { minLength: 2, maxLength: 20 }), (all) => {
      const policy = createPolicy({ levels: [{ name: 'level', key: ['a', 'b', 'c'], limit }] })
      const seen = new Map<string, number>()
      for (const [a, b, c] of all) {
        const name = JSON.stringify([a, b, c])
        seen.set(name, (seen.get(name) ?? 0) + 1)
        expect(policy.check({ a, b, c }).levels[0].decision.remaining).toBe(1_000 - (seen.get(name) as number))
      }
    }),
    { numRuns: 1_000 },
  )
})

test.each([
  [
    ['a|b', 'c'],
    ['a', 'b|c'],
  ],
  [
    ['a\\', 'b'],
    ['a', '\\|b'],
  ],
  [
    ['a\\|b', 'c'],
    ['a\\', 'b|c'],
  ],
  [
    ['a\\|', 'b'],
    ['a\\', '|b'],
  ],
  [
    ['|', '|'],
    ['||', '\\'],
  ],
])('%j and %j are different keys', (one, other) => {
  const policy = createPolicy({ levels: [{ name: 'level', key: ['a', 'b'], limit }] })
  policy.check({ a: one[0], b: one[1] })
  expect(policy.check({ a: other[0], b: other[1] }).levels[0].decision.remaining).toBe(999)
})

describe('a level', () => {
  it('without a key has one state for all requests, and with a key one state for each', () => {
    for (const key of [undefined, []] as const) {
      const policy = createPolicy({ levels: [{ name: 'all', limit, ...(key && { key }) }] })
      policy.check({ user: 'a' })
      expect(policy.check({ user: '*' }).levels[0].decision.remaining).toBe(998)
    }
    const policy = createPolicy({
      levels: [
        { name: 'all', limit },
        { name: 'user', key: 'user', limit },
      ],
    })
    policy.check({ user: 'a' })
    // An attribute may have the value that is the shared key.
    expect(policy.check({ user: '*' }).levels.map(({ decision }) => decision.remaining)).toEqual([998, 999])
  })

  it('does not match a request that lacks an attribute of its key', () => {
    const policy = createPolicy({ levels: [{ name: 'level', key: ['a', 'b'], limit }] })
    for (const a of [undefined, null, '']) expect(policy.check({ a, b: 'x' }).levels).toEqual([])
    expect(policy.check({ a: 0, b: false }).levels).toHaveLength(1)
  })

  it('shares its states with no other level and no limiter of the store', () => {
    const store = memoryStore()
    const levels = [
      { name: 'a', key: 'user', limit: [limit, tokenBucket({ capacity: 1_000, refill: '1/h' })] },
      { name: 'a.b', key: 'user', limit: [limit, tokenBucket({ capacity: 1_000, refill: '1/h' })] },
      { name: 'a-2', key: 'user', limit },
    ] as const
    const one = createPolicy({ name: 'one', levels, store })
    const two = createPolicy({ name: 'two', levels, store })
    one.check({ user: 'x' }, { cost: 5 })
    expect(two.check({ user: 'x' }).levels.map(({ decision }) => decision.remaining)).toEqual([999, 999, 999, 999, 999])
    expect(one.peek({ user: 'x' }).levels.map(({ decision }) => decision.remaining)).toEqual([995, 995, 995, 995, 995])
  })
})

describe('a key that explain shows', () => {
  it.each(['/a%3Fb', '/a%23b', '/a%5Cb', '/a%2525', '/a%', '/%ff'])(
    'can be passed to override, also for %s',
    (path) => {
      const policy = createPolicy({ levels: [{ name: 'path', key: 'path', limit }] })
      const [{ key }] = policy.explain({ path })
      policy.override('path', key as string, fixedWindow({ quota: 7, window: '1h' }))
      expect(policy.check({ path }).levels[0].decision.quota).toBe(7)
      expect(policy.check({ path: '/a' }).levels[0].decision.quota).toBe(1_000)
    },
  )
})
