import { clientAddress } from 'sluice/http'
import { describe, expect, it } from 'vitest'

const PROXY = '10.0.0.1'
const trustedProxies = ['10.0.0.0/8', '2001:db8:cafe::/48']
const clientOf = clientAddress({ trustedProxies, forwardedIn: 'forwarded' })
const read = (forwarded: string) => clientOf(PROXY, (name) => (name === 'forwarded' ? forwarded : undefined))

describe('the Forwarded field of RFC 7239', () => {
  it.each([
    ['for=192.0.2.43', '192.0.2.43'],
    ['FOR=192.0.2.43', '192.0.2.43'],
    ['For="192.0.2.43"', '192.0.2.43'],
    ['for="192.0.2.43:47011"', '192.0.2.43'],
    ['for=192.0.2.43:47011', '192.0.2.43'],
    ['for="192.0.2.43:_port"', '192.0.2.43'],
    ['for="[2001:db8:1::17]"', '2001:db8:1::/56'],
    ['for="[2001:db8:1::17]:4711"', '2001:db8:1::/56'],
    ['For="[2001:DB8:1::17]:_x-.9"', '2001:db8:1::/56'],
    ['for="[::ffff:192.0.2.43]:80"', '192.0.2.43'],
    ['for="\\1\\9\\2.0.2.43"', '192.0.2.43'],
  ])('%s is from %s', (forwarded, client) => {
    expect(read(forwarded)).toBe(client)
  })

  it.each([
    ['for=192.0.2.60;proto=http;by=203.0.113.43'],
    ['proto=http;by=203.0.113.43;for=192.0.2.60'],
    ['by=203.0.113.43; FOR="192.0.2.60" ; host=example.com'],
    ['secret=for;by="for=6.6.6.6";for=192.0.2.60'],
    ['xfor=6.6.6.6;for-x=6.6.6.6;for=192.0.2.60'],
    ['for=6.6.6.6, for=192.0.2.60;proto=http'],
    ['for=6.6.6.6,for=192.0.2.60;by="[2001:db8:cafe::1]", For="[2001:db8:cafe::17]:4711", for=10.9.9.9'],
    ['for=6.6.6.6;by=10.0.0.1 , proto=https;for="192.0.2.60"\t'],
  ])('several pairs and several elements: %s', (forwarded) => {
    expect(read(forwarded)).toBe('192.0.2.60')
  })

  it.each([
    'for=unknown',
    'for="unknown:80"',
    'for=_hidden',
    'for="_SEVKISEK:_p"',
    'for=',
    'for=""',
    'for',
    '',
    'proto=http;by=203.0.113.43',
    'for=example.com',
    'for=01.2.3.4',
    'for="192.0.2.1',
    'for=192.0.2.1"',
    'for="192.0.2.1"6.6.6.6',
    "for='192.0.2.1'",
    'for=192.0.2.1 for=6.6.6.6',
    'for=192.0.2.1;for=6.6.6.6',
    '192.0.2.1',
  ])('%j hides the client: the proxy stands for it', (forwarded) => {
    expect(read(forwarded)).toBe(PROXY)
    expect(read(`for=6.6.6.6, ${forwarded}`)).toBe(PROXY)
  })

  it.each([
    'for="',
    'for="6.6.6.6, for="',
    '"',
    'for=6.6.6.6;host="\\',
    '\\',
    '""""',
    'for="\\"',
    '"\\", "',
    ',,,"',
    ';;="',
  ])('a client that sends %j does not affect the entries of the proxies behind it', (hostile) => {
    expect(read(`${hostile}, for=192.0.2.60`)).toBe('192.0.2.60')
    expect(read(`${hostile},for="192.0.2.60:80";host="example.com", for="10.0.0.2"`)).toBe('192.0.2.60')
  })

  it.each(['x, for=6.6.6.6;a=', 'x;for=6.6.6.6;a=', 'x\\", for=6.6.6.6;a=\\"', ',', ';', '\\\\', '\\",\\"'])(
    'quoted text, such as the host %j that the client asked for, is no element and no pair',
    (host) => {
      expect(read(`for=192.0.2.60;host="${host}"`)).toBe('192.0.2.60')
      expect(read(`host="${host}";for=192.0.2.60`)).toBe('192.0.2.60')
      expect(read(`host="${host}";for=192.0.2.60;by="${host}", host="${host}";for=10.0.0.2`)).toBe('192.0.2.60')
    },
  )

  it('is read instead of X-Forwarded-For and never beside it', () => {
    const fields = new Headers({ 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.60' })
    const read = (name: string) => fields.get(name)
    expect(clientOf(PROXY, read)).toBe('192.0.2.60')
    expect(clientAddress({ trustedProxies })(PROXY, read)).toBe('192.0.2.1')
    fields.delete('forwarded')
    expect(clientOf(PROXY, read)).toBe(PROXY)
    const [onlyForwarded, onlyList] = [new Headers({ forwarded: 'for=6.6.6.6' }), new Headers({ forwarded: '6.6.6.6' })]
    expect(clientAddress({ trustedProxies })(PROXY, (name) => onlyForwarded.get(name))).toBe(PROXY)
    expect(clientOf(PROXY, (name) => onlyList.get(name))).toBe(PROXY)
  })

  it('is not believed unless a trusted proxy sent it', () => {
    expect(clientOf('192.0.2.7', () => 'for=6.6.6.6')).toBe('192.0.2.7')
    expect(clientAddress({ forwardedIn: 'forwarded' })('192.0.2.7', () => 'for=6.6.6.6')).toBe('192.0.2.7')
  })
})
