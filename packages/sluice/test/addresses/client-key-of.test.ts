import { BlockList } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { addressText, clientKeyOf } from '../../src/addresses/index.js'
import { plainV6Groups, spell, styles, v4Bytes } from './spellings.js'

const prefixes = fc.integer({ min: 1, max: 128 })

describe('the key of a client', () => {
  it('is its IPv4 address, or the network of its IPv6 address', () => {
    expect(clientKeyOf('1.2.3.4', 56)).toBe('1.2.3.4')
    expect(clientKeyOf('2001:db8:1:2ff::1', 56)).toBe('2001:db8:1:200::/56')
    expect(clientKeyOf('2001:db8:1:2ff::1', 64)).toBe('2001:db8:1:2ff::/64')
    expect(clientKeyOf('2001:db8::1', 128)).toBe('2001:db8::1')
    expect(clientKeyOf('ffff::1', 1)).toBe('8000::/1')
  })

  it('is the text itself if it is not an address', () => {
    for (const text of ['unknown', '_hidden', '127.1', '01.2.3.4', 'a:b', '2001:db8::/56']) {
      expect(clientKeyOf(text, 56)).toBe(text)
    }
  })
})

test('all spellings of an IPv4 address have that address as their key, whatever the prefix', () => {
  fc.assert(
    fc.property(v4Bytes, prefixes, fc.nat(65_535), (bytes, prefix, port) => {
      const dotted = bytes.join('.')
      const hex = `${(bytes[0] * 256 + bytes[1]).toString(16)}:${(bytes[2] * 256 + bytes[3]).toString(16)}`
      const spellings = [
        dotted,
        `::ffff:${dotted}`,
        `::FFFF:${hex}`,
        `0:0:0:0:0:ffff:${dotted}`,
        `[::ffff:${hex}]:${port}`,
      ]
      for (const text of [...spellings, `${dotted}:${port}`]) expect(clientKeyOf(text, prefix)).toBe(dotted)
    }),
  )
})

test('two IPv6 addresses have one key exactly if a BlockList finds them in one network', () => {
  fc.assert(
    fc.property(plainV6Groups, plainV6Groups, styles, prefixes, fc.nat(8), (a, b, style, prefix, shared) => {
      const other = [...a.slice(0, shared), ...b.slice(shared)]
      if (other.slice(0, 5).every((group) => group === 0)) return
      const network = new BlockList()
      network.addSubnet(addressText(a), prefix, 'ipv6')
      const isOne = clientKeyOf(spell(a, style), prefix) === clientKeyOf(spell(other, style), prefix)
      expect(isOne).toBe(network.check(addressText(other), 'ipv6'))
    }),
    { numRuns: 2_000 },
  )
})

test('all spellings of an IPv6 address have one key, with or without port and zone', () => {
  fc.assert(
    fc.property(plainV6Groups, styles, styles, prefixes, (groups, one, other, prefix) => {
      const client = clientKeyOf(spell(groups, one), prefix)
      expect(clientKeyOf(spell(groups, other), prefix)).toBe(client)
      expect(clientKeyOf(`[${spell(groups, other)}]:443`, prefix)).toBe(client)
      expect(clientKeyOf(`${spell(groups, other)}%eth0`, prefix)).toBe(client)
    }),
  )
})
