import { type Address, addressText, clientKeyOf, parseAddress } from '../addresses/index.js'
import { checkOptions } from '../checks/check-options.js'
import { invalidType, invalidValue } from '../errors.js'
import { proxyNotice, strangerNotice } from './proxy-notice.js'
import { notesOf, openNotes } from './request-notes.js'
import { type TrustedProxies, trustedProxies } from './trusted-proxies.js'

/** Which proxies may say where a request comes from. */
export interface ClientAddressOptions {
  /**
   * Your own proxies: addresses and CIDR ranges such as `['10.0.0.0/8']`, `'loopback'`, `'private'`, or `{ hops: 1 }` for a
   * server that only its proxies can reach. Default: none, and no header field is believed.
   */
  readonly trustedProxies?: TrustedProxies
  /**
   * The field into which your proxies write the client's address: `'x-forwarded-for'` (default), `'forwarded'` (RFC 7239),
   * or another that holds one address, such as `'cf-connecting-ip'`. No other field is read.
   */
  readonly forwardedIn?: string
  /** IPv6 addresses that share this many leading bits are one client. Default 56. */
  readonly ipv6Prefix?: number
}

/** Returns the value of a header field, or nothing if the request has no such field. */
export type ReadField = (name: string) => string | null | undefined

/** Returns the client that a request comes from, as a key. */
export type ClientAddress = (remoteAddress: string | undefined, field: ReadField) => string

const FIELD_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/

/**
 * Makes a function that finds the client of a request. The client's address is the connection's. While that address belongs
 * to a trusted proxy, the next address that the proxies have written down replaces it, from the last to the first. An IPv6
 * client is identified by its network.
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
  const origin = originOf(options)
  const ipv6Prefix = checkPrefix(options.ipv6Prefix)
  const notice = options.trustedProxies === undefined ? proxyNotice() : undefined
  return (remoteAddress, field) => {
    checkCall(remoteAddress, field)
    notice?.(field)
    return clientKeyOf(origin(remoteAddress, field), ipv6Prefix)
  }
}

/** The usual mistake is to pass the request. */
function checkCall(remoteAddress: unknown, field: unknown): void {
  const isAddress = (remoteAddress ?? undefined) === undefined || typeof remoteAddress === 'string'
  if (isAddress && typeof field === 'function') return
  const [what, wanted, got] = isAddress
    ? ['the second argument', 'a function that returns a header field', field]
    : ['the first argument', 'the address of the connection', remoteAddress]
  const example = 'clientOf(req.socket.remoteAddress, (name) => req.headers[name])'
  throw invalidType(`${what} of the function that clientAddress makes`, `${wanted}, as in ${example}`, got)
}

/** Makes a function that finds the whole address of a client, also for IPv6. */
function originOf(options: ClientAddressOptions): ClientAddress {
  const { trustsAny, trustsConnection, trustsHop } = trustedProxies(options.trustedProxies)
  const name = checkFieldName(options.forwardedIn)
  if (!trustsAny) return (remoteAddress) => remoteAddress || UNKNOWN
  const entriesOf = name === 'forwarded' ? forwardedEntries : listEntries
  const noticeStranger = strangerNotice()
  return (remoteAddress, field) => {
    if (!trustsConnection(remoteAddress)) {
      noticeStranger(remoteAddress, field)
      return remoteAddress || UNKNOWN
    }
    const entries = entriesOf(field(name) ?? '')
    let address = parseAddress(remoteAddress ?? '')
    for (let hop = 0; entries.length > 0 && (hop === 0 || trustsHop(address as Address, hop)); hop++) {
      const next = parseAddress(entries.pop() as string)
      // A trusted proxy wrote something else than an address, such as `unknown`: the proxy counts as the client.
      if (next === undefined) break
      address = next
    }
    return address === undefined ? remoteAddress || UNKNOWN : addressText(address)
  }
}

/** How an adapter reads the requests of its framework. */
export interface RequestReader<Request> {
  method(request: Request): string
  /**
   * The target of a request as routers see it: a path, perhaps with a query, or a whole URL. If the target was rewritten, a
   * list: as routers see it now, and as the client wrote it.
   */
  url(request: Request): string | readonly string[]
  /**
   * The address of the connection; `undefined` for a Unix socket, and `null` if it cannot be told for this request. Left out
   * if the framework never tells it.
   */
  remoteAddress?(request: Request): string | null | undefined
  field(request: Request, name: string): string | null | undefined
  /**
   * The request as a limit in front of the framework has seen it: that of the server. Left out if the framework passes on
   * the request of the server itself.
   */
  serverRequest?(request: Request): object | undefined
}

/** Finds the client of a request. All addresses are `undefined` if the adapter cannot tell where the request comes from. */
export interface RequestClient<Request> {
  /** The address as it is written by the connection or by a proxy. */
  origin(request: Request): string | undefined
  /** The whole address in its canonical form: `'192.0.2.7'`, `'2001:db8::7'`. */
  address(request: Request): string | undefined
  /** The client as a key. An IPv6 client is its network: `'2001:db8::/56'`. */
  key(request: Request): string | undefined
  /** Warns once if the address is that of a proxy which is not trusted. Call it before an address decides something. */
  notice(request: Request): void
}

/** Makes the functions that find the client of a request. Returns `undefined` if the adapter never tells addresses. */
export function requestClient<Request>(
  reader: RequestReader<Request>,
  options: ClientAddressOptions,
): RequestClient<Request> | undefined {
  const find = originOf(options)
  const ipv6Prefix = checkPrefix(options.ipv6Prefix)
  const remoteAddress = reader.remoteAddress?.bind(reader)
  if (remoteAddress === undefined) return undefined
  const readsNone = options.trustedProxies === undefined
  const known = (request: Request) => originBefore(request) ?? originBefore(reader.serverRequest?.(request))
  const origin = (request: Request) => {
    const before = readsNone ? known(request) : undefined
    if (before !== undefined) return before
    const remote = remoteAddress(request)
    if (remote === null) return undefined
    if (readsNone) return find(remote, noField)
    const found = find(remote, (name) => reader.field(request, name))
    openNotes(request as object).origin = found
    return found
  }
  const keyOf = (from: string | undefined, prefix: number) => from && clientKeyOf(from, prefix)
  return {
    origin,
    address: (request) => keyOf(origin(request), 128),
    key: (request) => keyOf(origin(request), ipv6Prefix),
    notice: readsNone ? noticeOf(reader, known) : () => {},
  }
}

/** A limit without `trustedProxies` behind one that has them knows the same clients: otherwise all would count as one. */
function originBefore(request: unknown): string | undefined {
  return notesOf(request as object | undefined)?.origin
}

/** A limit before this one that trusts proxies has found the client already. */
function noticeOf<Request>(
  reader: RequestReader<Request>,
  known: (request: Request) => string | undefined,
): (request: Request) => void {
  const notice = proxyNotice()
  return (request) => {
    if (known(request) === undefined) notice((name) => reader.field(request, name))
  }
}

/** Without trusted proxies no field is read. */
function noField(): undefined {}

/** All clients without a known address are one client: their connection is closed already, or comes by a Unix socket. */
const UNKNOWN = 'unknown'

/** Only the last entries are read: a client that writes more hides only itself. */
const MOST_ENTRIES = 64

function listEntries(value: string): string[] {
  const entries = value.split(',').slice(-MOST_ENTRIES)
  return entries.map((entry) => entry.trim())
}

/** The `for` of each element of a `Forwarded` field. An element with no `for` or with two of them has no address. */
function forwardedEntries(value: string): string[] {
  return unquotedParts(value, ',').map((element) => {
    const pairs = unquotedParts(element, ';')
    const nodes = pairs.filter((pair) => /^\s*for\s*=/i.test(pair))
    return nodes.length === 1 ? nodeName(nodes[0].slice(nodes[0].indexOf('=') + 1).trim()) : ''
  })
}

/** A node without quotes and without an obfuscated port: `"192.0.2.1:_p7"` is `192.0.2.1`. */
function nodeName(value: string): string {
  const text = /^".*"$/s.test(value) ? value.slice(1, -1).replace(/\\(.)/gs, '$1') : value
  return text.replace(/:_[\w.-]+$/, '')
}

/**
 * The last parts between separators that are not in quotes. Reads from the right, because the trusted proxies wrote there and
 * close the quotes that they open. A client may have opened a quote further to the left.
 */
function unquotedParts(value: string, separator: string): string[] {
  const parts: string[] = []
  let isQuoted = false
  let end = value.length
  for (let i = end - 1; i >= 0 && parts.length < MOST_ENTRIES; i--) {
    const char = value[i]
    if (char === '"' && !(isQuoted && value[i - 1] === '\\')) isQuoted = !isQuoted
    else if (char === separator && !isQuoted) {
      parts.unshift(value.slice(i + 1, end))
      end = i
    }
  }
  return parts.length < MOST_ENTRIES ? [value.slice(0, end), ...parts] : parts
}

function checkFieldName(value: unknown = 'x-forwarded-for'): string {
  if (typeof value === 'string' && FIELD_NAME.test(value)) return value.toLowerCase()
  throw invalidType('forwardedIn', "the name of a header field such as 'x-forwarded-for' or 'forwarded'", value)
}

/** The default of `ipv6Prefix`. */
export const IPV6_PREFIX = 56

function checkPrefix(value: unknown = IPV6_PREFIX): number {
  if (Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 128) return value as number
  throw invalidValue('ipv6Prefix', 'a whole number from 1 to 128', value)
}
