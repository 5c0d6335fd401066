import { warn } from '../stores/warn.js'
import { type ClientAddress, type ClientAddressOptions, clientKey, originOf } from './client-address.js'

/** How a request of a framework is read. */
export interface RequestReader<Request> {
  method(request: Request): string
  /**
   * The target of a request, as routers see it: a path, perhaps with a query, or a whole URL. A list where it was
   * rewritten: as routers see it now, and as the client wrote it.
   */
  url(request: Request): string | readonly string[]
  /** Of the connection. Left out where nobody knows. */
  remoteAddress?(request: Request): string | undefined
  field(request: Request, name: string): string | null | undefined
}

/** What is known of a request without being told. */
export interface RequestFacts<Request> {
  method(request: Request): string
  path(request: Request): string | readonly string[]
  /** The client's whole address. */
  readonly ip: ((request: Request) => string) | undefined
  /** The client's address as a key: of IPv6 its network. */
  readonly client: ((request: Request) => string) | undefined
}

export function requestFacts<Request>(
  reader: RequestReader<Request>,
  options: ClientAddressOptions,
): RequestFacts<Request> {
  const origin = originOf(options)
  const client = clientKey(options)
  const remoteAddress = reader.remoteAddress?.bind(reader)
  const notice = options.trustedProxies === undefined ? proxyNotice(reader) : undefined
  const by = (address: ClientAddress) => {
    if (remoteAddress === undefined) return undefined
    if (notice === undefined)
      return (request: Request) => address(remoteAddress(request), (name) => reader.field(request, name))
    return (request: Request) => {
      notice(request)
      return address(remoteAddress(request), noField)
    }
  }
  return {
    method: (request) => reader.method(request),
    path: (request) => reader.url(request) || '/',
    ip: by(origin),
    client: by(client),
  }
}

/** Where no proxy is trusted, no field is looked at. */
function noField(): undefined {}

/** How many requests are looked at for signs of a proxy. */
const FIRST_REQUESTS = 100

/** Behind a proxy that nobody trusts, all clients are one: whoever runs the program should know. */
function proxyNotice<Request>(reader: RequestReader<Request>): (request: Request) => void {
  let left = FIRST_REQUESTS
  return (request) => {
    if (left === 0) return
    left--
    if (!reader.field(request, 'x-forwarded-for') && !reader.field(request, 'forwarded')) return
    left = 0
    warn(
      'a request says that it came by a proxy, and none is trusted: if the proxy is yours, all of its clients count as one; ' +
        "say trustedProxies: ['10.0.0.0/8'], its address, or [] if that is meant",
      'SLUICE_PROXY',
    )
  }
}

/** A target as routers see it now, and as the client wrote it, if that is another. */
export function rewrittenUrl(url: string, originalUrl: string): string | readonly string[] {
  return url === originalUrl ? url : [url, originalUrl]
}

/** The target of a `Request`, whose URL always begins with an origin. */
export function targetOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('://') + 3)
  return end < 0 ? url : url.slice(end)
}
