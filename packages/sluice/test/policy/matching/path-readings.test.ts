import { createPolicy, fixedWindow } from 'sluice'
import { describe, expect, it, test } from 'vitest'
import { decodedSegment, undecodedSegment } from '../../../src/policy/matching/decoded-segment.js'
import { PathReadings, plainPath } from '../../../src/policy/matching/path-readings.js'

const limit = fixedWindow({ quota: 1_000_000, window: '1h' })

/** Spellings that at least one router reads as this path. */
const SPELLINGS = [
  '/v1/charges',
  '/v1/charges/',
  '/v1/charges//',
  '//v1/charges',
  '/v1//charges',
  '/v1/./charges',
  '/v1/charges/.',
  '/./v1/charges',
  '/v1/x/../charges',
  '/../v1/charges',
  '/../../../v1/charges',
  '/v1/charges/x/..',
  '/v1/%2e/charges',
  '/v1/x/%2e%2E/charges',
  '/v1/x/.%2e/charges',
  '/v1/charges?limit=3',
  '/v1/charges/?limit=3',
  '/v1/charges?to=/elsewhere/../..',
  '/v1/charges#top',
  '/v1/charges?a#b?c',
  '/v1/%63harges',
  '/%76%31/%63%68%61%72%67%65%73',
  '/v1\\charges',
  '\\v1\\charges',
  '/v1/x\\..\\charges',
  '/v1%2fcharges',
  '/v1/charges%5C',
  '/v1/charges;x=1',
  '/v1/charges;/../..',
  '/V1/Charges',
  '/v1/CHARGES/',
  '/v1/charges\xa0',
  'http://api.example.com/v1/charges',
  'https://api.example.com:8443/v1/charges?x',
  'HTTP://user:pass@api.example.com//v1/charges/',
  'http:///v1/charges',
  'http://api.example.com?x/v1/charges',
  '//api.example.com/v1/charges',
  'v1/charges',
  'v1/charges/?x=1',
  'v1//charges',
  './v1/charges',
  '../v1/charges',
  'v1/%63harges',
]

const policy = createPolicy({
  levels: [
    { name: 'exact', when: { path: '/v1/charges' }, limit },
    { name: 'one', when: { path: '/v1/:thing' }, limit },
    { name: 'below', when: { path: '/v1/**' }, limit },
    { name: 'others', when: { path: { not: '/v1/charges' } }, limit },
    { name: 'route', when: { route: { path: '/v1/charges' } }, limit },
  ],
})
const levelsOf = (path: string | readonly string[]) =>
  policy.check({ path, route: path as string }).levels.map(({ name }) => name)

describe('a level matches every spelling that a router may read as its path', () => {
  it.each(SPELLINGS)('%s', (path) => {
    expect(levelsOf(path).filter((name) => name !== 'others')).toEqual(['exact', 'one', 'below', 'route'])
  })

  it('and each of several targets of one request', () => {
    expect(levelsOf(['/v1/charges', '/old/charges'])).toEqual(['exact', 'one', 'below', 'others', 'route'])
    expect(levelsOf(['/old/charges', '/v1/charges'])).toEqual(['exact', 'one', 'below', 'others', 'route'])
    expect(levelsOf(['/v1/charges', '/v1/charges?x'])).toEqual(['exact', 'one', 'below', 'route'])
  })
})

describe('an exemption applies only to spellings that every router reads as its path', () => {
  it.each(['/v1/charges', '/v1/charges?limit=3', '/v1/charges?to=/elsewhere/../..#x', 'v1/charges'])(
    '%s is exempt',
    (path) => {
      expect(levelsOf(path)).not.toContain('others')
    },
  )

  it.each([
    '/v1/charges/',
    '/v1/x/../charges',
    '/v1/%63harges',
    '/V1/charges',
    '/v1/charges;x',
    '/v1/charges#x',
    '//v1/charges',
    '/v1\\charges',
    '/v1%2fcharges',
    'http://api.example.com/v1/charges',
  ])('%s is not exempt', (path) => {
    expect(levelsOf(path)).toContain('others')
  })

  it('in the case of the pattern', () => {
    const capitals = createPolicy({ levels: [{ name: 'others', when: { path: { not: '/Status' } }, limit }] })
    const asked = ['/Status', '/status', '/STATUS'].map((path) => capitals.check({ path }).levels.length)
    expect(asked).toEqual([0, 1, 1])
  })

  it('with necessary escapes', () => {
    const cafe = createPolicy({ levels: [{ name: 'others', when: { path: { not: ['/café', '/a b'] } }, limit }] })
    const asked = ['/caf%C3%A9', '/caf%c3%a9', '/a%20b', '/%61%20b'].map((path) => cafe.check({ path }).levels.length)
    expect(asked).toEqual([0, 0, 0, 1])
  })
})

describe('an override of a path', () => {
  const bulk = createPolicy({
    levels: [
      {
        name: 'api',
        key: 'user',
        limit: fixedWindow({ quota: 5, window: '1h' }),
        overrides: [{ when: { path: '/bulk/**' }, limit: fixedWindow({ quota: 50, window: '1h' }) }],
      },
    ],
  })
  const quotas = (path: string) => bulk.peek({ user: 'u', path }).levels.map(({ decision }) => decision.quota)

  it('replaces the limit if every reading matches', () => {
    expect(quotas('/bulk/a')).toEqual([50])
    expect(quotas('/bulk/a%20b')).toEqual([50])
    expect(quotas('/search')).toEqual([5])
  })

  it('does not replace the limit if only some readings match: the request must pass both', () => {
    expect(quotas('/bulk/../search')).toEqual([50, 5])
    expect(quotas('/search/../bulk/a')).toEqual([50, 5])
    expect(quotas('/BULK/a')).toEqual([50, 5])
  })

  it('has its own states, and reset of such a request forgets them together with those of the level', () => {
    bulk.check({ user: 'r', path: '/bulk/a' }, { cost: 7 })
    bulk.check({ user: 'r', path: '/search' }, { cost: 3 })
    bulk.reset({ user: 'r', path: '/bulk/..' })
    const { levels } = bulk.peek({ user: 'r', path: '/bulk/..' })
    expect(levels.map(({ decision }) => decision.remaining)).toEqual([50, 5])
  })
})

describe('a key', () => {
  it('is the same for all spellings of a path', () => {
    const byPath = createPolicy({
      levels: [{ name: 'path', key: 'path', limit: fixedWindow({ quota: SPELLINGS.length, window: '1h' }) }],
    })
    // Some routers read this as a host and others as a segment, so there is no common key.
    const spelt = SPELLINGS.filter((path) => !/^\/\/|\?x\/|^HTTP|^http:\/\/\/|#top/.test(path))
    const left = spelt.map((path) => byPath.check({ path }).levels[0].decision.remaining)
    expect(left.at(-1)).toBe(SPELLINGS.length - spelt.length)
  })

  it('is the same for all targets in which routers look for the path at different places', () => {
    const keys = ['//a1/login', '//a2/login', 'x:/login', 'http://h:x/login'].map(
      (path) => new PathReadings([path]).key,
    )
    expect(new Set(keys).size).toBe(1)
  })

  it('is the same for GET and HEAD, which the same handler may answer', () => {
    const byMethod = createPolicy({
      levels: [{ name: 'method', key: 'method', limit: fixedWindow({ quota: 2, window: '1h' }) }],
    })
    expect(['GET', 'HEAD', 'head'].map((method) => byMethod.check({ method }).allowed)).toEqual([true, true, false])
  })
})

test('HEAD meets a condition for GET, and a condition for all but GET', () => {
  const methods = createPolicy({
    levels: [
      { name: 'reads', when: { method: 'GET' }, limit },
      { name: 'heads', when: { method: 'HEAD' }, limit },
      { name: 'writes', when: { method: { not: 'GET' } }, limit },
      { name: 'changes', when: { method: { not: ['GET', 'HEAD'] } }, limit },
    ],
  })
  const met = (method: string) => methods.check({ method }).levels.map(({ name }) => name)
  expect(met('GET')).toEqual(['reads'])
  expect(met('HEAD')).toEqual(['reads', 'heads', 'writes'])
  expect(met('POST')).toEqual(['writes', 'changes'])
})

test('a list is an error for an attribute that is not a path, and so is a list of anything but texts', () => {
  const some = createPolicy({ levels: [{ name: 'some', when: { path: '/a', user: 'u' }, limit }] })
  expect(() => some.check({ path: '/a', user: ['u'] as never })).toThrow(/^the attribute user must be text/)
  expect(() => some.check({ path: [5] as never, user: 'u' })).toThrow(/^the attribute path must be text/)
  expect(some.check({ path: [], user: 'u' }).levels).toEqual([])
})

test('a target that routers disagree about entirely meets every condition on a path', () => {
  for (const path of [
    'x:/a',
    'http:a',
    ' /a',
    'http://h:x/a',
    'https://u:p@h/a',
    'http://h\\x/a',
    '/a\tb',
    'foo://a/b',
  ]) {
    expect(levelsOf(path)).toEqual(['exact', 'one', 'below', 'others', 'route'])
  }
})

test('the root meets a pattern of one wildcard, and an exemption of the root still applies', () => {
  const root = createPolicy({
    levels: [
      { name: 'item', when: { path: '/:item' }, limit },
      { name: 'others', when: { path: { not: '/' } }, limit },
    ],
  })
  expect(root.check({ path: '/' }).levels.map(({ name }) => name)).toEqual(['item'])
})

describe('the readings of', () => {
  it.each([
    ['/v1/charges', ['/v1/charges']],
    ['/V1', ['/V1']],
    ['/...', ['/...']],
    ['/.well-known/x', ['/.well-known/x']],
    ['/a/..b/c', ['/a/..b/c']],
    ['/caf%c3%a9', ['/café']],
    ['/a/', ['/a/', '/a']],
    ['/a//b', ['/a//b', '/a/b']],
    ['/graphql/..', ['/graphql/..', '/']],
    ['/graphql/%2E%2E', ['/graphql/%2E%2E', '/graphql/..', '/']],
    ['/login;x', ['/login;x', '/login']],
    ['/%61', ['/%61', '/a']],
    ['/a%2Fb', ['/a%2Fb', '/a/b']],
    ['/a\\b', ['/a%5Cb', '/a/b']],
    // In `URL`, `..` removes an empty segment; other routers remove empty segments first.
    ['/x//../a', ['/x//../a', '/x/../a', '/x/a', '/a']],
    // `OPTIONS *` is about the server, not about a path.
    ['*', ['*']],
    ['/*', ['/*']],
    ['', ['/']],
  ])('%j are %j', (target, expected) => {
    const { exact, folded } = new PathReadings([target])
    expect([...exact].sort()).toEqual([...expected].sort())
    const small = new Set(exact.map((each) => each.toLowerCase()))
    expect(folded).toEqual([...small, ...(small.has('/') ? ['/\0'] : [])])
  })
})

test.each([
  ['/v1/charges?page=2', '/v1/charges'],
  ['/', '/'],
  ['/?', '/'],
  ['/v1/charges', '/v1/charges'],
  ['/a.b/c_d-e~f!$', '/a.b/c_d-e~f!$'],
  ['/v1/', undefined],
  ['/V1', undefined],
  ['/a/./b', undefined],
  ['/a;b', undefined],
  ['/a#', undefined],
  ['/é', undefined],
  ['http://a/b', undefined],
  ['', undefined],
])('all routers read %j as %j', (target, path) => {
  expect(plainPath(target)).toBe(path)
})

describe('a segment', () => {
  it.each([
    ['100%', '100%25'],
    ['%', '%25'],
    ['%%', '%25%25'],
    ['%zz', '%25zz'],
    ['a%2', 'a%252'],
    ['%u0041', '%25u0041'],
    ['%%41', '%25A'],
  ])('%s has a percent sign that escapes nothing: it becomes %s', (text, plain) => {
    expect(decodedSegment(text)).toBe(plain)
    expect(decodedSegment(plain)).toBe(plain)
  })

  it.each([
    ['%ff', '%FF'],
    ['%c3', '%C3'],
    ['%c3(', '%C3('],
    ['%e0%a4', '%E0%A4'],
    ['%e0%a4%c3%a9', '%E0%A4é'],
    // Overlong encodings of a slash, a dot and another character.
    ['%c0%af', '%C0%AF'],
    ['%c0%ae%c0%ae', '%C0%AE%C0%AE'],
    ['%e0%80%af', '%E0%80%AF'],
    ['%f0%82%82%ac', '%F0%82%82%AC'],
    // A lone surrogate, and a code point beyond the last.
    ['%ed%a0%80', '%ED%A0%80'],
    ['%f4%90%80%80', '%F4%90%80%80'],
    ['%f5%80%80%80', '%F5%80%80%80'],
  ])('%s has bytes that are not UTF-8, which stay escaped: %s', (text, plain) => {
    expect(decodedSegment(text)).toBe(plain)
    expect(decodedSegment(plain)).toBe(plain)
  })

  it.each(['%25', '%2F', '%3F', '%23', '%5C'])(
    'keeps %s escaped, because unescaped it means something else',
    (kept) => {
      expect(decodedSegment(`a${kept.toLowerCase()}b`)).toBe(`a${kept}b`)
      // A character that is escaped twice is a different segment.
      expect(decodedSegment(`a%25${kept.slice(1)}b`)).toBe(`a%25${kept.slice(1)}b`)
    },
  )

  it('that is not decoded keeps needless escapes', () => {
    expect(undecodedSegment('%61%2e%40%20%c3%a9%2f%25')).toBe('%61%2E%40 é%2F%25')
  })
})
