import { setAlarm, systemClock } from '../../clock.js'
import type { Awaitable } from '../../stores/index.js'
import type { Admission } from '../passage.js'
import type { NodeExchange } from './node-exchange.js'
import { onSocketClose } from './on-socket-close.js'
import { whenOver } from './when-over.js'

/**
 * Calls `next` when it is the request's turn. If the client goes away before, gives the request's units back and calls `gone`
 * instead. When the response is over, settles it.
 */
export function admit(admission: Admission, exchange: NodeExchange, next: () => void, gone?: () => void): void {
  if (admission.goesAtOnce) {
    next()
    return
  }
  const go = () => {
    if (admission.settle !== undefined) whenOver(exchange, admission.settle)
    next()
  }
  const giveUp = () => {
    admission.cancel()
    gone?.()
  }
  if (isGone(exchange)) giveUp()
  else if (admission.delayMs === 0) go()
  else waitTurn(admission.delayMs, exchange, go, giveUp)
}

/** The same as a promise: whether the request goes on. */
export function admitted(admission: Admission, exchange: NodeExchange): Awaitable<boolean> {
  if (admission.goesAtOnce) return true
  return new Promise((resolve) => {
    admit(
      admission,
      exchange,
      () => resolve(true),
      () => resolve(false),
    )
  })
}

function waitTurn(delayMs: number, { request, response }: NodeExchange, go: () => void, giveUp: () => void): void {
  const onClose = () => {
    stopAlarm()
    stopListening()
    giveUp()
  }
  const stopListening = onSocketClose(request.socket, onClose)
  const stopAlarm = setAlarm(systemClock, systemClock.now() + delayMs, () => {
    stopListening()
    response.off('close', onClose)
    go()
  })
  response.once('close', onClose)
}

/** Whether the connection, or the stream of HTTP/2, is closed already: then no `close` event comes any more. */
function isGone({ request: { socket }, response: { destroyed, closed, stream } }: NodeExchange): boolean {
  return destroyed === true || closed === true || stream?.destroyed === true || socket.destroyed === true
}
