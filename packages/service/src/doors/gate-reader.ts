import type { IncomingMessage } from 'node:http'
import { type ClientAddress, clientAddress, type ProxyTrust, type TrustedHops, trustedProxies } from 'sluice/http'
import { badRequest, type Problem } from '../server/problem.js'

/** Who may ask the gate, and where the proxies write what they know about a request. */
export interface GateSettings {
  /** Addresses, CIDR ranges and names of proxies, and how many hops are proxies whatever their addresses. */
  readonly trustedProxies: readonly (string | TrustedHops)[]
  /** The header field of an attribute: `{ merchant: 'x-merchant' }`. */
  readonly gateAttributes: Readonly<Record<string, string>>
}

/** The fields of a client's request that proxies write: nginx by custom the first, Caddy and Traefik the second. */
const KNOWN: Readonly<Record<'method' | 'path', readonly string[]>> = {
  method: ['x-original-method', 'x-forwarded-method'],
  path: ['x-original-uri', 'x-forwarded-uri'],
}
const FORWARDED_FOR = 'x-forwarded-for'

/**
 * Reads the request that a proxy asks about from the header fields of the proxy's own request. Ask `isTrusted` first. It
 * reads only attributes that the policy asks about. A field that is needed and missing is an error: if the address of the
 * proxy stood in for that of the client, all clients would be one.
 */
export class GateReader {
  readonly #trust: ProxyTrust
  readonly #clientOf: ClientAddress
  readonly #forwardedFor: string
  readonly #fields: GateSettings['gateAttributes']

  /** Throws an `InvalidValueError` or `InvalidTypeError` that names the wrong range or field. */
  constructor({ trustedProxies: proxies, gateAttributes: fields }: GateSettings) {
    this.#trust = trustedProxies(proxies)
    this.#forwardedFor = fields.ip ?? FORWARDED_FOR
    // The policy itself cuts IPv6 addresses to networks, so it gets the whole address.
    this.#clientOf = clientAddress({ trustedProxies: proxies, forwardedIn: this.#forwardedFor, ipv6Prefix: 128 })
    this.#fields = fields
  }

  /** The attributes among `names` that no field is known for. They are absent in every request that the gate decides. */
  unknownOf(names: readonly string[]): readonly string[] {
    return names.filter((name) => !['method', 'path', 'ip'].includes(name) && !Object.hasOwn(this.#fields, name))
  }

  /** Whether the peer that sent this request is one of the proxies. Read nothing else from a request of another peer. */
  isTrusted({ socket: { remoteAddress } }: IncomingMessage): boolean {
    // A connection that is closed already has no address.
    return this.#trust.trustsConnection(remoteAddress ?? '')
  }

  /** The attributes of the client's request, from a trusted peer. Throws a `Problem` if a field is missing. */
  read(request: IncomingMessage, names: readonly string[]): Readonly<Record<string, string | undefined>> {
    const attributes: Record<string, string | undefined> = Object.create(null)
    for (const name of names) attributes[name] = this.#readAttribute(request, name)
    return attributes
  }

  #readAttribute(request: IncomingMessage, name: string): string | undefined {
    if (name === 'ip') return this.#readClient(request)
    const isPart = name === 'method' || name === 'path'
    if (!Object.hasOwn(this.#fields, name)) return isPart ? readPart(request, name, KNOWN[name]) : undefined
    const field = this.#fields[name]
    return isPart ? readPart(request, name, [field]) : fieldOf(request, field)
  }

  #readClient(request: IncomingMessage): string {
    const field = this.#forwardedFor
    if (!fieldOf(request, field)) throw missing('ip', [field])
    return this.#clientOf(request.socket.remoteAddress, (name) => fieldOf(request, name))
  }
}

/** Reads the method or the path of the client's request. */
function readPart(request: IncomingMessage, name: string, fields: readonly string[]): string {
  const sent = fields.filter((field) => fieldOf(request, field))
  if (sent.length === 0) throw missing(name, fields)
  const value = fieldOf(request, sent[0]) as string
  // One of two fields may come from the client, and so may the first part of a field that came twice.
  if (sent.length > 1 || /\s/.test(value))
    throw badRequest(
      `the request has more than one ${name}, and a client may have written one of them: the proxy must send ` +
        `${shownFields(fields)} once, and remove what clients send under that name`,
    )
  return value
}

/** The value of a field. Node.js joins the values of a field that came twice with `, `. */
function fieldOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

function missing(name: string, fields: readonly string[]): Problem {
  return badRequest(`the policy asks about ${name}: the proxy must send it as ${shownFields(fields)}`)
}

function shownFields(fields: readonly string[]): string {
  return fields.map((field) => field.replace(/(?<=^|-)\w/g, (letter) => letter.toUpperCase())).join(' or ')
}
