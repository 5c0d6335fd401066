import type { Ending } from '../guard-options.js'
import type { NodeResponse } from './node-messages.js'

/**
 * Tells what became of a response, once, when it is over: sent, or given up by the client. Counts the bytes of the body on
 * their way, because a stream has no length that is known before.
 */
export function whenOver(response: NodeResponse, tell: (ending: Ending) => void): void {
  let length = 0
  const { write, end } = response
  const count = (chunk: unknown, encoding: unknown) => {
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
    return Reflect.apply(end, this, given)
  }
  response.once('close', () => tell({ status: response.statusCode, length, completed: response.writableFinished }))
}
