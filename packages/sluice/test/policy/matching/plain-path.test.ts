import fc from 'fast-check'
import { createPolicy, fixedWindow } from 'sluice'
import { describe, expect, it, test } from 'vitest'
import { plainPath } from '../../../src/policy/matching/plain-path.js'

const limit = fixedWindow({ quota: 1_000_000, window: '1h' })

/** The spellings of a path that servers route to the same place. */
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
  'http://api.example.com/v1/charges',
  'https://api.example.com:8443/v1/charges?x',
  'HTTP://user:pass@api.example.com//v1/charges/',
  'http:///v1/charges',
]

describe('every spelling of a path is the path', () => {
  it.each(SPELLINGS)('%s', (text) => {
    expect(plainPath(text)).toBe('/v1/charges')
  })

  it.each(SPELLINGS)('so %s does not slip past a level', (path) => {
    const policy = createPolicy({
      levels: [
        { name: 'exact', when: { path: '/v1/charges' }, limit },
        { name: 'one', when: { path: '/v1/:thing' }, limit },
        { name: 'below', when: { path: '/v1/**' }, limit },
        { name: 'other', when: { path: { not: '/v1/charges' } }, limit },
        { name: 'route', when: { route: { path: '/v1/charges' } }, limit },
      ],
    })
    expect(policy.check({ path, route: path }).levels.map(({ name }) => name)).toEqual([
      'exact',
      'one',
      'below',
      'route',
    ])
  })

  it('and has one key', () => {
    const policy = createPolicy({
      levels: [{ name: 'path', key: 'path', limit: fixedWindow({ quota: SPELLINGS.length, window: '1h' }) }],
    })
    const left = SPELLINGS.map((path) => policy.check({ path }).levels[0].decision.remaining)
    expect(left.at(-1)).toBe(0)
  })
})

describe('what is another path stays another', () => {
  it.each([
    ['/', '/'],
    ['', ''],
    ['//', '/'],
    ['/..', '/'],
    ['/.', '/'],
    ['http://api.example.com', '/'],
    ['http://api.example.com?x', '/'],
    ['/V1/Charges', '/V1/Charges'],
    ['/v1/charges;x=1', '/v1/charges;x=1'],
    ['/...', '/...'],
    ['/.well-known/x', '/.well-known/x'],
    ['/a/..b/c', '/a/..b/c'],
    ['/caf%C3%A9', '/café'],
    ['/caf%c3%a9', '/café'],
    ['/a:b', '/a:b'],
    ['*', '*'],
  ])('%j is %j', (text, plain) => {
    expect(plainPath(text)).toBe(plain)
  })

  it('a slash that is escaped belongs to its segment', () => {
    expect(plainPath('/v1%2fcharges').split('/')).toHaveLength(2)
    expect(plainPath('/v1%2fcharges')).toBe(plainPath('/v1%2Fcharges'))
    expect(plainPath('/a%2F..%2Fb').split('/')).toHaveLength(2)
  })

  it.each(['/100%', '/%', '/%zz', '/%ff', '/%c3', '/%e0%a4', '/a%2', '/%u0041'])(
    'an escape that is none, as in %s, stays, and throws nothing',
    (text) => {
      expect(plainPath(text)).toBe(text)
      expect(plainPath(`${text}/../x/`)).toBe('/x')
    },
  )
})

const segments = fc.array(
  fc
    .string({ unit: fc.constantFrom(...'abcXYZ019-_~.;,=@:é漢😀'), minLength: 1, maxLength: 5 })
    .filter((text) => !/^\.\.?$/.test(text)),
  { maxLength: 5 },
)

/** How a path can be written otherwise, at each of its segments. */
const disguises = fc.array(
  fc.record({
    before: fc.constantFrom('', '', '/', './', 'x/../', '%2e/', 'x/%2E%2e/', '/./', 'a%2Fb/../'),
    escaped: fc.nat(),
    lower: fc.boolean(),
    slash: fc.constantFrom('/', '/', '\\', '//'),
  }),
  { minLength: 6, maxLength: 6 },
)

/** Some of the characters escaped, by the bits of a number. */
function escapeSome(text: string, bits: number, lower: boolean): string {
  return [...text]
    .map((character, i) => {
      if (((bits >> i) & 1) === 0) return character
      const escaped = Array.from(
        new TextEncoder().encode(character),
        (byte) => `%${byte.toString(16).padStart(2, '0')}`,
      ).join('')
      return lower ? escaped : escaped.toUpperCase()
    })
    .join('')
}

test('no mixture of disguises makes another path of it', () => {
  fc.assert(
    fc.property(
      segments,
      disguises,
      fc.constantFrom('', 'http://example.com', 'https://[::1]:80'),
      fc.constantFrom('', '/', '/.', '?a=/../b', '#', '/?', '/x/..'),
      (parts, ways, origin, end) => {
        const path = parts
          .map((part, i) => `${ways[i].slash}${ways[i].before}${escapeSome(part, ways[i].escaped, ways[i].lower)}`)
          .join('')
        // An origin ends where a slash begins the path.
        const text = `${origin}${path.replace(/^\\/, '/') || '/'}${end}`
        expect(plainPath(text), text).toBe(`/${parts.join('/')}`)
      },
    ),
    { numRuns: 3_000 },
  )
})

test('a plain path without escapes is plain already', () => {
  const texts = fc.string({ unit: fc.constantFrom(...'/ab..\\?#:~;é'), maxLength: 30 }).map((text) => `/${text}`)
  fc.assert(
    fc.property(texts, (text) => {
      const plain = plainPath(text)
      expect(plainPath(plain)).toBe(plain)
      expect(plain).not.toMatch(/\/\/|\/\.\.?(\/|$)|.\/$|[?#\\]/)
    }),
    { numRuns: 3_000 },
  )
})

test('any text at all is made plain without an error', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'/.%2eEfF5cC\\?#\n\0\ud800') })),
      (text) => {
        expect(typeof plainPath(text)).toBe('string')
        expect(typeof plainPath(`/${text}`)).toBe('string')
      },
    ),
    { numRuns: 3_000 },
  )
})

test('a very long path takes no longer than it is long', () => {
  // A hundred thousand characters of each: anything quadratic would take minutes.
  for (const part of [
    '/',
    '/a',
    '/..',
    '/./',
    '%2e',
    '/%',
    '\\',
    'a',
    ':',
    'a:',
    '?',
    '/a/..',
    'http://',
    '%2F',
    '/%ff',
  ]) {
    const path = plainPath(`/${part.repeat(100_000 / part.length)}`)
    expect(path.startsWith('/')).toBe(true)
  }
})
