/** Compares the index with evaluating one rule after another. */
import { BlockList, isIPv6 } from 'node:net'
import fc, { type Arbitrary } from 'fast-check'
import { type Condition, fixedWindow, type Level, type When } from 'sluice'
import { expect, test } from 'vitest'
import { Matcher } from '../../../src/policy/matcher.js'
import { readPolicy } from '../../../src/policy/reading/read-policy.js'

const limit = fixedWindow({ quota: 1, window: '1s' })

const texts = fc.constantFrom('a', 'b', 'c', '5', 'true', '__proto__', 'absent', '= a')
const patterns = fc.constantFrom('/', '/a', '/a/b', '/a/:x', '/:x/b', '/:x', '/a/**', '/**', '/:x/**', '/a/b/c')
const ranges = fc.constantFrom(
  '10.0.0.0/8',
  '10.1.0.0/16',
  '10.1.2.3',
  '0.0.0.0/0',
  '2001:db8::/32',
  '2001:db8::1',
  '::/0',
)

const orNull = (values: Arbitrary<string>) =>
  fc.array(fc.oneof({ weight: 5, arbitrary: values }, { weight: 1, arbitrary: fc.constant(null) }), {
    minLength: 1,
    maxLength: 4,
  })

const oneOf = (values: Arbitrary<string>): Arbitrary<Condition> =>
  fc.oneof(
    { weight: 4, arbitrary: values },
    { weight: 3, arbitrary: orNull(values) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.boolean().map((present) => ({ present })) },
    { weight: 1, arbitrary: fc.oneof(values, orNull(values)).map((not) => ({ not })) },
  )

const whens: Arbitrary<When> = fc.record(
  {
    user: oneOf(texts),
    plan: oneOf(texts),
    constructor: oneOf(texts),
    path: oneOf(patterns),
    ip: oneOf(ranges),
    route: fc.oneof(patterns, fc.array(patterns, { minLength: 1, maxLength: 3 })).map((path) => ({ path })),
    proxy: fc.oneof(ranges, fc.array(ranges, { minLength: 1, maxLength: 3 })).map((cidr) => ({ cidr })),
  },
  { requiredKeys: [] },
)

const paths = fc.constantFrom('/z', '/a', '/a/b', '/c/b', '/a/b/c', '/x/y')
const addresses = fc.constantFrom('10.1.2.3', '10.9.9.9', '192.0.2.1', '2001:db8::1', '2001:db8::2', '::9', 'unknown')
const maybe = <T>(values: Arbitrary<T>) => fc.option(values, { nil: undefined, freq: 4 })
const requests = fc.record({
  user: maybe(texts),
  plan: maybe(texts),
  constructor: maybe(texts),
  path: maybe(paths),
  ip: maybe(addresses),
  route: maybe(paths),
  proxy: maybe(addresses),
})

/** The meaning of a condition, without any code of the library. */
function isSo(attribute: string, condition: Condition, value: string | undefined): boolean {
  if (typeof condition === 'object' && condition !== null && !Array.isArray(condition)) {
    if ('present' in condition) return condition.present === (value !== undefined)
    if ('not' in condition) return !isSo(attribute, condition.not as Condition, value)
    return 'path' in condition
      ? isSo('path', condition.path as Condition, value)
      : isSo('ip', (condition as { cidr: string }).cidr, value)
  }
  return [condition].flat().some((each) => {
    if (each === null || value === undefined) return each === null && value === undefined
    if (attribute === 'path') return isPath(String(each).split('/').slice(1), value.split('/').slice(1))
    return attribute === 'ip' ? isInRange(String(each), value) : String(each) === value
  })
}

function isPath(pattern: readonly string[], path: readonly string[]): boolean {
  if (pattern[0] === '**') return true
  if (pattern.length === 0 || path.length === 0) return pattern.length === path.length || pattern[0] === '**'
  const fits = pattern[0].startsWith(':') ? path[0] !== '' : pattern[0] === path[0]
  return fits && isPath(pattern.slice(1), path.slice(1))
}

function isInRange(range: string, address: string): boolean {
  if (address === 'unknown' || isIPv6(address) !== range.includes(':')) return false
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  const [network, prefix] = range.split('/')
  const list = new BlockList()
  list.addSubnet(network, prefix === undefined ? (family === 'ipv6' ? 128 : 32) : Number(prefix), family)
  return list.check(address, family)
}

type Attributes = Readonly<Record<string, string | undefined>>

function applies(when: When, request: Attributes): boolean {
  return Object.entries(when).every(([attribute, condition]) => isSo(attribute, condition, request[attribute]))
}

function matcherOf(levels: readonly Level[]): Matcher {
  const read = readPolicy({ levels })
  expect(read.problems).toEqual([])
  return new Matcher('policy', read)
}

const found = (matcher: Matcher, request: object) => matcher.demandsOf(request, 1, undefined).map(({ level }) => level)

const levelsOf = (all: readonly When[]) => all.map((when, i) => ({ name: `level-${i}`, when, limit }))

test('the index finds the levels that evaluating each would find, in the order of the policy', () => {
  fc.assert(
    fc.property(
      fc.array(whens, { minLength: 1, maxLength: 40 }),
      fc.array(requests, { minLength: 1, maxLength: 8 }),
      (all, asked) => {
        const matcher = matcherOf(levelsOf(all))
        for (const request of asked) {
          const expected = all.flatMap((when, i) => (applies(when, request as Attributes) ? [`level-${i}`] : []))
          expect(found(matcher, request)).toEqual(expected)
          // `explain` evaluates every test of every level, without the index.
          const explained = matcher.explain(request, 1, undefined).filter(({ matches }) => matches)
          expect(explained.map(({ level }) => level)).toEqual(expected)
          expect(matcher.levelsFor(request)).toEqual(expected)
        }
      },
    ),
    { numRuns: 400 },
  )
})

test('the index finds the same levels among two hundred', () => {
  fc.assert(
    fc.property(fc.array(whens, { minLength: 150, maxLength: 200, size: 'max' }), requests, (all, request) => {
      const expected = all.flatMap((when, i) => (applies(when, request as Attributes) ? [`level-${i}`] : []))
      expect(found(matcherOf(levelsOf(all)), request)).toEqual(expected)
    }),
    { numRuns: 30 },
  )
})

test('the first override that matches applies', () => {
  fc.assert(
    fc.property(
      fc.array(whens, { minLength: 1, maxLength: 40 }),
      fc.array(requests, { minLength: 1, maxLength: 5 }),
      (all, asked) => {
        const overrides = all.map((when, i) => ({ when, limit: fixedWindow({ quota: 100 + i, window: '1s' }) }))
        const matcher = matcherOf([{ name: 'level', limit, overrides }])
        for (const request of asked) {
          const first = all.findIndex((when) => applies(when, request as Attributes))
          const [demand] = matcher.demandsOf(request, 1, undefined)
          expect(demand.limit).toEqual(first < 0 ? limit : overrides[first].limit)
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('a request does not affect the next one, even if it was refused', () => {
  fc.assert(
    fc.property(fc.array(whens, { minLength: 1, maxLength: 20 }), requests, requests, (all, first, second) => {
      const levels = levelsOf([...all, { user: 'a' }, { plan: 'b' }])
      const used = matcherOf(levels)
      found(used, first)
      // The plan is refused after the user may have been read.
      expect(() => found(used, { ...first, plan: {} })).toThrow(TypeError)
      expect(found(used, second)).toEqual(found(matcherOf(levels), second))
    }),
    { numRuns: 100 },
  )
})
