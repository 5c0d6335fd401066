import { createPolicy, fixedWindow, readPolicy } from 'sluice'
import { expect, test } from 'vitest'
import { growth, LONG_CONDITIONS, many } from './growth.js'

const limit = fixedWindow({ quota: 5, window: '1h' })

test('the time to refuse a key of very many names is linear', () => {
  const run = (n: number) => readPolicy({ levels: [{ name: 'a', limit, key: many(n, (i) => `k${i}`) }] })
  expect(growth(5_000, run)).toBeLessThan(10)
})

for (const [asked, when] of Object.entries(LONG_CONDITIONS)) {
  test(`the time to create a policy of levels that each ask for ${asked} is linear`, () => {
    const run = (n: number) =>
      createPolicy({ levels: many(n, (i) => ({ name: `l${i}`, key: 'user', when: when(i) as never, limit })) })
    expect(growth(250, run)).toBeLessThan(10)
  })
}

test('the time to create a policy with very many overrides of one level is linear', () => {
  const run = (n: number) => {
    const overrides = many(n, (i) => ({ when: { user: `u${i}` }, limit }))
    createPolicy({ levels: [{ name: 'a', key: 'user', limit, overrides }] })
  }
  expect(growth(2_000, run)).toBeLessThan(10)
})
