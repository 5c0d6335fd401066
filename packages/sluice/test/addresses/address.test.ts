import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { addressText, networkOf, parseAddress } from '../../src/addresses/index.js'
import { isMapped, plainV6Groups, spell, styles, v4Bytes, v6Groups } from './spellings.js'

const read = (text: string) => {
  const address = parseAddress(text)
  return address && addressText(address)
}

describe('all spellings of an address are equal', () => {
  it.each(['1.2.3.4', '::ffff:1.2.3.4', '::ffff:102:304', '::FFFF:1.2.3.4', '0:0:0:0:0:ffff:1.2.3.4'])('%s', (text) => {
    expect(parseAddress(text)).toEqual([0x0102, 0x0304])
    expect(read(text)).toBe('1.2.3.4')
  })

  it.each([
    ['2001:db8:1234:5678::1.2.3.4', '2001:db8:1234:5678::102:304'],
    ['64:ff9b::1.2.3.4', '64:ff9b::102:304'],
    ['::1.2.3.4', '::102:304'],
    ['::fffe:1.2.3.4', '::fffe:102:304'],
    ['::ffff:0:1.2.3.4', '::ffff:0:102:304'],
    ['1::ffff:1.2.3.4', '1::ffff:102:304'],
  ])('%s is IPv6, whatever its end looks like', (text, canonical) => {
    expect(parseAddress(text)).toHaveLength(8)
    expect(read(text)).toBe(canonical)
  })

  it.each([
    ['1.2.3.4:5678', '1.2.3.4'],
    ['1.2.3.4:1', '1.2.3.4'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[::ffff:1.2.3.4]:80', '1.2.3.4'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%eth0]:443', 'fe80::1'],
    ['fe80::1%1', 'fe80::1'],
    ['::ffff:1.2.3.4%lo', '1.2.3.4'],
  ])('%s loses its port, brackets and zone', (text, canonical) => {
    expect(read(text)).toBe(canonical)
  })
})

describe('a text with no reading, or with more than one, is not an address', () => {
  it.each([
    '',
    ' ',
    'unknown',
    '01.2.3.4',
    '1.2.3.04',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
    '1.2.3.256',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.4.',
    ' 1.2.3.4',
    '1.2.3.4 ',
    '1.2.3.4\n',
    '1.2.3.4, 5.6.7.8',
    '1.2.3.4:',
    '1.2.3.4:123456',
    '1.2.3.4/8',
    '+1.2.3.4',
    '１.2.3.4',
    ':',
    ':::',
    '::1::',
    '1::2::3',
    ':1::2',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
    '12345::',
    'g::',
    '::1.2.3',
    '::01.2.3.4',
    '::1.2.3.4:5',
    '1.2.3.4::',
    '1:2:3:4:5:6:7:1.2.3.4',
    '2001:db8::/32',
    '[',
    '[]',
    '[]:80',
    '[::1',
    '::1]',
    '[[::1]]',
    '[::1]80',
    '[::1]:',
    '%eth0',
    '_hidden',
  ])('%j', (text) => {
    expect(parseAddress(text)).toBeUndefined()
  })

  it('is refused at once, however long it is', () => {
    for (const part of ['1', '1.', ':', '::', '[', '%', '0:', '1.2.3.4:']) {
      expect(parseAddress(part.repeat(1_000_000))).toBeUndefined()
    }
  })
})

test('every spelling of an IPv6 address is read as its groups', () => {
  fc.assert(
    fc.property(v6Groups, styles, (groups, style) => {
      const text = spell(groups, style)
      expect(isIP(text), text).toBe(6)
      expect(parseAddress(text), text).toEqual(isMapped(groups) ? groups.slice(6) : groups)
    }),
    { numRuns: 3_000 },
  )
})

test('an IPv6 address is written as in a URL, by RFC 5952', () => {
  fc.assert(
    fc.property(plainV6Groups, (groups) => {
      expect(`[${addressText(groups)}]`).toBe(
        new URL(`http://[${groups.map((g) => g.toString(16)).join(':')}]/`).hostname,
      )
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:DB8::ABCD', '2001:db8::abcd'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['1:0:0:0:0:0:0:0', '1::'],
])('RFC 5952 writes %s as %s', (text, canonical) => {
  expect(read(text)).toBe(canonical)
})

test('a written address is read back as the same address', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        plainV6Groups,
        v4Bytes.map(([a, b, c, d]) => [a * 256 + b, c * 256 + d]),
      ),
      (groups) => {
        expect(parseAddress(addressText(groups))).toEqual(groups)
      },
    ),
  )
})

test('a text is an address exactly if it is one for Node.js, apart from port, brackets and zone', () => {
  const texts = fc.oneof(
    fc.string({ unit: fc.constantFrom(...'0123456789abcdefg.:::'), maxLength: 24 }),
    // Almost an address: one character is changed, removed or added.
    fc
      .tuple(v6Groups, styles, fc.nat(40), fc.constantFrom('', ':', '.', '0', 'g', '1.'), fc.nat(2))
      .map(([groups, style, at, put, lost]) => {
        const text = spell(groups, style)
        return text.slice(0, at) + put + text.slice(at + lost)
      }),
    fc
      .tuple(fc.array(fc.nat(300), { minLength: 3, maxLength: 5 }), fc.constantFrom('', '0'))
      .map(([bytes, zero]) => zero + bytes.join('.')),
  )
  fc.assert(
    fc.property(
      texts.filter((text) => !/^[\d.]+:\d+$/.test(text)),
      (text) => {
        expect(parseAddress(text) !== undefined, text).toBe(isIP(text) !== 0)
      },
    ),
    { numRuns: 20_000 },
  )
})

test('a network keeps the first bits and clears the others', () => {
  fc.assert(
    fc.property(v6Groups, fc.integer({ min: 0, max: 128 }), (groups, prefix) => {
      const bits = (all: readonly number[]) => all.map((each) => each.toString(2).padStart(16, '0')).join('')
      expect(bits(networkOf(groups, prefix))).toBe(bits(groups).slice(0, prefix).padEnd(128, '0'))
    }),
  )
})
