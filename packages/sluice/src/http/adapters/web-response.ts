import { invalidType } from '../../errors.js'
import type { Passage } from '../guard.js'
import type { Ending } from '../guard-options.js'
import { mergeFields, withoutBodyFields } from '../merge-fields.js'

/** The response to a denied request. */
export function denial({ status, body, headers }: Passage): Response {
  return new Response(body, { status, headers })
}

/** What somebody else answers a denied request with: it says what it is, but that it is a denial, and when to come back. */
export function ownDenial(response: unknown, passage: Passage, request: object): Response {
  if (!(response instanceof Response)) throw invalidType('onDenied', 'a function that returns a Response', response)
  const status = response.status === 200 ? passage.status : response.status
  const copy = new Response(response.body, { status, headers: response.headers })
  const { 'Cache-Control': cacheControl, ...headers } = withoutBodyFields(passage.headers)
  if (cacheControl !== undefined && !copy.headers.has('Cache-Control')) copy.headers.set('Cache-Control', cacheControl)
  return withFields(copy, headers, request)
}

/** What a response said before it was given fields for a request. */
interface Before {
  readonly request: object
  readonly fields: readonly (readonly [name: string, value: string | null])[]
}

const given = new WeakMap<Response, Before>()

/**
 * A response with these fields. It is the same one, unless it cannot be changed, or a handler gives it again and again. Its
 * body is not looked at, which would cost more than all the rest on some platforms.
 */
export function withFields(response: Response, headers: Passage['headers'], request: object): Response {
  // An error of the network, or a switch of protocols: nobody may make one.
  if (response.status < 200) return response
  const before = given.get(response)
  if (before !== undefined && before.request !== request) return withFields(copyOf(response, before), headers, request)
  const merged = mergeFields(headers, {
    has: (name) => response.headers.has(name),
    get: (name) => response.headers.get(name) ?? '',
  })
  if (before === undefined) {
    const fields = Object.keys(headers).map((name) => [name, response.headers.get(name)] as const)
    given.set(response, { request, fields })
  }
  try {
    for (const name in merged) response.headers.set(name, merged[name])
    return response
  } catch {
    // As those of a response that was fetched.
    const copy = new Response(response.body, response)
    for (const name in merged) copy.headers.set(name, merged[name])
    return copy
  }
}

/** A response as it was before it was given fields for another request. */
function copyOf(response: Response, { fields }: Before): Response {
  const copy = new Response(response.body, response)
  for (const [name, value] of fields) {
    if (value === null) copy.headers.delete(name)
    else copy.headers.set(name, value)
  }
  return copy
}

/** A response that tells, once, when all of it has been sent, or nobody wants the rest. */
export function telling(response: Response, request: Request, settle: (ending: Ending) => void): Response {
  const { status } = response
  const { signal } = request
  let length = 0
  let isOver = false
  const tell = (completed: boolean) => {
    if (isOver) return
    isOver = true
    signal.removeEventListener('abort', onAbort)
    settle({ status, length, completed: completed && !signal.aborted })
  }
  const onAbort = () => tell(false)
  // Of a HEAD nobody reads the body.
  if (response.body === null || request.method === 'HEAD' || signal.aborted) {
    tell(true)
    return response
  }
  signal.addEventListener('abort', onAbort, { once: true })
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (done) {
          controller.close()
          tell(true)
          return
        }
        length += value.byteLength
        controller.enqueue(value)
      } catch (error) {
        tell(false)
        throw error
      }
    },
    cancel(reason) {
      tell(false)
      return reader.cancel(reason)
    },
  })
  return new Response(body, response)
}
