import { invalidType } from '../../errors.js'
import type { AnyPassage } from '../joint-passage.js'
import { mergeFields } from '../merge-fields.js'

/** The fields of a response before it got those of a request. */
interface Before {
  readonly request: object
  readonly fields: readonly (readonly [name: string, value: string | null])[]
}

const given = new WeakMap<Response, Before>()

/**
 * Adds fields to a response. The response stays the same object, unless it is immutable or a handler returns it for many
 * requests. Its body is not read: on some platforms that costs more than everything else.
 */
export function withFields(response: Response, headers: AnyPassage['headers'], request: object): Response {
  // A network error or a switch of protocols. The constructor of `Response` refuses such a status, so it cannot be copied.
  if (response.status < 200) return response
  const before = given.get(response)
  if (before !== undefined && before.request !== request) return withFields(copyOf(response, before), headers, request)
  const merged = mergeFields(headers, (name) => response.headers.get(name))
  if (before === undefined) {
    const fields = Object.keys(headers).map((name) => [name, response.headers.get(name)] as const)
    given.set(response, { request, fields })
  }
  try {
    for (const name in merged) response.headers.set(name, merged[name])
    return response
  } catch {
    // The fields are immutable, as those of a response that `fetch` returned.
    const copy = new Response(response.body, response)
    for (const name in merged) copy.headers.set(name, merged[name])
    return copy
  }
}

/** A copy of a response without the fields that it got for another request. */
function copyOf(response: Response, { fields }: Before): Response {
  const copy = new Response(response.body, response)
  for (const [name, value] of fields) {
    if (value === null) copy.headers.delete(name)
    else copy.headers.set(name, value)
  }
  return copy
}

/** The response of `onDenied`, with the fields of the denial, and with its status if the function chose none. */
export function ownDenial(response: unknown, passage: AnyPassage, request: object): Response {
  if (!(response instanceof Response)) throw invalidType('onDenied', 'a function that returns a Response', response)
  const status = response.status === 200 ? passage.status : response.status
  const copy = new Response(response.body, { status, headers: response.headers })
  const { 'Cache-Control': cacheControl, ...headers } = passage.headers
  if (cacheControl !== undefined && !copy.headers.has('Cache-Control')) copy.headers.set('Cache-Control', cacheControl)
  return withFields(copy, headers, request)
}
