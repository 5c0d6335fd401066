import type { Turn } from '../turns.js'
import type { Breaker } from './breakers.js'
import type { ScriptCall } from './script-call.js'

/** A call that was made. */
export interface PendingCall {
  readonly call: ScriptCall<unknown>
  readonly breaker: Breaker
  readonly turn: Turn<PendingCall>
  answer(answer: unknown): void
  isAnswered: boolean
  /** The batch that it was sent with, once it has been sent. `open` counts its calls that have no answer yet. */
  sent: { open: number } | undefined
}

/**
 * Calls that wait to be sent, oldest first. In a cluster only calls for the same keys are sent together: while a hash slot
 * moves, some of its keys are on one server and some on the other, and Redis refuses a script that names both.
 */
export class Queue {
  readonly #isCluster: boolean
  /** The calls that may be sent together; in a cluster by their keys. The line that has waited longest is the first. */
  readonly #lines = new Map<string, PendingCall[]>()

  constructor(isCluster: boolean) {
    this.#isCluster = isCluster
  }

  add(pending: PendingCall): void {
    const name = this.#isCluster ? pending.call.keys.join(' ') : ''
    const line = this.#lines.get(name)
    if (line === undefined) this.#lines.set(name, [pending])
    else line.push(pending)
  }

  /**
   * Removes and returns the calls of the next batch: at most `mostCalls`, with at most `mostKeys` keys together unless the
   * first call alone has more. Drops calls that were answered at their deadline. Returns none if none waits.
   */
  next(mostCalls: number, mostKeys: number): readonly PendingCall[] {
    for (const [name, line] of this.#lines) {
      const batch: PendingCall[] = []
      let keys = 0
      let taken = 0
      for (; taken < line.length && batch.length < mostCalls; taken++) {
        const pending = line[taken]
        if (pending.isAnswered) continue
        keys += pending.call.keys.length
        if (batch.length > 0 && keys > mostKeys) break
        batch.push(pending)
      }
      // The rest of the line goes behind the other lines.
      this.#lines.delete(name)
      if (taken < line.length) this.#lines.set(name, line.slice(taken))
      if (batch.length > 0) return batch
    }
    return []
  }
}
