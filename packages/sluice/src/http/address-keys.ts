import { clientKeyOf, parseAddress } from '../addresses/index.js'
import { warn } from '../errors.js'
import type { RequestClient } from './client-address.js'

/** As an IPv6 address may begin, perhaps in brackets. Looked for in every key, so that other keys cost nothing. */
const BEGINNING = /^\s*\[?[\da-f]{0,4}:/i
/** Addresses of clients: on the Internet, of a site, of a link, and of IPv4 clients behind NAT64. */
const OF_CLIENT = /^\[?(?:[23][\da-f]{3}|f[cd][\da-f]{2}|fe[89ab][\da-f]|0{0,2}64:ff9b):/i
/** Perhaps two names, such as a tenant and its user, or a network of many clients, as behind NAT64. */
const DOUBTFUL = /^(?:[\da-f]{4}::[\da-f]{1,4}$|\[?0{0,2}64:)/i

/**
 * Looks for keys that are IPv6 addresses: a client has a whole network of addresses, and would have a key for each. Texts such
 * as `12::34` are no such keys, because they may be a tenant and its user.
 */
export class AddressKeys<Request> {
  readonly #client: RequestClient<Request>
  readonly #warning: string
  #hasWarned = false

  /** The warning says that `what` is an address, and gives the advice. */
  constructor(client: RequestClient<Request>, what: string, advice: string) {
    this.#client = client
    this.#warning = `${what} is an IPv6 address: a client has a whole network of addresses, and each counts for itself. ${advice}`
  }

  /**
   * The key that counts for a given key. The address of the request's own client, in any spelling, is that client's key.
   * Another address is its network: `2001:db8:0:1::7` is `2001:db8::/56`. A doubtful key stays as it is, with a warning; so
   * does a longer key with the address of the client in it. `found` is the key of the client.
   */
  keyOf(key: string, request: Request, found: string | undefined, ipv6Prefix: number): string {
    if (BEGINNING.test(key)) {
      const written = key.trim()
      if (found !== undefined && this.#isOfClient(written, request)) return found
      if (isAddress(written)) {
        if (!DOUBTFUL.test(written)) return clientKeyOf(written, ipv6Prefix)
        this.#warn()
      }
    }
    if (found?.includes('/') && !this.#hasWarned && this.#isIn(key, request)) this.#warn()
    return key
  }

  /** Warns if a part of a key is an address. */
  check(part: unknown, request: Request): void {
    if (typeof part !== 'string' || !BEGINNING.test(part)) return
    const written = part.trim()
    if (this.#isOfClient(written, request) || isAddress(written)) this.#warn()
  }

  /** Whether a text is the address of the request's client, which is IPv6 if the text is not in the form of IPv4. */
  #isOfClient(written: string, request: Request): boolean {
    return parseAddress(written) !== undefined && clientKeyOf(written, 128) === this.#client.address(request)
  }

  /** Whether the address of the request's client is written in a key, as the connection or a proxy writes it. */
  #isIn(key: string, request: Request): boolean {
    const address = this.#client.origin(request)
    return address !== undefined && OF_CLIENT.test(address) && String(key).includes(address)
  }

  #warn(): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    warn(this.#warning, 'SLUICE_IPV6_KEY')
  }
}

function isAddress(written: string): boolean {
  return OF_CLIENT.test(written) && parseAddress(written)?.length === 8
}
