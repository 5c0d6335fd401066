/** What `explain` says of levels and overrides that do not match, as data and in words. */
import { expect, test } from 'vitest'
import { createPolicy, fixedWindow, mismatchText } from '../../src/index.js'

const limit = fixedWindow({ quota: 5, window: '1h' })

function explained(level: object, request: object) {
  const policy = createPolicy({ levels: [{ name: 'one', limit, ...level }] } as never)
  return policy.explain(request as never)[0]
}

test.each([
  [{ when: { plan: 'pro' } }, { plan: 'free' }, { attribute: 'plan', value: 'free', asked: ['"pro"'] }],
  [{ when: { plan: ['pro', 'max'] } }, {}, { attribute: 'plan', asked: ['["pro","max"]'] }],
  [{ when: { user: null } }, { user: 'ann' }, { attribute: 'user', value: 'ann', asked: ['null'] }],
  [{ key: ['user'] }, {}, { attribute: 'user', asked: [] }],
])('a level %j does not match %j: one mismatch', (level, request, mismatch) => {
  const { matches, because, mismatches } = explained(level, request)
  expect({ matches, mismatches }).toEqual({ matches: false, mismatches: [mismatch] })
  expect(because).toBe(mismatchText([mismatch]))
})

test('overrides that do not match: one mismatch for each attribute, with what all of them ask for', () => {
  const overrides = [
    { when: { user: 'ann' }, limit },
    { when: { user: ['ann', 'bob'] }, limit },
    { when: { plan: 'pro' }, limit },
  ]
  const { noOverride, mismatches } = explained({ key: ['user'], overrides }, { user: 'eve', plan: 'free' })
  expect(mismatches).toEqual([
    { attribute: 'user', value: 'eve', asked: ['"ann"', '"bob"'], overrides: 2 },
    { attribute: 'plan', value: 'free', asked: ['"pro"'], overrides: 1 },
  ])
  expect(noOverride).toBe(`user is 'eve', and they ask for "ann" or "bob"; plan is 'free', and it asks for "pro"`)
})

test('a level that matches and has no overrides, or one that applies, has no mismatches', () => {
  expect(explained({ key: ['user'] }, { user: 'ann' })).not.toHaveProperty('mismatches')
  const overrides = [{ when: { user: 'ann' }, limit }]
  expect(explained({ key: ['user'], overrides }, { user: 'ann' })).not.toHaveProperty('mismatches')
})

test('thousands of conditions are cut, in the data as in the text', () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `user-${i}`)
  const many = explained({ when: { user: names } }, { user: 'eve' })
  expect(many.mismatches?.[0].asked[0]).toHaveLength(121)
  const overrides = names.map((user) => ({ when: { user }, limit }))
  const { noOverride, mismatches } = explained({ key: ['user'], overrides }, { user: 'eve' })
  expect(mismatches?.[0]).toMatchObject({ overrides: 5_000, asked: expect.any(Array) })
  expect(mismatches?.[0].asked).toHaveLength(6)
  expect(noOverride).toMatch(/they ask for "user-0", .*"user-4" or others$/)
})

test('a program can put a mask in place of a value, and the words stay the same', () => {
  const { mismatches = [] } = explained({ when: { user: 'ann' } }, { user: 'eve' })
  const masked = mismatches.map((each) => ({ ...each, value: '••••', asked: ['••••'] }))
  expect(mismatchText(masked)).toBe("user is '••••', and it asks for ••••")
})
