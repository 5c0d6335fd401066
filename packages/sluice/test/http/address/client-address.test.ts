import { type ClientAddressOptions, clientAddress } from 'sluice/http'
import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../../limits/refusals.js'

const PROXY = '10.0.0.1'
const behind: ClientAddressOptions = { trustedProxies: ['10.0.0.0/8'] }

type Fields = Readonly<Record<string, string>>

/** The client of a request with these fields on a connection from `remote`. */
function from(remote: string | undefined, fields: Fields, options?: ClientAddressOptions): string {
  return clientAddress(options)(remote, (name) => fields[name])
}

/** The same for a request that a trusted proxy says was forwarded for `text`. */
const forwarded = (text: string, options: ClientAddressOptions = behind) =>
  from(PROXY, { 'x-forwarded-for': text }, options)

describe('one client has one key', () => {
  it.each(['1.2.3.4', '::ffff:1.2.3.4', '::ffff:102:304', '::FFFF:1.2.3.4', '0:0:0:0:0:ffff:1.2.3.4'])(
    '%s is 1.2.3.4, from a socket and from a proxy',
    (text) => {
      expect(from(text, {})).toBe('1.2.3.4')
      expect(from(text, {}, behind)).toBe('1.2.3.4')
      expect(forwarded(text)).toBe('1.2.3.4')
    },
  )

  it.each([
    ['2001:db8:1234:5678::1.2.3.4', '2001:db8:1234:5600::/56'],
    ['64:ff9b::1.2.3.4', '64:ff9b::/56'],
    ['::1.2.3.4', '::/56'],
  ])('%s is not IPv4', (text, key) => {
    expect(from(text, {})).toBe(key)
    expect(forwarded(text)).toBe(key)
  })

  it.each([
    ['1.2.3.4:5678', '1.2.3.4'],
    ['1.2.3.4:1', '1.2.3.4'],
    ['[::ffff:1.2.3.4]:80', '1.2.3.4'],
    ['[2001:db8::1]:4711', '2001:db8::/56'],
    ['[2001:db8::1]', '2001:db8::/56'],
  ])('the port of %s is stripped, or every source port would be a client', (text, key) => {
    expect(from(text, {})).toBe(key)
    expect(forwarded(text)).toBe(key)
  })

  it('a zone is dropped', () => {
    expect(from('fe80::1%eth0', {})).toBe(from('fe80::1%eth1', {}))
    expect(from('fe80::1%eth0', {}, { ipv6Prefix: 128 })).toBe('fe80::1')
    expect(forwarded('fe80::1%eth0', { ...behind, ipv6Prefix: 128 })).toBe('fe80::1')
  })

  it.each(['01.2.3.4', '127.1', '2130706433', 'unknown', '', '_hidden', '1.2.3.4 5.6.7.8', '1.2.3.4;5.6.7.8', '*'])(
    '%j in X-Forwarded-For is no address: the proxy that wrote it counts as the client',
    (text) => {
      expect(forwarded(text)).toBe(PROXY)
      expect(forwarded(`192.0.2.1, ${text}`)).toBe(PROXY)
      expect(forwarded(`192.0.2.1, ${text}, 10.0.0.2`)).toBe('10.0.0.2')
    },
  )

  it('all clients without a known address are one client', () => {
    for (const options of [{}, behind]) {
      expect(from(undefined, { 'x-forwarded-for': '192.0.2.1' }, options)).toBe('unknown')
      // No address of a policy's level may be absent, for then the level would not match.
      expect(from('', { 'x-forwarded-for': '192.0.2.1' }, options)).toBe('unknown')
    }
  })
})

describe('an IPv6 client is its network', () => {
  it('of 56 bits', () => {
    expect(from('2001:db8:1:2ff::1', {})).toBe('2001:db8:1:200::/56')
    expect(from('2001:db8:1:200:ffff:ffff:ffff:ffff', {})).toBe('2001:db8:1:200::/56')
    expect(from('2001:db8:1:300::1', {})).toBe('2001:db8:1:300::/56')
  })

  it.each([
    [1, '::/1'],
    [32, '2001:db8::/32'],
    [48, '2001:db8:1::/48'],
    [64, '2001:db8:1:2ff::/64'],
    [127, '2001:db8:1:2ff::/127'],
    [128, '2001:db8:1:2ff::1'],
  ])('or of %d, if that is said', (ipv6Prefix, key) => {
    expect(from('2001:db8:1:2ff::1', {}, { ipv6Prefix })).toBe(key)
    expect(forwarded('2001:db8:1:2ff::1', { ...behind, ipv6Prefix })).toBe(key)
  })

  it('and no prefix joins IPv4 clients that are written as IPv6', () => {
    for (let ipv6Prefix = 1; ipv6Prefix <= 128; ipv6Prefix++) {
      for (const text of ['::ffff:1.2.3.4', '::ffff:102:304', '1.2.3.4']) {
        expect(from(text, {}, { ipv6Prefix })).toBe('1.2.3.4')
        expect(forwarded(text, { ...behind, ipv6Prefix })).toBe('1.2.3.4')
      }
    }
  })
})

describe('trust', () => {
  const everyField = Object.fromEntries(
    ['x-forwarded-for', 'x-client-ip', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'x-cluster-client-ip'].map(
      (name) => [name, '6.6.6.6'],
    ),
  )
  const all: Fields = { ...everyField, forwarded: 'for=6.6.6.6' }

  it.each([undefined, {}, { trustedProxies: [] }, { forwardedIn: 'x-real-ip' }])(
    'is given to no proxy by default: %j',
    (options) => {
      expect(from('192.0.2.1', all, options)).toBe('192.0.2.1')
      expect(from('127.0.0.1', all, options)).toBe('127.0.0.1')
      expect(from(undefined, all, options)).toBe('unknown')
    },
  )

  it('is not given to an address that is not a trusted proxy', () => {
    expect(from('11.0.0.1', all, behind)).toBe('11.0.0.1')
    expect(from('192.0.2.1', all, { trustedProxies: ['192.0.2.2', '192.0.2.0', '2001:db8::/32'] })).toBe('192.0.2.1')
  })

  it('goes from right to left over trusted proxies, and never starts with the left-most entry', () => {
    expect(forwarded('6.6.6.6, 192.0.2.1')).toBe('192.0.2.1')
    expect(forwarded('6.6.6.6, 192.0.2.1, 10.1.1.1')).toBe('192.0.2.1')
    expect(forwarded('6.6.6.6,192.0.2.1,10.1.1.1,\t10.2.2.2 ')).toBe('192.0.2.1')
    expect(forwarded('6.6.6.6, 10.9.9.9, 192.0.2.1, 10.1.1.1')).toBe('192.0.2.1')
  })

  it('in all entries makes the first entry the client', () => {
    expect(forwarded('10.0.0.7, 10.0.0.6')).toBe('10.0.0.7')
    expect(from(PROXY, {}, behind)).toBe(PROXY)
  })

  it('covers every spelling of a proxy, on the socket and in the field', () => {
    expect(from('::ffff:10.0.0.1', { 'x-forwarded-for': '192.0.2.1' }, behind)).toBe('192.0.2.1')
    expect(from('::ffff:a00:1', { 'x-forwarded-for': '192.0.2.1, ::ffff:10.0.0.2' }, behind)).toBe('192.0.2.1')
    expect(forwarded('192.0.2.1, 10.0.0.2:4711')).toBe('192.0.2.1')
    const onIpv6 = { trustedProxies: ['fd00::/8'] }
    expect(from('fd12::1', { 'x-forwarded-for': '192.0.2.1, [FD00:0::7]:80' }, onIpv6)).toBe('192.0.2.1')
  })

  it('in ::ffff:10.0.0.0/104 is trust in 10.0.0.0/8, and not in every IPv4 address', () => {
    const mapped = { trustedProxies: ['::ffff:10.0.0.0/104'] }
    expect(from('10.1.2.3', { 'x-forwarded-for': '192.0.2.1' }, mapped)).toBe('192.0.2.1')
    expect(from('::ffff:10.1.2.3', { 'x-forwarded-for': '192.0.2.1' }, mapped)).toBe('192.0.2.1')
    expect(from('11.1.2.3', { 'x-forwarded-for': '192.0.2.1' }, mapped)).toBe('11.1.2.3')
    expect(from('::ffff:11.1.2.3', { 'x-forwarded-for': '192.0.2.1' }, mapped)).toBe('11.1.2.3')
  })

  it('covers only the field that is named, in upper or lower case', () => {
    expect(from(PROXY, { ...all, 'x-forwarded-for': '192.0.2.1' }, behind)).toBe('192.0.2.1')
    expect(from(PROXY, { ...all, 'x-real-ip': '192.0.2.1' }, { ...behind, forwardedIn: 'X-Real-IP' })).toBe('192.0.2.1')
    const { 'x-real-ip': _, ...others } = all
    expect(from(PROXY, others, { ...behind, forwardedIn: 'x-real-ip' })).toBe(PROXY)
  })

  it('asks for one field and no other', () => {
    for (const forwardedIn of ['x-forwarded-for', 'forwarded', 'x-real-ip']) {
      const asked: string[] = []
      clientAddress({ ...behind, forwardedIn })(PROXY, (name) => {
        asked.push(name)
        return undefined
      })
      expect(asked).toEqual([forwardedIn])
    }
  })

  it('in Unix sockets covers every Unix socket and nothing else', () => {
    const unix = { trustedProxies: ['unix'] }
    expect(from(undefined, { 'x-forwarded-for': '6.6.6.6, 192.0.2.1' }, unix)).toBe('192.0.2.1')
    expect(from(undefined, {}, unix)).toBe('unknown')
    expect(from(undefined, { 'x-forwarded-for': 'unknown' }, unix)).toBe('unknown')
    expect(from('192.0.2.7', { 'x-forwarded-for': '6.6.6.6' }, unix)).toBe('192.0.2.7')
    expect(from('unix', { 'x-forwarded-for': '6.6.6.6' }, unix)).toBe('unix')
    const both = { trustedProxies: ['unix', '10.0.0.0/8'] }
    expect(from(undefined, { 'x-forwarded-for': '6.6.6.6, 192.0.2.1, 10.0.0.2' }, both)).toBe('192.0.2.1')
  })

  it('covers the last entries if there are more than a chain of proxies has', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `6.6.${i >> 8}.${i & 255}`)
    expect(forwarded([...many, '192.0.2.1', '10.0.0.2'].join(', '))).toBe('192.0.2.1')
    expect(forwarded(`6.6.6.6, ${'10.0.0.2, '.repeat(1_000)}10.0.0.2`)).toBe('10.0.0.2')
  })
})

describe('a megabyte of field is cheap', () => {
  const parts = [
    ',',
    ' ',
    '1',
    '1.2.3.4,',
    '10.0.0.1, ',
    '"',
    '",',
    ';',
    'for=',
    ';for="',
    'for=";',
    '\\"',
    ':_',
    '[',
    '::',
  ]

  it.each(['x-forwarded-for', 'forwarded', 'x-real-ip'])('of %s', (forwardedIn) => {
    const clientOf = clientAddress({ ...behind, forwardedIn })
    for (const part of parts) {
      const text = part.repeat(Math.ceil(1_000_000 / part.length))
      for (const value of [text, `for="${text}"x`]) {
        const started = performance.now()
        expect(clientOf(PROXY, () => value)).toMatch(/^[\d.]+$/)
        expect(performance.now() - started).toBeLessThan(2_000)
      }
    }
  })
})

describe('wrong options are errors that say how to fix them', () => {
  const list = "trustedProxies must be a list such as ['10.0.0.0/8'], 'loopback', 'private' or { hops: 1 }"
  const block = "trustedProxies must be an address or CIDR range such as '10.0.0.0/8', '192.0.2.1' or '2001:db8::/32'"
  const named = `${block}, 'loopback', 'private', 'unix' or { hops: 1 }`
  const own = 'trustedProxies must be the addresses of your own proxies'
  const hops = 'hops must be a whole number from 1 to 64 (trustedProxies: [] trusts no proxy)'
  const field = "forwardedIn must be the name of a header field such as 'x-forwarded-for' or 'forwarded'"
  const prefix = 'ipv6Prefix must be a whole number from 1 to 128'

  it.each<[what: string, options: unknown, message: string]>([
    ['nothing at all', null, 'clientAddress takes an object with trustedProxies, forwardedIn, ipv6Prefix, got null'],
    ['a list alone', ['10.0.0.0/8'], 'clientAddress takes an object with trustedProxies'],
    ['a misspelt option', { trustedProxy: ['10.0.0.1'] }, "no option 'trustedProxy'; did you mean trustedProxies?"],
    ['an unknown option', { hops: 1 }, "no option 'hops'; it takes trustedProxies, forwardedIn, ipv6Prefix"],
    [
      'a text for a list',
      { trustedProxies: '10.0.0.0/8' },
      "trustedProxies must be a list: write ['10.0.0.0/8'], got '10.0.0.0/8'",
    ],
    ['trust in every address, as in Express', { trustedProxies: true }, `${list}, got true`],
    ['a number of hops, as in Express', { trustedProxies: 1 }, `${list}, got 1`],
    ['null', { trustedProxies: null }, `${list}, got null`],
    ['a set', { trustedProxies: new Set(['10.0.0.1']) }, `${list}, got an object`],
    ['every IPv4', { trustedProxies: ['0.0.0.0/0'] }, `${own}, because a trusted proxy can claim to be any client`],
    ['every IPv6', { trustedProxies: ['::/0'] }, own],
    ['every IPv4 as IPv6', { trustedProxies: ['::ffff:0:0/96'] }, own],
    ['every address among others', { trustedProxies: ['10.0.0.0/8', '0.0.0.0/0'] }, own],
    ['a prefix of the wrong family', { trustedProxies: ['::ffff:10.0.0.0/8'] }, 'a prefix from /96 to /128'],
    ['a prefix that is too long', { trustedProxies: ['10.0.0.0/33'] }, 'a prefix from /0 to /32'],
    ['bits after the prefix', { trustedProxies: ['10.0.0.1/8'] }, "without bits after its prefix: '10.0.0.0/8'"],
    ['an unknown name', { trustedProxies: ['localhost'] }, `${named}, got 'localhost'`],
    ['an unknown name alone', { trustedProxies: 'uniquelocal' }, `${list}, got 'uniquelocal'`],
    ['unix in capitals', { trustedProxies: ['UNIX'] }, `${named}, got 'UNIX'`],
    ['an empty text', { trustedProxies: [''] }, `${named}, got ''`],
    ['no hops', { trustedProxies: { hops: 0 } }, `${hops}, got 0`],
    ['half a hop', { trustedProxies: [{ hops: 1.5 }] }, `${hops}, got 1.5`],
    ['hops as a text', { trustedProxies: { hops: '1' } }, `${hops}, got '1'`],
    ['too many hops', { trustedProxies: { hops: 65 } }, `${hops}, got 65`],
    ['misspelt hops', { trustedProxies: { hop: 1 } }, "trustedProxies has no option 'hop'; did you mean hops?"],
    ['an empty object', { trustedProxies: [{}] }, `${hops}, got undefined`],
    [
      'hops twice',
      { trustedProxies: [{ hops: 1 }, { hops: 2 }] },
      'trustedProxies must be a list with one { hops } at most, got 2',
    ],
    ['an address with a port', { trustedProxies: ['10.0.0.1:80'] }, `${block}, got '10.0.0.1:80'`],
    ['an address with a leading zero', { trustedProxies: ['010.0.0.1'] }, `${block}, got '010.0.0.1'`],
    ['two in one', { trustedProxies: ['10.0.0.1, 10.0.0.2'] }, `${block}, got '10.0.0.1, 10.0.0.2'`],
    ['a wildcard', { trustedProxies: ['10.*'] }, `${block}, got '10.*'`],
    ['a function', { trustedProxies: [() => true] }, `${named}, got a function`],
    // biome-ignore lint/suspicious/noSparseArray: this test needs a hole
    ['a hole', { trustedProxies: ['10.0.0.1', ,] }, `${named}, got undefined`],
    ['two fields', { forwardedIn: ['forwarded', 'x-forwarded-for'] }, `${field}, got an array`],
    ['two fields in one', { forwardedIn: 'forwarded, x-forwarded-for' }, `${field}, got 'forwarded, x-forwarded-for'`],
    ['an empty name', { forwardedIn: '' }, `${field}, got ''`],
    ['a name with a line break', { forwardedIn: 'a\r\nb' }, field],
    ['no field', { forwardedIn: null }, `${field}, got null`],
    ['no prefix', { ipv6Prefix: 0 }, `${prefix}, got 0`],
    ['a prefix of a text', { ipv6Prefix: '/56' }, `${prefix}, got '/56'`],
    ['a fraction', { ipv6Prefix: 56.5 }, `${prefix}, got 56.5`],
    ['NaN', { ipv6Prefix: Number.NaN }, `${prefix}, got NaN`],
    ['more than there are', { ipv6Prefix: 129 }, `${prefix}, got 129`],
    ['less than there are', { ipv6Prefix: -1 }, `${prefix}, got -1`],
  ])('%s', (_what, options, message) => {
    expectRefusal(() => clientAddress(options as never), message)
  })
})

it.each([
  ['the request', [{ headers: {}, socket: {} }, {}], 'the first argument'],
  ['the headers of a request', ['192.0.2.7', {}], 'the second argument'],
  ['an address alone', ['192.0.2.7'], 'the second argument'],
])('the function that clientAddress makes refuses %s', (_what, given, which) => {
  for (const options of [{}, { trustedProxies: 'loopback' }] as const) {
    const clientOf = clientAddress(options) as (...given: unknown[]) => string
    expectRefusal(() => clientOf(...given), `${which} of the function that clientAddress makes must be`)
  }
})
