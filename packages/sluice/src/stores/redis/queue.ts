import type { Call } from './call.js'

/** Calls that wait to be sent, by slot. The slot that waits longest comes first, and its calls in their order. */
export class Queue {
  readonly #slots = new Map<number, Call[]>()

  add(call: Call): void {
    const calls = this.#slots.get(call.slot)
    if (calls === undefined) this.#slots.set(call.slot, [call])
    else calls.push(call)
  }

  /** Removes and gives calls of one slot with no more than `most` keys, but one in any case; none if none is waiting. */
  next(most: number): readonly Call[] {
    for (const [slot, calls] of this.#slots) {
      this.#slots.delete(slot)
      const batch: Call[] = []
      let size = 0
      let taken = 0
      for (; taken < calls.length; taken++) {
        const call = calls[taken]
        if (call.isAnswered) continue
        if (batch.length > 0 && size + call.size > most) break
        batch.push(call)
        size += call.size
      }
      if (taken < calls.length) this.#slots.set(slot, calls.slice(taken))
      if (batch.length > 0) return batch
    }
    return []
  }
}
