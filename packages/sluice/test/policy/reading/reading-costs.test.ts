import { fixedWindow, readPolicy, tokenBucket } from 'sluice'
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
