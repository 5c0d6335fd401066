import { createPolicy, fixedWindow } from 'sluice'
import { describe, expect, it } from 'vitest'
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
  'v1/charges',
  'v1/charges/?x=1',
  'v1//charges',
  './v1/charges',
  '../v1/charges',
  'v1/%63harges',
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
    // OPTIONS may be about no path at all.
    ['*', '*'],
    ['/*', '/*'],
    ['/%2A', '/*'],
  ])('%j is %j', (text, plain) => {
    expect(plainPath(text)).toBe(plain)
  })

  it('a slash that is escaped belongs to its segment', () => {
    expect(plainPath('/v1%2fcharges').split('/')).toHaveLength(2)
    expect(plainPath('/v1%2fcharges')).toBe(plainPath('/v1%2Fcharges'))
    expect(plainPath('/a%2F..%2Fb').split('/')).toHaveLength(2)
  })

  it.each([
    ['/100%', '/100%25'],
    ['/%', '/%25'],
    ['/%%', '/%25%25'],
    ['/%zz', '/%25zz'],
    ['/a%2', '/a%252'],
    ['/%u0041', '/%25u0041'],
    ['/%%41', '/%25A'],
  ])('%s has a percent sign that escapes nothing, which is written %s', (text, plain) => {
    expect(plainPath(text)).toBe(plain)
    expect(plainPath(plain)).toBe(plain)
    expect(plainPath(`${text}/../x/`)).toBe('/x')
  })

  it.each([
    ['/%ff', '/%FF'],
    ['/%c3', '/%C3'],
    ['/%c3/%a9', '/%C3/%A9'],
    ['/%c3(', '/%C3('],
    ['/%e0%a4', '/%E0%A4'],
    ['/%e0%a4%c3%a9', '/%E0%A4é'],
    // A slash, a dot and a character in more bytes than they need.
    ['/%c0%af', '/%C0%AF'],
    ['/%c0%ae%c0%ae', '/%C0%AE%C0%AE'],
    ['/%e0%80%af', '/%E0%80%AF'],
    ['/%f0%82%82%ac', '/%F0%82%82%AC'],
    // Half a pair, and beyond the last character.
    ['/%ed%a0%80', '/%ED%A0%80'],
    ['/%f4%90%80%80', '/%F4%90%80%80'],
    ['/%f5%80%80%80', '/%F5%80%80%80'],
  ])('%s has bytes that are no text, which stay as they are: %s', (text, plain) => {
    expect(plainPath(text)).toBe(plain)
    expect(plainPath(plain)).toBe(plain)
  })

  it.each(['%25', '%2F', '%3F', '%23', '%5C'])('%s stays escaped, for it would be read as something else', (kept) => {
    expect(plainPath(`/a${kept.toLowerCase()}b`)).toBe(`/a${kept}b`)
    expect(plainPath(`/a${kept}b`)).toBe(`/a${kept}b`)
    // What is escaped twice is another path.
    expect(plainPath(`/a%25${kept.slice(1)}b`)).toBe(`/a%25${kept.slice(1)}b`)
  })
})
