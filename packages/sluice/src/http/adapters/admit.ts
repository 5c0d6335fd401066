import type { Passage } from '../guard.js'
import { after } from '../turn.js'
import type { NodeRequest, NodeResponse } from './node-messages.js'
import { whenOver } from './response-outcome.js'
import { onSocketClose } from './socket-close.js'

/** Where a request is on its way. */
export interface Exchange {
  readonly response: NodeResponse
  readonly socket: NodeRequest['socket']
  /** The request may go. */
  readonly next: () => void
  /** Nobody waits for it any more. */
  readonly gone?: () => void
}

/** Need nothing be waited for or given back? Then a request goes without a look at its response, which may be slow. */
export function goesAtOnce(passage: Passage | undefined): boolean {
  return passage === undefined || (!passage.holds && passage.delayMs === 0)
}

/**
 * Lets a request go when it is its turn in every queue. One whose client is gone by then does not go,
 * and gives back what it holds. `before` is its passage through an earlier guard.
 */
export function admit(before: Passage | undefined, passage: Passage | undefined, exchange: Exchange): void {
  const delayMs = Math.max(before?.delayMs ?? 0, passage?.delayMs ?? 0)
  if (isGone(exchange)) giveUp(before, passage, exchange)
  else if (delayMs === 0) go(before, passage, exchange)
  else waitTurn(delayMs, before, passage, exchange)
}

function waitTurn(
  delayMs: number,
  before: Passage | undefined,
  passage: Passage | undefined,
  exchange: Exchange,
): void {
  const { response, socket } = exchange
  const onClose = () => {
    stop()
    forget()
    giveUp(before, passage, exchange)
  }
  const forget = onSocketClose(socket, onClose)
  const stop = after(delayMs, () => {
    forget()
    response.off('close', onClose)
    go(before, passage, exchange)
  })
  response.once('close', onClose)
}

function go(before: Passage | undefined, passage: Passage | undefined, { response, socket, next }: Exchange): void {
  if (before?.settle !== undefined) whenOver(response, socket, before.settle)
  if (passage?.settle !== undefined) whenOver(response, socket, passage.settle)
  next()
}

function giveUp(before: Passage | undefined, passage: Passage | undefined, { gone }: Exchange): void {
  before?.cancel()
  passage?.cancel()
  gone?.()
}

/** Is the connection, or the stream of HTTP/2, closed already, so that nobody will be told that it closes? */
function isGone({ response: { destroyed, closed, stream }, socket }: Exchange): boolean {
  return destroyed === true || closed === true || stream?.destroyed === true || socket.destroyed === true
}
