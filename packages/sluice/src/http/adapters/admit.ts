import type { Passage } from '../guard.js'
import { after } from '../turn.js'
import type { NodeResponse } from './node-messages.js'
import { whenOver } from './response-outcome.js'

/**
 * Lets a request go when it is its turn in every queue, which mostly is now. One whose client is gone by then does not go,
 * and gives back what it holds.
 */
export function admit(passages: readonly (Passage | undefined)[], response: NodeResponse, next: () => void): void {
  let delayMs = 0
  for (const passage of passages) if (passage !== undefined) delayMs = Math.max(delayMs, passage.verdict.delayMs)
  const go = () => {
    for (const passage of passages) if (passage?.settle !== undefined) whenOver(response, passage.settle)
    next()
  }
  const giveUp = () => {
    for (const passage of passages) passage?.cancel()
  }
  if (isGone(response)) giveUp()
  else if (delayMs === 0) go()
  else {
    const stop = after(delayMs, () => {
      response.off('close', onClose)
      go()
    })
    const onClose = () => {
      stop()
      giveUp()
    }
    response.once('close', onClose)
  }
}

/** Is the connection, or the stream of HTTP/2, closed already, so that nobody will be told that it closes? */
function isGone({ destroyed, closed, stream }: NodeResponse): boolean {
  return destroyed === true || closed === true || stream?.destroyed === true
}
