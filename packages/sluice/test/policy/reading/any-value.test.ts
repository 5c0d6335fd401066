import fc from 'fast-check'
import { fixedWindow, readPolicy } from 'sluice'
import { expect, test } from 'vitest'

const limit = fixedWindow({ quota: 5, window: '1h' })

/** Reads any value: the result has either problems or levels. */
function expectReadable(value: unknown): void {
  const { levels, attributes, problems } = readPolicy(value)
  if (problems.length > 0) expect([...levels, ...attributes]).toEqual([])
  else expect(levels.length).toBeGreaterThan(0)
  for (const { path, message } of problems) {
    expect(Array.isArray(path)).toBe(true)
    expect(message).toMatch(/./)
    expect(message.isWellFormed()).toBe(true)
  }
}

const anything = fc.oneof(
  fc.jsonValue(),
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withTypedArray: true,
  }),
)
const names = fc.constantFrom(
  'algorithm',
  'capacity',
  'refill',
  'quota',
  'window',
  'slices',
  'align',
  'drain',
  'limit',
  'x',
)
const algorithms = fc.constantFrom(
  'token-bucket',
  'leaky-bucket',
  'fixed-window',
  'sliding-window',
  'sliding-log',
  'concurrency',
)

test('reading any value as a policy throws nothing, and loads it as a whole or not at all', () => {
  fc.assert(fc.property(anything, expectReadable), { numRuns: 2_000 })
  fc.assert(
    fc.property(anything, (levels) => expectReadable({ levels })),
    { numRuns: 1_000 },
  )
})

test('the same holds for any value of each property of a level', () => {
  const parts = fc.dictionary(
    fc.constantFrom('name', 'when', 'key', 'limit', 'overrides', 'cost', 'shadow', 'onFailure', 'x'),
    anything,
  )
  fc.assert(
    fc.property(parts, (level) => {
      expectReadable({ levels: [{ name: 'a', limit, ...level }] })
      expectReadable({ levels: [{ name: 'a', limit, overrides: [{ when: {}, limit, ...level }] }] })
    }),
    { numRuns: 2_000 },
  )
})

test('the same holds for any condition on any attribute', () => {
  const conditions = fc.oneof(
    anything,
    fc.array(anything, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('present', 'not', 'path', 'cidr', 'x'), anything, { maxKeys: 2 }),
  )
  fc.assert(
    fc.property(
      fc.constantFrom('method', 'path', 'ip', 'plan', '__proto__', 'constructor'),
      conditions,
      (name, condition) => {
        const when = Object.defineProperty({}, name, { value: condition, enumerable: true })
        expectReadable({ levels: [{ name: 'a', limit, when }] })
      },
    ),
    { numRuns: 2_000 },
  )
})

test('the same holds for any option of a limit', () => {
  fc.assert(
    fc.property(
      fc.dictionary(names, fc.oneof(anything, fc.constantFrom('5/s', '1m', 5))),
      algorithms,
      (options, algorithm) => {
        expectReadable({ levels: [{ name: 'a', limit: { ...options, algorithm } }] })
      },
    ),
    { numRuns: 2_000 },
  )
})

test('changing the data after reading does not change the policy', () => {
  const when = { plan: ['gold'] }
  const override = { when: { plan: 'silver' }, limit: { algorithm: 'fixed-window', quota: 7, window: '1h' } }
  const read = readPolicy({ levels: [{ name: 'a', when, limit, overrides: [override] }] })
  const [before] = read.levels[0].overrides
  override.limit.quota = 1
  expect(before.limits).toEqual([{ algorithm: 'fixed-window', quota: 7, window: '1h' }])
  expect(Object.isFrozen(before.limits[0])).toBe(true)
})
