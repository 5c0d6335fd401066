import type { Passage } from '../guard.js'
import type { Ending } from '../guard-options.js'
import { mergeFields } from '../merge-fields.js'

/** The response to a denied request. */
export function denial({ status, body }: Passage): Response {
  return new Response(body, { status })
}

/** A response with the fields of a passage. It is the same one, unless its fields cannot be changed. */
export function withFields(response: Response, { headers }: Passage): Response {
  const before = {
    has: (name: string) => response.headers.has(name),
    get: (name: string) => response.headers.get(name) ?? '',
  }
  const merged = Object.entries(mergeFields(headers, before))
  try {
    for (const [name, value] of merged) response.headers.set(name, value)
    return response
  } catch {
    // As those of a response that was fetched, or made by Response.redirect.
    const copy = new Response(response.body, response)
    for (const [name, value] of merged) copy.headers.set(name, value)
    return copy
  }
}

/** A response that tells, once, when all of it has been sent, or nobody wants the rest. */
export function telling(response: Response, settle: (ending: Ending) => void): Response {
  const { status } = response
  let length = 0
  let isOver = false
  const tell = (completed: boolean) => {
    if (!isOver) settle({ status, length, completed })
    isOver = true
  }
  if (response.body === null) {
    tell(true)
    return response
  }
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
