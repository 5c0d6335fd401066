import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { addressText, networkOf, parseAddress, parseCidrRange, rangeContains } from '../../src/addresses/index.js'
import { expectRefusal } from '../limits/refusals.js'
import { plainV6Groups, v4Bytes } from './spellings.js'

const isIn = (address: string, range: string) => {
  const parsed = parseAddress(address)
  if (parsed === undefined) throw new Error(`${address} is not an address`)
  return rangeContains(parseCidrRange('range', range), parsed)
}

describe('a range contains an address in every spelling', () => {
  it.each([
    ['10.1.2.3', '10.0.0.0/8', true],
    ['::ffff:10.1.2.3', '10.0.0.0/8', true],
    ['::ffff:a01:203', '10.0.0.0/8', true],
    ['11.0.0.0', '10.0.0.0/8', false],
    ['10.1.2.3', '::ffff:10.0.0.0/104', true],
    ['11.1.2.3', '::ffff:10.0.0.0/104', false],
    ['1.2.3.4', '0.0.0.0/0', true],
    ['1.2.3.4', '::ffff:0:0/96', true],
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.1/32', true],
    ['192.0.2.2', '192.0.2.1', false],
    ['2001:db8::1', '2001:db8::/32', true],
    ['2001:DB8:0::1%eth0', '2001:db8::/32', true],
    ['2001:db9::1', '2001:db8::/32', false],
    ['::1', '::1', true],
  ])('%s in %s: %s', (address, range, expected) => {
    expect(isIn(address, range)).toBe(expected)
  })

  it('but never an address of the other family', () => {
    expect(isIn('1.2.3.4', '::/0')).toBe(false)
    expect(isIn('::ffff:1.2.3.4', '::/0')).toBe(false)
    expect(isIn('::1', '0.0.0.0/0')).toBe(false)
    expect(isIn('::102:304', '1.2.3.4')).toBe(false)
    expect(isIn('64:ff9b::a01:203', '10.0.0.0/8')).toBe(false)
  })
})

describe('a range that could contain more than intended is refused', () => {
  it.each([
    // The prefix counts from the first of 128 bits, and all IPv4 addresses have the same first 96 bits.
    ['::ffff:10.0.0.0/8', /prefix from \/96 to \/128/],
    ['::ffff:10.0.0.0/95', /prefix from \/96 to \/128/],
    ['10.0.0.0/33', /prefix from \/0 to \/32/],
    ['2001:db8::/129', /prefix from \/0 to \/128/],
    ['10.0.0.0/', /prefix/],
    ['10.0.0.0/-1', /prefix/],
    ['10.0.0.0/8.0', /prefix/],
    ['10.0.0.0/ 8', /prefix/],
    ['10.0.0.0/0x8', /prefix/],
    ['10.0.0.0/255.0.0.0', /prefix/],
    ['10.0.0.1/8', "'10.0.0.0/8'"],
    ['::ffff:10.0.0.1/104', "'10.0.0.0/8'"],
    ['2001:db8::1/32', "'2001:db8::/32'"],
    ['10.0.0.0/8/8', 'an address or CIDR range'],
    ['/8', 'an address or CIDR range'],
    ['', 'an address or CIDR range'],
    ['10.0.0.0:80/8', 'an address or CIDR range'],
    ['10.0.0.0:80', 'an address or CIDR range'],
    ['[2001:db8::]/32', 'an address or CIDR range'],
    ['fe80::1%eth0', 'an address or CIDR range'],
    ['10.*', 'an address or CIDR range'],
    ['010.0.0.0/8', 'an address or CIDR range'],
    ['localhost', 'an address or CIDR range'],
    [10, 'an address or CIDR range'],
    [null, 'an address or CIDR range'],
  ])('%j', (range, reason) => {
    expectRefusal(() => parseCidrRange('ip', range), /^ip must be /, reason)
  })
})

test('an IPv6 range contains the same addresses as a BlockList', () => {
  fc.assert(
    fc.property(plainV6Groups, plainV6Groups, fc.integer({ min: 0, max: 128 }), fc.nat(128), (a, b, prefix, shared) => {
      // The addresses share their first bits: otherwise no range would contain both.
      const other = [...networkOf(a, shared)].map(
        (group, i) => group | (b[i] & ~networkOf(new Array(8).fill(0xffff), shared)[i]),
      )
      const network = addressText(networkOf(a, prefix))
      // Skip mapped addresses: they are IPv4 here, and both families in Node.js.
      if ([network, addressText(other)].some((text) => parseAddress(text)?.length === 2)) return
      const list = new BlockList()
      list.addSubnet(network, prefix, 'ipv6')
      expect(isIn(addressText(other), `${network}/${prefix}`)).toBe(list.check(addressText(other), 'ipv6'))
    }),
    { numRuns: 3_000 },
  )
})

test('an IPv4 range contains the same addresses as a BlockList, in every spelling', () => {
  fc.assert(
    fc.property(v4Bytes, v4Bytes, fc.integer({ min: 0, max: 32 }), fc.nat(4), (a, b, prefix, shared) => {
      const other = [...a.slice(0, shared), ...b.slice(shared)].join('.')
      const network = addressText(networkOf(parseAddress(a.join('.')) as number[], prefix))
      const list = new BlockList()
      list.addSubnet(network, prefix, 'ipv4')
      const expected = list.check(other, 'ipv4')
      for (const spelt of [other, `::ffff:${other}`, `${other}:80`]) {
        expect(isIn(spelt, `${network}/${prefix}`)).toBe(expected)
        expect(isIn(spelt, `::ffff:${network}/${prefix + 96}`)).toBe(expected)
      }
    }),
    { numRuns: 2_000 },
  )
})
