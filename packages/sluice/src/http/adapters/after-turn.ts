import type { Passage } from '../guard.js'
import { after } from '../turn.js'
import type { NodeResponse } from './node-messages.js'

/**
 * Runs `next` when it is the turn of a request in every queue, which mostly is now. A client that is gone before that does
 * not take it.
 */
export function afterTurn(passages: readonly (Passage | undefined)[], response: NodeResponse, next: () => void): void {
  let delayMs = 0
  for (const passage of passages) if (passage !== undefined) delayMs = Math.max(delayMs, passage.verdict.delayMs)
  if (delayMs === 0) {
    next()
    return
  }
  const isGone = () => {
    stop()
    for (const passage of passages) passage?.cancel()
  }
  const stop = after(delayMs, () => {
    response.off('close', isGone)
    next()
  })
  response.once('close', isGone)
}
