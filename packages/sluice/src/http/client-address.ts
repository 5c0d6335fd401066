import {
  type Address,
  addressText,
  type CidrRange,
  clientKeyOf,
  parseAddress,
  parseCidrRange,
  rangeContains,
} from '../addresses/index.js'
import { checkOptions } from '../checks/check-options.js'
import { invalidType, invalidValue } from '../errors.js'

/** Whom to believe about where a request comes from. */
export interface ClientAddressOptions {
  /**
   * Addresses and blocks of your own proxies, such as `['10.0.0.0/8']`; `'unix'` is whoever connects by a Unix socket.
   * Default: none, and no field is believed.
   */
  readonly trustedProxies?: readonly string[]
  /**
   * The field that they write the client's address into: `'x-forwarded-for'` (the default), `'forwarded'` (RFC 7239), or
   * another that holds one address, such as `'cf-connecting-ip'`. Only this one is read.
   */
  readonly forwardedIn?: string
  /** How many leading bits of an IPv6 address make a client. Default 56. */
  readonly ipv6Prefix?: number
}

/** Gives the value of a header field, or nothing if there is none. */
export type ReadField = (name: string) => string | null | undefined

/** Which client a request comes from, as a key. */
export type ClientAddress = (remoteAddress: string | undefined, field: ReadField) => string

const UNIX = 'unix'
const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/
const DEFAULT_IPV6_PREFIX = 56

/**
 * Makes a function that says which client a request comes from: the address of the connection, or, while that is a trusted
 * proxy's, the next address that the proxies have written down, from the last one back. IPv6 clients are known by their
 * network.
 *
 * @example
 * ```ts
 * import { clientAddress } from 'sluice/http'
 *
 * const clientOf = clientAddress({ trustedProxies: ['10.0.0.0/8'] })
 * const headers = new Headers({ 'x-forwarded-for': '203.0.113.7' })
 * console.log(clientOf('10.0.0.1', (name) => headers.get(name)))
 * ```
 */
export function clientAddress(options: ClientAddressOptions = {}): ClientAddress {
  checkOptions('clientAddress', options, ['trustedProxies', 'forwardedIn', 'ipv6Prefix'])
  return clientKey(options)
}

/** `clientAddress` for options that may have others among them. */
export function clientKey(options: ClientAddressOptions): ClientAddress {
  const origin = originOf(options)
  const ipv6Prefix = checkPrefix(options.ipv6Prefix)
  return (remoteAddress, field) => clientKeyOf(origin(remoteAddress, field), ipv6Prefix)
}

/** The same for whole addresses, of IPv6 too. */
export function originOf(options: ClientAddressOptions): ClientAddress {
  const { blocks, trustsUnix } = checkTrusted(options.trustedProxies)
  const name = checkFieldName(options.forwardedIn)
  checkPrefix(options.ipv6Prefix)
  if (blocks.length === 0 && !trustsUnix) return (remoteAddress) => remoteAddress || UNKNOWN
  const entriesOf = name === 'forwarded' ? forwardedEntries : listEntries
  const isTrusted = (address: Address) => blocks.some((block) => rangeContains(block, address))
  return (remoteAddress, field) => {
    let address = remoteAddress === undefined ? undefined : parseAddress(remoteAddress)
    if (address === undefined ? remoteAddress !== undefined || !trustsUnix : !isTrusted(address))
      return remoteAddress || UNKNOWN
    const entries = entriesOf(field(name) ?? '')
    while (entries.length > 0 && (address === undefined || isTrusted(address))) {
      const next = parseAddress(entries.pop() as string)
      // What a trusted proxy wrote and is no address, such as `unknown`, hides the client: the proxy stands for it.
      if (next === undefined) break
      address = next
    }
    return address === undefined ? UNKNOWN : addressText(address)
  }
}

/** All whose address nobody knows are one client: a connection that is closed already, or a Unix socket. */
const UNKNOWN = 'unknown'

/** The last so many are looked at: whoever writes more than that hides nothing but themselves. */
const MOST_ENTRIES = 64

function listEntries(value: string): string[] {
  return lastParts(value, (end) => value.lastIndexOf(',', end - 1)).map((entry) => entry.trim())
}

/** The `for` of each element of a `Forwarded` field. One without, or with two, is no address. */
function forwardedEntries(value: string): string[] {
  return lastParts(value, (end) => lastUnquoted(value, ',', end)).map((element) => {
    const pairs = lastParts(element, (end) => lastUnquoted(element, ';', end))
    const nodes = pairs.filter((pair) => /^\s*for\s*=/i.test(pair))
    return nodes.length === 1 ? nodeName(nodes[0].slice(nodes[0].indexOf('=') + 1).trim()) : ''
  })
}

/** A node without its quotes, and without a port that is hidden: `"192.0.2.1:_p7"`. */
function nodeName(value: string): string {
  const text = /^".*"$/s.test(value) ? value.slice(1, -1).replace(/\\(.)/gs, '$1') : value
  return text.replace(/:_[\w.-]+$/, '')
}

/**
 * Where the last separator before `end` is that does not stand in quotes; -1 if there is none. Read from the right, for
 * what trusted proxies wrote is there, and they close what they open. To the left of that a client may have opened a quote.
 */
function lastUnquoted(value: string, separator: string, end: number): number {
  let isQuoted = false
  for (let i = end - 1; i >= 0; i--) {
    const char = value[i]
    if (char === '"' && !(isQuoted && value[i - 1] === '\\')) isQuoted = !isQuoted
    else if (char === separator && !isQuoted) return i
  }
  return -1
}

function lastParts(value: string, lastSeparator: (end: number) => number): string[] {
  const parts: string[] = []
  let end = value.length
  while (end >= 0 && parts.length < MOST_ENTRIES) {
    const start = end === 0 ? -1 : lastSeparator(end)
    parts.unshift(value.slice(start + 1, end))
    end = start
  }
  return parts
}

interface Trusted {
  readonly blocks: readonly CidrRange[]
  readonly trustsUnix: boolean
}

function checkTrusted(value: unknown): Trusted {
  if (value === undefined) return { blocks: [], trustsUnix: false }
  if (!Array.isArray(value)) throw invalidType('trustedProxies', "a list such as ['10.0.0.0/8']", value)
  const given = Array.from(value)
  const blocks = given.filter((each) => each !== UNIX).map((each) => parseCidrRange('trustedProxies', each))
  if (blocks.some(({ prefix }) => prefix === 0)) {
    const wanted = 'the addresses of your own proxies, for whoever is trusted can say to be anybody'
    throw invalidValue('trustedProxies', wanted, given.join(', '))
  }
  return { blocks, trustsUnix: given.includes(UNIX) }
}

function checkFieldName(value: unknown): string {
  if (value === undefined) return 'x-forwarded-for'
  if (typeof value === 'string' && FIELD_NAME.test(value)) return value.toLowerCase()
  throw invalidType('forwardedIn', "the name of a header field such as 'x-forwarded-for' or 'forwarded'", value)
}

function checkPrefix(value: unknown): number {
  if (value === undefined) return DEFAULT_IPV6_PREFIX
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 128) return value as number
  throw invalidValue('ipv6Prefix', 'a whole number from 1 to 128', value)
}
