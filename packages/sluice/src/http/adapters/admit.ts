import { setAlarm } from '../../clock.js'
import type { Awaitable } from '../../stores/index.js'
import type { AnyPassage } from '../joint-passage.js'
import type { Ending } from '../passage.js'
import type { NodeExchange, NodeRequest, NodeResponse } from './node-exchange.js'

/**
 * Calls `next` when it is the turn of a request that has this passage. If the client goes away before, gives the request's
 * units back and calls `gone` instead. When the response is over, settles it.
 */
export function admit(passage: AnyPassage, exchange: NodeExchange, next: () => void, gone?: () => void): void {
  const go = () => {
    const { settle } = passage
    if (settle !== undefined) whenOver(exchange, (ending) => settle(ending, exchange.reply ?? exchange.response))
    next()
  }
  const giveUp = () => {
    passage.cancel()
    gone?.()
  }
  if (isGone(exchange)) giveUp()
  else if (passage.delayMs === 0) go()
  else waitTurn(passage, exchange, go, giveUp)
}

/** The same as a promise: whether the request goes on. */
export function admitted(passage: AnyPassage, exchange: NodeExchange): Awaitable<boolean> {
  if (passage.goesAtOnce) return true
  return new Promise((resolve) => {
    admit(
      passage,
      exchange,
      () => resolve(true),
      () => resolve(false),
    )
  })
}

function waitTurn({ delayMs, clock }: AnyPassage, exchange: NodeExchange, go: () => void, giveUp: () => void): void {
  const stopListening = onceClosed(exchange, () => {
    stopAlarm()
    giveUp()
  })
  const stopAlarm = setAlarm(clock, clock.now() + delayMs, () => {
    stopListening()
    go()
  })
}

/** Whether the connection, or the stream of HTTP/2, is closed already: then no `close` event comes any more. */
function isGone({ request: { socket }, response: { destroyed, closed, stream } }: NodeExchange): boolean {
  return destroyed === true || closed === true || stream?.destroyed === true || socket.destroyed === true
}

/**
 * Calls `tell` once, when a response is over: it was sent, or the client went away. Counts the bytes of the body as they are
 * written, because the length of a stream is not known before.
 */
function whenOver(exchange: NodeExchange, tell: (ending: Ending) => void): void {
  const { response } = exchange
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
  onceClosed(exchange, () => {
    const { statusCode, writableFinished } = response
    tell({ status: statusCode, length: hasBody(response) ? length : 0, completed: writableFinished })
  })
}

/** Node.js does not send the body of these responses, whatever a handler writes. */
function hasBody({ statusCode, req }: NodeResponse): boolean {
  return statusCode !== 204 && statusCode !== 304 && req?.method !== 'HEAD'
}

/** The functions to call when a connection closes. It has one listener, however many requests wait on it. */
const runsByConnection = new WeakMap<NodeRequest['socket'], Set<() => void>>()

/**
 * Calls `run` once, when the response or its connection closes. Both are watched, because a pipelined response has no
 * connection yet and does not close. Returns a function that stops watching.
 */
function onceClosed({ request: { socket }, response }: NodeExchange, run: () => void): () => void {
  let runs = runsByConnection.get(socket)
  if (runs === undefined) {
    const fresh = new Set<() => void>()
    runs = fresh
    runsByConnection.set(socket, fresh)
    socket.once?.('close', () => {
      for (const each of fresh) each()
    })
  }
  const stop = () => {
    runs.delete(closed)
    response.off('close', closed)
  }
  const closed = () => {
    stop()
    run()
  }
  runs.add(closed)
  response.once('close', closed)
  return stop
}
