import { addressText, parseAddress, parseCidrRange, rangeContains } from '../addresses/index.js'
import { warn } from '../errors.js'
import { PRIVATE } from './trusted-proxies.js'

/**
 * Warnings about proxies that are not trusted, because all clients of such a proxy would count as one. Each function that is made
 * here warns once at most, and looks at its first requests only: a field that a client forges later costs nothing.
 */

type ReadField = (name: string) => string | null | undefined

/** How many requests are searched for signs of a proxy. */
const FIRST_REQUESTS = 100

/** For a server that has not said which proxies it trusts: any forwarding field is a sign of a proxy. */
export function proxyNotice(): (field: ReadField) => void {
  let left = FIRST_REQUESTS
  return (field) => {
    if (left === 0) return
    left--
    if (!isForwarded(field)) return
    left = 0
    warn(
      'a request came through a proxy, but no proxy is trusted: if the proxy is yours, all of its clients count as one; ' +
        "set trustedProxies: 'loopback', 'private' or ['203.0.113.5'], the address of the proxy, or [] if that is intended",
      'SLUICE_PROXY',
    )
  }
}

/**
 * For a server that trusts some proxies. Call it with a peer that is none of them. A private address that sends a forwarding
 * field is most likely a proxy that was forgotten; a public address may be a client that forges the field.
 */
export function strangerNotice(): (remoteAddress: string | undefined, field: ReadField) => void {
  let left = FIRST_REQUESTS
  return (remoteAddress, field) => {
    if (left === 0 || remoteAddress === undefined) return
    left--
    const address = parseAddress(remoteAddress)
    if (address === undefined || !isForwarded(field) || !PRIVATE_RANGES.some((each) => rangeContains(each, address)))
      return
    left = 0
    warn(
      `requests come from ${addressText(address)}, which trustedProxies does not contain: if it is a proxy of yours, all of ` +
        `its clients count as one; add '${addressText(address)}' or its range to trustedProxies`,
      'SLUICE_PROXY',
    )
  }
}

const PRIVATE_RANGES = PRIVATE.map((range) => parseCidrRange('trustedProxies', range))

function isForwarded(field: ReadField): boolean {
  return Boolean(field('x-forwarded-for') || field('forwarded'))
}
