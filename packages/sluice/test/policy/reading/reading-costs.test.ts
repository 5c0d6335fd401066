import { createPolicy, fixedWindow, readPolicy, tokenBucket } from 'sluice'
import { expect, test } from 'vitest'

const limit = fixedWindow({ quota: 5, window: '1h' })

const MOST_TRIES = 6
const LINEAR = 8

/**
 * How much longer it takes for four times as many: 4 if it is linear, 16 if quadratic. The least of several tries, for a busy
 * machine makes some of them longer, and none shorter than it is.
 */
function growth(size: number, run: (size: number) => void): number {
  const best = (n: number) => {
    let ms = Infinity
    for (let round = 0; round < 5; round++) {
      const start = performance.now()
      run(n)
      ms = Math.min(ms, performance.now() - start)
    }
    return ms
  }
  let least = Infinity
  for (let i = 0; i < MOST_TRIES && least > LINEAR; i++) least = Math.min(least, best(4 * size) / best(size))
  return least
}

test('a key of very many names is refused without comparing all with all', () => {
  const run = (n: number) =>
    readPolicy({ levels: [{ name: 'a', limit, key: Array.from({ length: n }, (_, i) => `k${i}`) }] })
  expect(growth(5_000, run)).toBeLessThan(10)
})

test('two levels with the same long list of blocks are compared without comparing all with all', () => {
  const run = (n: number) => {
    const ip = Array.from({ length: n }, (_, i) => `10.${i >> 8}.${i & 255}.0/24`)
    readPolicy({
      levels: [
        { name: 'a', when: { ip }, limit },
        { name: 'b', when: { ip, method: 'GET' }, limit },
      ],
    })
  }
  expect(growth(1_500, run)).toBeLessThan(10)
})

test('the overrides of a level are looked at once, not once for every other level', () => {
  const run = (n: number) => {
    const overrides = Array.from({ length: 200 }, (_, j) => ({
      when: { a: `m${j}` },
      limit: tokenBucket({ capacity: 100 + j, refill: '1/s' }),
    }))
    readPolicy({
      levels: Array.from({ length: n }, (_, i) => ({
        name: `l${i}`,
        key: 'a',
        limit: tokenBucket({ capacity: 5_000 - i, refill: `${i + 1}/s` }),
        overrides,
      })),
    })
  }
  expect(growth(10, run)).toBeLessThan(10)
})

const many = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

/** What each of many levels asks: a list that no other has, or nearly the same as all others. */
const ASKS: Readonly<Record<string, (level: number) => object>> = {
  'texts of its own': (i) => ({ user: many(60, (j) => `${i}-${j}`) }),
  'the same texts but one': (i) => ({ user: [...many(60, (j) => `${j}`), `own-${i}`] }),
  'none of many texts': (i) => ({ user: { not: many(60, (j) => `${j < 59 ? 0 : i}-${j}`) } }),
  'paths of its own': (i) => ({ path: many(30, (j) => `/${i}/:id/${j}`) }),
  'the same paths but one': (i) => ({ path: [...many(30, (j) => `/:id/${j}`), `/own/${i}`] }),
  'networks of its own': (i) => ({ ip: many(30, (j) => `10.${i >> 3}.${j}.${(i & 7) * 32}/27`) }),
  'the same networks but one': (i) => ({ ip: [...many(30, (j) => `10.0.${j}.0/24`), `11.${i >> 8}.${i & 255}.0/24`] }),
}

for (const [asked, when] of Object.entries(ASKS)) {
  test(`levels that each ask for ${asked} are read without comparing all with all`, () => {
    const run = (n: number) =>
      readPolicy({ levels: many(n, (i) => ({ name: `l${i}`, key: 'user', when: when(i), limit })) })
    expect(growth(250, run)).toBeLessThan(10)
  })
}

test('very many overrides of one level are read one after the other', () => {
  const run = (n: number) => {
    const overrides = many(n, (i) => ({ when: { user: `u${i}` }, limit }))
    createPolicy({ levels: [{ name: 'a', key: 'user', limit, overrides }] })
  }
  expect(growth(2_000, run)).toBeLessThan(10)
})

test('where comparing all levels would take long, a policy says what was found and that others were not compared', () => {
  const same = many(500, (j) => `${j}`)
  const { warnings } = readPolicy({
    levels: [
      { name: 'first', when: { plan: 'free' }, limit },
      { name: 'idle', when: { plan: 'free' }, limit: fixedWindow({ quota: 6, window: '1h' }) },
      ...many(2_000, (i) => ({ name: `l${i}`, when: { user: { not: [...same, `own-${i}`] } }, key: 'ip', limit })),
    ],
  })
  const last = warnings.at(-1)
  expect(warnings[0]).toMatchObject({ path: ['levels', 1, 'limit'], message: expect.stringContaining("'idle'") })
  expect(last).toEqual({ path: ['levels'], message: expect.stringContaining('not all levels were compared') })
})
