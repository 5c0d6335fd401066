import { BlockList, isIP } from 'node:net'
import fc, { type Arbitrary } from 'fast-check'
import { clientAddress } from 'sluice/http'
import { expect, test } from 'vitest'
import { plainV6Groups, spell, styles, v4Bytes } from '../../addresses/spellings.js'

const trustedProxies = ['10.0.0.0/8', '::ffff:172.16.0.0/108', 'fd00::/8', '192.0.2.1']
const direct = clientAddress()
const trusted = new BlockList()
trusted.addSubnet('10.0.0.0', 8)
trusted.addSubnet('172.16.0.0', 12)
trusted.addSubnet('fd00::', 8, 'ipv6')
trusted.addAddress('192.0.2.1')

const v6 = fc.tuple(plainV6Groups, styles).map(([groups, style]) => spell(groups, style))
const v4 = v4Bytes.map((bytes) => bytes.join('.'))
const mappedV4 = fc
  .tuple(v4Bytes, styles)
  .map(([[a, b, c, d], style]) => spell([0, 0, 0, 0, 0, 0xffff, a * 256 + b, c * 256 + d], style))

const client: Arbitrary<string> = fc
  .oneof(v4, mappedV4, v6)
  .filter((text) => !trusted.check(text, text.includes(':') ? 'ipv6' : 'ipv4'))

const proxy: Arbitrary<string> = fc.oneof(
  fc.tuple(fc.nat(255), fc.nat(255)).map(([a, b]) => `10.0.${a}.${b}`),
  fc.nat(255).map((a) => `::ffff:172.16.0.${a}`),
  fc.tuple(plainV6Groups, styles).map(([groups, style]) => spell([0xfd00, ...groups.slice(1)], style)),
  fc.constant('192.0.2.1'),
)

/** The connections of a request: the client's, then those of trusted proxies up to the server. */
const chain = fc.array(proxy, { minLength: 1, maxLength: 5 })

const port = fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 65_535 }))

/** An address in a list, perhaps with a port, as some proxies write it. */
function withPort(address: string, given: number | undefined): string {
  if (given === undefined) return address
  return address.includes(':') ? `[${address}]:${given}` : `${address}:${given}`
}

const pieces = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(...',,,; "\\=:[]%_.0', 'for=', 'For="', ', for=', '"', '\\"', ', ', 'unknown'),
  },
  proxy,
  client,
  fc.string({ maxLength: 5 }),
)

/** What an attacker sends along: anything, or nothing. */
const hostile = fc.oneof(
  fc.constant([]),
  fc.array(pieces, { maxLength: 12 }).map((all) => [all.join('')]),
  fc.array(fc.oneof(proxy, client), { maxLength: 80 }).map((all) => [all.join(', ')]),
)

test('whatever a client sends in X-Forwarded-For, its address is the one that connected to the first trusted proxy', () => {
  const clientOf = clientAddress({ trustedProxies })
  fc.assert(
    fc.property(
      client,
      chain,
      hostile,
      fc.array(port),
      fc.constantFrom(', ', ',', ' ,\t'),
      (from, proxies, sent, ports, comma) => {
        const written = [from, ...proxies.slice(0, -1)].map((address, i) => withPort(address, ports[i]))
        const field = [...sent, ...written].join(comma)
        expect(
          clientOf(proxies.at(-1), () => field),
          field,
        ).toBe(direct(from, () => null))
      },
    ),
    { numRuns: 700 },
  )
})

test('whatever a client sends, and whatever the addresses of the proxies, its address is that of the peer before so many hops', () => {
  fc.assert(
    fc.property(
      client,
      fc.array(fc.oneof(proxy, client), { minLength: 1, maxLength: 5 }),
      hostile,
      fc.constantFrom('x-forwarded-for', 'forwarded'),
      (from, proxies, sent, forwardedIn) => {
        const clientOf = clientAddress({ trustedProxies: { hops: proxies.length }, forwardedIn })
        const node = (address: string) => (address.includes(':') ? `for="[${address}]"` : `for=${address}`)
        const written = [from, ...proxies.slice(0, -1)].map(forwardedIn === 'forwarded' ? node : String)
        const field = [...sent, ...written].join(', ')
        expect(
          clientOf(proxies.at(-1), () => field),
          field,
        ).toBe(direct(from, () => null))
      },
    ),
    { numRuns: 700 },
  )
})

test('whatever a client sends in Forwarded or as a host, its address is the one that connected to the first trusted proxy', () => {
  const clientOf = clientAddress({ trustedProxies, forwardedIn: 'forwarded' })
  const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
  const host = fc.array(pieces, { maxLength: 6 }).map((all) => `host=${quoted(all.join(''))}`)
  const pairs = fc.array(fc.oneof(host, fc.constantFrom('proto=https', 'by=_hidden', 'by="[2001:db8::1]:80"')), {
    maxLength: 3,
  })
  const element = fc.tuple(pairs, pairs, port, fc.boolean())
  fc.assert(
    fc.property(
      client,
      chain,
      hostile,
      fc.array(element, { minLength: 6, maxLength: 6 }),
      (from, proxies, sent, styled) => {
        const written = [from, ...proxies.slice(0, -1)].map((address, i) => {
          const [before, after, given, isPlain] = styled[i]
          const node = address.includes(':') ? `[${address}]` : address
          const text = given === undefined ? node : `${node}:${given}`
          return [...before, `for=${isPlain && !text.includes(':') ? text : quoted(text)}`, ...after].join(';')
        })
        const field = [...sent, ...written].join(', ')
        expect(
          clientOf(proxies.at(-1), () => field),
          field,
        ).toBe(direct(from, () => null))
      },
    ),
    { numRuns: 700 },
  )
})

test('a client that connects itself is itself, whatever it sends', () => {
  fc.assert(
    fc.property(
      client,
      hostile,
      fc.constantFrom('x-forwarded-for', 'forwarded', 'x-real-ip'),
      (from, sent, forwardedIn) => {
        const clientOf = clientAddress({ trustedProxies: [...trustedProxies, 'unix'], forwardedIn })
        expect(clientOf(from, () => sent[0])).toBe(direct(from, () => null))
      },
    ),
    { numRuns: 700 },
  )
})

test('a client behind a proxy that writes one address is that address', () => {
  const clientOf = clientAddress({ trustedProxies, forwardedIn: 'x-real-ip' })
  fc.assert(
    fc.property(client, proxy, port, (from, through, given) => {
      expect(clientOf(through, () => withPort(from, given))).toBe(direct(from, () => null))
    }),
  )
})

test('whatever is in a field, there is a client, and an address is in one spelling', () => {
  const clientOf = clientAddress({ trustedProxies, ipv6Prefix: 128 })
  fc.assert(
    fc.property(proxy, hostile, (through, sent) => {
      const found = clientOf(through, () => sent[0])
      expect(clientOf(found, () => null)).toBe(found)
      expect(isIP(found)).not.toBe(0)
    }),
    { numRuns: 700 },
  )
})
