import type { Call } from './call.js'

interface Slot {
  calls: Call[]
  /** How many keys they name. */
  size: number
}

/** Calls that wait to be sent, by slot. The slot that waits longest comes first, and its calls in their order. */
export class Queue {
  readonly #slots = new Map<number, Slot>()
  readonly #waiting: Slot[] = []

  add(call: Call): void {
    let slot = this.#slots.get(call.slot)
    if (slot === undefined) {
      slot = { calls: [], size: 0 }
      this.#slots.set(call.slot, slot)
    }
    if (slot.calls.length === 0) this.#waiting.push(slot)
    slot.calls.push(call)
    slot.size += call.size
  }

  /** Removes and gives calls of one slot with no more than `most` keys, but one in any case; none if none is waiting. */
  next(most: number): readonly Call[] {
    for (let slot = this.#waiting.shift(); slot !== undefined; slot = this.#waiting.shift()) {
      const calls = slot.calls.filter(isWaiting)
      const count = slot.size <= most ? calls.length : countWithin(calls, most)
      slot.calls = []
      slot.size = 0
      for (let i = count; i < calls.length; i++) this.add(calls[i])
      if (count > 0) return count === calls.length ? calls : calls.slice(0, count)
    }
    return []
  }
}

/** Those who were answered at their deadline do not wait any more. */
function isWaiting(call: Call): boolean {
  return !call.isAnswered
}

function countWithin(calls: readonly Call[], most: number): number {
  let size = 0
  const beyond = calls.findIndex((call) => {
    size += call.size
    return size > most
  })
  return beyond < 0 ? calls.length : Math.max(1, beyond)
}
