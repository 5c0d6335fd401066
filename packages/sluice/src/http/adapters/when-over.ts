import type { Ending } from '../passage.js'
import type { NodeExchange, NodeResponse } from './node-exchange.js'
import { onSocketClose } from './on-socket-close.js'

/**
 * Calls `tell` once, when a response is over: it was sent, or the client went away. Counts the bytes of the body as they are
 * written, because the length of a stream is not known before.
 */
export function whenOver({ request, response }: NodeExchange, tell: (ending: Ending) => void): void {
  let length = 0
  // In HTTP/2 `end` calls `write`, and the bytes must not count twice.
  let isEnding = false
  const { write, end } = response
  const count = (chunk: unknown, encoding: unknown) => {
    if (isEnding) return
    if (typeof chunk === 'string') {
      length += Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
    } else if (ArrayBuffer.isView(chunk)) length += chunk.byteLength
  }
  response.write = function (this: NodeResponse, ...given: unknown[]) {
    count(given[0], given[1])
    return Reflect.apply(write, this, given)
  }
  response.end = function (this: NodeResponse, ...given: unknown[]) {
    count(given[0], given[1])
    isEnding = true
    return Reflect.apply(end, this, given)
  }
  let isOver = false
  const over = () => {
    if (isOver) return
    isOver = true
    stop()
    const { statusCode, writableFinished } = response
    tell({ status: statusCode, length: hasBody(response) ? length : 0, completed: writableFinished })
  }
  const stop = onSocketClose(request.socket, over)
  response.once('close', over)
}

/** Node.js does not send the body of these responses, whatever a handler writes. */
function hasBody({ statusCode, req }: NodeResponse): boolean {
  return statusCode !== 204 && statusCode !== 304 && req?.method !== 'HEAD'
}
