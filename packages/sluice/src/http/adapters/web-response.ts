import { setAlarm, systemClock } from '../../clock.js'
import { invalidType } from '../../errors.js'
import type { Awaitable } from '../../stores/index.js'
import { mergeFields, withoutBodyFields } from '../merge-fields.js'
import type { Ending, Passage } from '../passage.js'

/** The target of a `Request`, whose URL always begins with an origin. */
export function targetOf(url: string): string {
  const end = url.indexOf('/', url.indexOf('://') + 3)
  return end < 0 ? url : url.slice(end)
}

/** The response of `onDenied`, with the fields of the denial, and with its status if the function chose none. */
export function ownDenial(response: unknown, passage: Passage, request: object): Response {
  if (!(response instanceof Response)) throw invalidType('onDenied', 'a function that returns a Response', response)
  const status = response.status === 200 ? passage.status : response.status
  const copy = new Response(response.body, { status, headers: response.headers })
  const { 'Cache-Control': cacheControl, ...headers } = withoutBodyFields(passage.headers)
  if (cacheControl !== undefined && !copy.headers.has('Cache-Control')) copy.headers.set('Cache-Control', cacheControl)
  return withFields(copy, headers, request)
}

/** Runs a handler when it is the request's turn, and settles the passage when the response is over. */
export function inTurn(passage: Passage, request: Request, handle: () => Awaitable<Response>): Awaitable<Response> {
  const { delayMs, settle } = passage
  return delayMs === 0 && settle === undefined ? handle() : waitAndSettle(passage, request, handle)
}

async function waitAndSettle(passage: Passage, request: Request, handle: () => Awaitable<Response>): Promise<Response> {
  const { delayMs, settle } = passage
  const { signal } = request
  if (delayMs > 0) {
    await sleep(delayMs, signal)
    if (signal.aborted) {
      passage.cancel()
      throw signal.reason
    }
  }
  try {
    const response = await handle()
    return settle === undefined ? response : settling(response, request, settle)
  } catch (error) {
    settle?.({ status: 500, length: 0, completed: false })
    throw error
  }
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = () => {
      stop()
      signal.removeEventListener('abort', finish)
      resolve()
    }
    const stop = setAlarm(systemClock, systemClock.now() + ms, finish)
    signal.addEventListener('abort', finish)
  })
}

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
export function withFields(response: Response, headers: Passage['headers'], request: object): Response {
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

/** A response that calls `settle` once, when its body has been read to the end or the client no longer reads it. */
function settling(response: Response, request: Request, settle: (ending: Ending) => void): Response {
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
  // The body of a HEAD response is never read.
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
