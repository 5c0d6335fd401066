import { sleep } from '../../clock.js'
import type { Awaitable } from '../../stores/index.js'
import type { AnyPassage } from '../joint-passage.js'
import type { Ending } from '../passage.js'

/** Runs a handler when it is the request's turn, and settles the passage when the response is over. */
export function inTurn(passage: AnyPassage, request: Request, handle: () => Awaitable<Response>): Awaitable<Response> {
  const { delayMs, settle } = passage
  return delayMs === 0 && settle === undefined ? handle() : waitAndSettle(passage, request, handle)
}

async function waitAndSettle(
  passage: AnyPassage,
  request: Request,
  handle: () => Awaitable<Response>,
): Promise<Response> {
  const { delayMs, settle, clock } = passage
  const { signal } = request
  if (delayMs > 0) {
    await sleep(clock, delayMs, signal).catch((reason) => {
      passage.cancel()
      throw reason
    })
  }
  try {
    const response = await handle()
    return settle === undefined ? response : settling(response, request, settle)
  } catch (error) {
    settle?.({ status: 500, length: 0, completed: false }, undefined)
    throw error
  }
}

/** A response that calls `settle` once, when its body has been read to the end or the client no longer reads it. */
function settling(
  response: Response,
  request: Request,
  settle: (ending: Ending, response: Response) => void,
): Response {
  const { status } = response
  const { signal } = request
  let length = 0
  let isOver = false
  const tell = (completed: boolean) => {
    if (isOver) return
    isOver = true
    signal.removeEventListener('abort', onAbort)
    settle({ status, length, completed: completed && !signal.aborted }, response)
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
