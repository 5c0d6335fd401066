import fc from 'fast-check'
import { createPolicy, fixedWindow } from 'sluice'
import { describe, expect, it, test } from 'vitest'
import { onlyPath, parsePathPattern } from '../../../src/policy/matching/path-pattern.js'
import { PathTrie } from '../../../src/policy/matching/path-trie.js'
import { expectRefusal } from '../../limits/refusals.js'

const segmentsOf = (path: string) => (path === '/' ? [] : path.slice(1).split('/'))

/** Does the pattern match the path? Asks in several ways, which must agree. */
function matches(pattern: string, path: string): boolean {
  const parsed = parsePathPattern('path', pattern)
  const trie = new PathTrie<string>()
  trie.add(parsed, pattern)
  const found: string[] = []
  trie.find(path, (item) => found.push(item))
  expect(found).toEqual(trie.has(path) ? [pattern] : [])
  const only = onlyPath(parsed)
  if (only !== undefined) expect(path === only).toBe(trie.has(path))
  return trie.has(path)
}

describe('a pattern is compared segment by segment', () => {
  it.each([
    ['/v1/charges', '/v1/charges', true],
    ['/v1/charges/', '/v1/charges', true],
    ['/v1/charges', '/v1/charge', false],
    ['/v1/charges', '/v1/chargesx', false],
    ['/v1/charges', '/v1/charges/1', false],
    ['/v1/charges', '/v1/Charges', false],
    ['/v1/charges/:id', '/v1/charges/ch_1', true],
    ['/v1/charges/:id', '/v1/charges', false],
    ['/v1/charges/:id', '/v1/charges/ch_1/refund', false],
    ['/v1/charges/*', '/v1/charges/ch_1', true],
    ['/v1/:thing/:id/refund', '/v1/charges/1/refund', true],
    ['/v1/**', '/v1', true],
    ['/v1/**', '/v1/a', true],
    ['/v1/**', '/v1/a/b/c', true],
    ['/v1/**', '/v10', false],
    ['/v1/**', '/', false],
    ['/**', '/', true],
    ['/**', '/a/b', true],
    ['/:any/**', '/', false],
    ['/:any/**', '/a', true],
    ['/', '/', true],
    ['/', '/a', false],
    ['/*', '/', false],
    ['/caf%C3%A9', '/café', true],
    ['/%2A', '/*', true],
    ['/%2A', '/x', false],
    ['/%3Aid', '/:id', true],
    ['/%3Aid', '/x', false],
    ['/%2a%2A', '/**', true],
    ['/%2a%2A', '/a', false],
    // Escapes that stay in a path stay in a pattern.
    ['/a%2fb', '/a%2Fb', true],
    ['/a%2fb', '/a/b', false],
    ['/a%5cb', '/a%5Cb', true],
    ['/a%3fb', '/a%3Fb', true],
    ['/100%', '/100%25', true],
    ['/100%25', '/100%25', true],
    ['/%ff', '/%FF', true],
    ['/%zz/*', '/%25zz/x', true],
    ['/a.b', '/axb', false],
    ['/__proto__', '/__proto__', true],
    ['/constructor', '/toString', false],
  ])('%s and %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected)
  })

  it('and anything else is refused', () => {
    for (const [pattern, reason] of [
      ['', 'begins with a slash'],
      ['v1/charges', 'begins with a slash'],
      ['*', 'begins with a slash'],
      ['**', 'begins with a slash'],
      ['http://example.com/v1', 'begins with a slash'],
      ['/v1/**/charges', "'**' at its end only"],
      ['/v1?x=1', 'without a query'],
      ['/v1#x', 'without a query'],
      ['/v1/ch*', 'as a whole'],
      ['/v1/*.json', 'as a whole'],
      ['/v1/***', 'as a whole'],
      ['/v1/:id.json', 'as a whole'],
      ['/v1/:', 'as a whole'],
      ['/v1/x:id', 'as a whole'],
      ['/v1/(a|b)', 'as a whole'],
      ['/v1/:id(\\d+)', 'as a whole'],
      ['/v1\\charges', 'as a whole'],
      ['/v1//charges', 'without empty segments'],
      ['//v1', 'without empty segments'],
      ['//', 'without empty segments'],
      ['/v1/../charges', "'.' and '..', which no path has"],
      ['/v1/./charges', "'.' and '..', which no path has"],
      ['/v1/%2e%2E/charges', "'.' and '..', which no path has"],
      ['/v1/%2e', "'.' and '..', which no path has"],
      ['/(a+)+$', 'as a whole'],
    ])
      expectRefusal(() => parsePathPattern('path', pattern), /^path must be a path/, reason)
    for (const pattern of [undefined, null, 5, /^\/v1/, ['/v1'], {}]) {
      expectRefusal(() => parsePathPattern('path', pattern), /^path must be a path such as/)
    }
  })
})

test('a pattern has at most a hundred segments', () => {
  const most = '/a'.repeat(99)
  expect(matches(`${most}/:x`, '/a'.repeat(100))).toBe(true)
  expect(matches(`${most}/**`, '/a'.repeat(20_000))).toBe(true)
  for (const pattern of [`${most}/a/:x`, '/a'.repeat(20_000), `${'/*'.repeat(1_000)}/**`]) {
    expectRefusal(() => parsePathPattern('path', pattern), /^path must be a path of at most 100 segments/)
  }
})

// Few names, so that random patterns match random paths. Some of them have a special meaning elsewhere.
const names = fc.constantFrom('a', 'b', 'A', '__proto__', 'constructor', 'é')
const patterns = fc
  .tuple(fc.array(fc.oneof(names, fc.constantFrom('*', ':id', ':a')), { maxLength: 5 }), fc.boolean())
  .map(([segments, open]) => `/${[...segments, ...(open ? ['**'] : [])].join('/')}`)
const paths = fc.array(names, { maxLength: 6 }).map((segments) => `/${segments.join('/')}`)

/** The meaning of a pattern, in the simplest code. */
function oracle(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return path.length === 0
  if (first === '**') return true
  if (path.length === 0) return false
  return (first === '*' || first.startsWith(':') || first === path[0]) && oracle(rest, path.slice(1))
}

test('a pattern matches by its definition, and a pattern without wildcards matches a single path', () => {
  fc.assert(
    fc.property(patterns, paths, (pattern, path) => {
      expect(matches(pattern, path)).toBe(oracle(segmentsOf(pattern), segmentsOf(path)))
      const only = onlyPath(parsePathPattern('path', pattern))
      expect(only).toBe(/[*:]/.test(pattern) ? undefined : pattern)
    }),
    { numRuns: 5_000 },
  )
})

test('a trie of many patterns finds each pattern that matches, once', () => {
  fc.assert(
    fc.property(
      fc.array(patterns, { maxLength: 60 }),
      fc.array(paths, { minLength: 1, maxLength: 10 }),
      (all, asked) => {
        const trie = new PathTrie<number>()
        for (const [i, pattern] of all.entries()) trie.add(parsePathPattern('path', pattern), i)
        for (const path of asked) {
          const found: number[] = []
          trie.find(path, (i) => found.push(i))
          const expected = all.flatMap((pattern, i) => (oracle(segmentsOf(pattern), segmentsOf(path)) ? [i] : []))
          expect(found.sort((a, b) => a - b)).toEqual(expected)
          expect(trie.has(path)).toBe(expected.length > 0)
        }
      },
    ),
    { numRuns: 500 },
  )
})

test('matching takes linear time, however many wildcards there are', () => {
  const trie = new PathTrie<string>()
  const free = new Array(20).fill('*').join('/')
  for (const end of ['x', 'y', ':id', '**']) trie.add(parsePathPattern('path', `/${free}/${end}`), end)
  const found: string[] = []
  trie.find(`/${new Array(21).fill('a').join('/')}`, (end) => found.push(end))
  expect(found.sort()).toEqual(['**', ':id'])
  found.length = 0
  trie.find('/a'.repeat(1_000_000), (end) => found.push(end))
  expect(found).toEqual(['**'])
})

test('the levels whose patterns match apply, in any case', () => {
  fc.assert(
    fc.property(fc.array(patterns, { minLength: 1, maxLength: 30 }), paths, (all, path) => {
      // Some routers read the root as one empty segment.
      fc.pre(path !== '/')
      const policy = createPolicy({
        levels: all.map((pattern, i) => ({
          name: `level-${i}`,
          key: [`key${i}`],
          when: { path: pattern },
          limit: fixedWindow({ quota: 5, window: '1h' }),
        })),
      })
      const keys = Object.fromEntries(all.map((_, i) => [`key${i}`, 'k']))
      const expected = all.flatMap((pattern, i) =>
        oracle(segmentsOf(pattern.toLowerCase()), segmentsOf(path.toLowerCase())) ? [`level-${i}`] : [],
      )
      expect(policy.check({ path, ...keys }).levels.map(({ name }) => name)).toEqual(expected)
    }),
    { numRuns: 200 },
  )
})
