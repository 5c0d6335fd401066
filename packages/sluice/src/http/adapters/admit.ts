import type { Passage } from '../guard.js'
import { after } from '../turn.js'
import type { NodeResponse } from './node-messages.js'
import { whenOver } from './response-outcome.js'

/**
 * Lets a request go when it is its turn in every queue, which mostly is now. One whose client is gone by then does not go,
 * and gives back what it holds. `before` is its passage through an earlier guard.
 */
export function admit(
  before: Passage | undefined,
  passage: Passage | undefined,
  response: NodeResponse,
  next: () => void,
): void {
  const delayMs = Math.max(before?.verdict.delayMs ?? 0, passage?.verdict.delayMs ?? 0)
  const holds = before?.holds === true || passage?.holds === true
  if (delayMs === 0 && !holds) next()
  else if (isGone(response)) giveUp(before, passage)
  else if (delayMs === 0) go(before, passage, response, next)
  else {
    const stop = after(delayMs, () => {
      response.off('close', onClose)
      go(before, passage, response, next)
    })
    const onClose = () => {
      stop()
      giveUp(before, passage)
    }
    response.once('close', onClose)
  }
}

function go(before: Passage | undefined, passage: Passage | undefined, response: NodeResponse, next: () => void): void {
  if (before?.settle !== undefined) whenOver(response, before.settle)
  if (passage?.settle !== undefined) whenOver(response, passage.settle)
  next()
}

function giveUp(before: Passage | undefined, passage: Passage | undefined): void {
  before?.cancel()
  passage?.cancel()
}

/** Is the connection, or the stream of HTTP/2, closed already, so that nobody will be told that it closes? */
function isGone({ destroyed, closed, stream }: NodeResponse): boolean {
  return destroyed === true || closed === true || stream?.destroyed === true
}
