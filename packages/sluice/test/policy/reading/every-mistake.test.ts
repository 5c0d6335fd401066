import { createPolicy, fixedWindow, InvalidPolicyError, type Override, readPolicy } from 'sluice'
import { expect, test } from 'vitest'

const limit = fixedWindow({ quota: 5, window: '1h' })
const found = (level: object) =>
  readPolicy({ levels: [{ name: 'a', limit, ...level }] }).problems.map(({ path }) => path.join('.'))

test.each(['constructor', 'toString', '__proto__'])('the unknown option %s of a limit is reported once', (name) => {
  const wrong = JSON.parse(`{"algorithm":"token-bucket","capacity":1,"refill":"1/s","${name}":5}`)
  expect(found({ limit: wrong })).toEqual([`levels.0.limit.${name}`])
})

test('a hole in a list is a problem', () => {
  const hole = new Array(1)
  expect(readPolicy({ levels: hole }).problems).toHaveLength(1)
  expect(found({ when: { plan: hole } })).toEqual(['levels.0.when.plan.0'])
  expect(found({ limit: hole.concat([limit]) })).toEqual(['levels.0.limit.0'])
  expect(found({ key: hole })).toEqual(['levels.0.key.0'])
  expect(found({ overrides: hole })).toEqual(['levels.0.overrides.0'])
})

test('a message stays short, however many mistakes there are', () => {
  const overrides = Array.from({ length: 100_000 }, (_, i) => ({ when: { m: i }, limit: {} })) as never as Override[]
  const create = () => createPolicy({ levels: [{ name: 'a', limit, overrides }] })
  expect(create).toThrow(InvalidPolicyError)
  expect(create).toThrow(/^the policy has 100000 problems:\n(.*\n){20} {2}and 99980 more$/)
})
