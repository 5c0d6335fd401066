import type { Ending } from '../guard-options.js'
import type { NodeRequest, NodeResponse } from './node-messages.js'
import { onSocketClose } from './socket-close.js'

/**
 * Tells what became of a response, once, when it is over: sent, or given up by the client. Counts the bytes of the body on
 * their way, because a stream has no length that is known before.
 */
export function whenOver(response: NodeResponse, socket: NodeRequest['socket'], tell: (ending: Ending) => void): void {
  let length = 0
  // Of HTTP/2, ending writes: that is not to be counted twice.
  let isEnding = false
  const { write, end } = response
  const count = (chunk: unknown, encoding: unknown) => {
    if (typeof chunk === 'string') {
      length += Buffer.byteLength(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
    } else if (ArrayBuffer.isView(chunk)) length += chunk.byteLength
  }
  response.write = function (this: NodeResponse, ...given: unknown[]) {
    if (!isEnding) count(given[0], given[1])
    return Reflect.apply(write, this, given)
  }
  response.end = function (this: NodeResponse, ...given: unknown[]) {
    if (!isEnding) count(given[0], given[1])
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
  const stop = onSocketClose(socket, over)
  response.once('close', over)
}

/** Whatever a handler writes, these responses have none. */
function hasBody({ statusCode, req }: NodeResponse): boolean {
  return statusCode !== 204 && statusCode !== 304 && req?.method !== 'HEAD'
}
