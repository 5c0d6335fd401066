import { type Address, type CidrRange, parseAddress, parseCidrRange, rangeContains } from '../addresses/index.js'
import { checkOptions, isObject } from '../checks/check-options.js'
import { invalidType, invalidValue } from '../errors.js'

/** The last proxies before the server, whatever their addresses are: `{ hops: 1 }` is the peer that connects to the server. */
export interface TrustedHops {
  /** How many proxies, counted from the connection: a whole number from 1 to 64. */
  readonly hops: number
}

/**
 * Proxies that may say where a request comes from: a list of addresses and CIDR ranges such as `'10.0.0.0/8'`, of the names
 * `'loopback'`, `'private'` and `'unix'`, and of one `{ hops }`. A name or `{ hops }` may also stand alone. `'loopback'` is
 * 127.0.0.0/8 and ::1. `'private'` is that, 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 and fc00::/7. `'unix'` is every
 * connection by a Unix socket.
 */
export type TrustedProxies = 'loopback' | 'private' | 'unix' | TrustedHops | readonly (string | TrustedHops)[]

/** Says of peers whether they are trusted proxies. */
export interface ProxyTrust {
  /** False if no peer is trusted: then no header field is read. */
  readonly trustsAny: boolean
  /** Whether the peer that connects to the server is trusted. `undefined` is a Unix socket. */
  trustsConnection(remoteAddress: string | undefined): boolean
  /** Whether the peer at an address is trusted, which is so many hops before the one that connects: from 1. */
  trustsHop(address: Address, hop: number): boolean
}

const LOOPBACK = ['127.0.0.0/8', '::1']
/** This machine and private networks. */
export const PRIVATE = [...LOOPBACK, '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']
const RANGES: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['loopback', LOOPBACK],
  ['private', PRIVATE],
  ['unix', []],
])
const MOST_HOPS = 64
const WANTED = "a list such as ['10.0.0.0/8'], 'loopback', 'private' or { hops: 1 }"
const WANTED_IN_LIST =
  "an address or CIDR range such as '10.0.0.0/8', '192.0.2.1' or '2001:db8::/32', 'loopback', 'private', 'unix' or { hops: 1 }"

/**
 * Reads the option `trustedProxies`. A peer is trusted if its address is in a range, or if it is among the last `hops`
 * proxies.
 */
export function trustedProxies(value: TrustedProxies = []): ProxyTrust {
  const given = listOf(value)
  const ranges = given.filter((each) => !isHops(each)).flatMap(rangesOf)
  if (ranges.some(({ prefix }) => prefix === 0)) {
    const wanted = 'the addresses of your own proxies, because a trusted proxy can claim to be any client'
    throw invalidValue('trustedProxies', wanted, given.join(', '))
  }
  const hops = hopsOf(given.filter(isHops))
  const trustsUnix = given.includes('unix')
  const isInRange = (address: Address) => ranges.some((range) => rangeContains(range, address))
  return {
    trustsAny: ranges.length > 0 || hops > 0 || trustsUnix,
    trustsConnection(remoteAddress) {
      if (hops > 0 || remoteAddress === undefined) return hops > 0 || trustsUnix
      const address = parseAddress(remoteAddress)
      return address !== undefined && isInRange(address)
    },
    trustsHop: (address, hop) => hop < hops || isInRange(address),
  }
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return Array.from(value)
  if (RANGES.has(value) || isHops(value)) return [value]
  const example = typeof value === 'string' && /[\d:]/.test(value) ? `a list: write ['${value}']` : WANTED
  throw invalidType('trustedProxies', example, value)
}

/** An object of options. Sets and other collections are not. */
function isHops(value: unknown): value is object {
  return isObject(value) && !(Symbol.iterator in value)
}

function hopsOf(given: readonly object[]): number {
  if (given.length > 1) throw invalidValue('trustedProxies', 'a list with one { hops } at most', given.length)
  if (given.length === 0) return 0
  const { hops } = checkOptions('trustedProxies', given[0], ['hops'])
  if (Number.isInteger(hops) && (hops as number) >= 1 && (hops as number) <= MOST_HOPS) return hops as number
  throw invalidValue('hops', `a whole number from 1 to ${MOST_HOPS} (trustedProxies: [] trusts no proxy)`, hops)
}

function rangesOf(value: unknown): readonly CidrRange[] {
  const named = RANGES.get(value)
  if (named !== undefined) return named.map((each) => parseCidrRange('trustedProxies', each))
  if (typeof value !== 'string') throw invalidType('trustedProxies', WANTED_IN_LIST, value)
  // A text without digits and colons is a name, and not a misspelt address.
  if (!/[\d:]/.test(value)) throw invalidValue('trustedProxies', WANTED_IN_LIST, value)
  return [parseCidrRange('trustedProxies', value)]
}
