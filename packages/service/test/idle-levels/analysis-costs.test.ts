import { fixedWindow, readPolicy, tokenBucket } from 'sluice'
import { expect, test } from 'vitest'
import { growth, LONG_CONDITIONS, many } from '../../../sluice/test/policy/reading/growth.js'
import { findIdleLevels } from '../../src/idle-levels/find-idle-levels.js'

const limit = fixedWindow({ quota: 5, window: '1h' })

const warningsOf = (policy: object) => findIdleLevels(readPolicy(policy).levels)

test('the time to compare two levels with the same long list of ranges is linear', () => {
  const run = (n: number) => {
    const ip = many(n, (i) => `10.${i >> 8}.${i & 255}.0/24`)
    warningsOf({
      levels: [
        { name: 'a', when: { ip }, limit },
        { name: 'b', when: { ip, method: 'GET' }, limit },
      ],
    })
  }
  expect(growth(1_500, run)).toBeLessThan(10)
})

test('the overrides of a level are analysed once, not once for every other level', () => {
  const run = (n: number) => {
    const overrides = many(200, (j) => ({
      when: { a: `m${j}` },
      limit: tokenBucket({ capacity: 100 + j, refill: '1/s' }),
    }))
    warningsOf({
      levels: many(n, (i) => ({
        name: `l${i}`,
        key: 'a',
        limit: tokenBucket({ capacity: 5_000 - i, refill: `${i + 1}/s` }),
        overrides,
      })),
    })
  }
  expect(growth(10, run)).toBeLessThan(10)
})

for (const [asked, when] of Object.entries(LONG_CONDITIONS)) {
  test(`the time to analyse levels that each ask for ${asked} is linear`, () => {
    const run = (n: number) =>
      warningsOf({ levels: many(n, (i) => ({ name: `l${i}`, key: 'user', when: when(i), limit })) })
    expect(growth(250, run)).toBeLessThan(10)
  })
}

test('if comparing all levels would take long, the search stops and says so after what it found', () => {
  const same = many(500, (j) => `${j}`)
  const warnings = warningsOf({
    levels: [
      { name: 'first', when: { plan: 'free' }, limit },
      { name: 'idle', when: { plan: 'free' }, limit: fixedWindow({ quota: 6, window: '1h' }) },
      ...many(2_000, (i) => ({ name: `l${i}`, when: { user: { not: [...same, `own-${i}`] } }, key: 'ip', limit })),
    ],
  })
  expect(warnings[0]).toMatchObject({ path: ['levels', 1, 'limit'], message: expect.stringContaining("'idle'") })
  const last = { path: ['levels'], message: expect.stringContaining('not all levels were compared') }
  expect(warnings.at(-1)).toEqual(last)
})
