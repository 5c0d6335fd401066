import { InvalidTypeError, shown } from '../errors.js'
import type { RequestReader } from './client-address.js'
import type { PolicyOptions } from './guard-options.js'
import { type Later, mapped } from './mapped.js'

/** The target of a `Request`, whose URL always begins with an origin. */
export function targetOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('://') + 3)
  return end < 0 ? url : url.slice(end)
}

/** Makes a function that collects the attributes of a request that a policy asks about. */
export function requestAttributes<Request>(
  { policy, attributes }: PolicyOptions<Request, never>,
  reader: RequestReader<Request>,
  ipOf: ((request: Request) => string) | undefined,
): (request: Request) => Record<string, unknown> | Promise<Record<string, unknown>> {
  const known = ipOf === undefined ? ['method', 'path'] : ['method', 'path', 'ip']
  const asked = policy.attributes.filter((name) => !known.includes(name))
  if (asked.length > 0 && attributes === undefined) throw missingAttribute(asked[0])
  const withKnown = (request: Request, given: object | undefined) => {
    const all: Record<string, unknown> = { ...given }
    if (isUnset(all.method)) all.method = reader.method(request)
    if (isUnset(all.path)) all.path = reader.url(request) || '/'
    // Only `ip: null` says that the request has no address. An empty text or a list may come from a client.
    if (ipOf !== undefined && all.ip !== null && isAbsent(all.ip)) all.ip = ipOf(request)
    for (const name of asked) {
      // A level whose attribute is forgotten or misspelt would match no request.
      if (!Object.hasOwn(all, name)) throw missingAttribute(name)
      // Joined as Node.js joins repeated fields. If a list counted as absent, a client could avoid the levels that ask for it.
      if (isTexts(all[name])) all[name] = all[name].join(', ')
    }
    return all
  }
  return (request) => {
    const given: Later<object | undefined> = attributes?.(request)
    return mapped(given, (attributes) => withKnown(request, attributes))
  }
}

/**
 * Whether a key or an address is missing. A client may send a header field or a parameter empty, or twice, which frameworks
 * read as a list. Neither is a value: an empty key would be one bucket for many clients, and an error would be a 500 that
 * clients cause at will.
 */
export function isAbsent(value: unknown): value is null | undefined {
  return value === null || isUnset(value) || Array.isArray(value)
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === ''
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function missingAttribute(name: string): InvalidTypeError {
  const wanted = `(request) => ({ ${/^[a-z_$][\w$]*$/i.test(name) ? name : shown(name)}: … })`
  return new InvalidTypeError(
    `the policy asks about ${shown(name)}; give rateLimit attributes: ${wanted}, with null if a request has no such attribute`,
    { option: 'attributes' },
  )
}
