import type { Taken } from '../limits/index.js'

/** A place in the shared schedule. */
export interface Slot {
  /** By the clock of this process: never before it is time by the store's. */
  readonly dueMs: number
  /** By the store's. */
  readonly atMs: number
  readonly taken: Taken
}

/** When so many have gone, the room that they had is given back as soon as it is half of all. */
const MOST_GONE = 32

/** Slots by when they are due. To take the first takes no longer if there are many, as it would from a long array. */
export class Slots {
  readonly #slots: Slot[] = []
  #gone = 0

  get length(): number {
    return this.#slots.length - this.#gone
  }

  get first(): Slot | undefined {
    return this.#slots[this.#gone]
  }

  get last(): Slot | undefined {
    return this.length === 0 ? undefined : this.#slots[this.#slots.length - 1]
  }

  at(place: number): Slot {
    return this.#slots[this.#gone + place]
  }

  add(slot: Slot): void {
    let at = this.#slots.length
    while (at > this.#gone && this.#slots[at - 1].dueMs > slot.dueMs) at--
    this.#slots.splice(at, 0, slot)
  }

  removeFirst(): void {
    this.#gone++
    if (this.#gone <= MOST_GONE || 2 * this.#gone < this.#slots.length) return
    this.#slots.splice(0, this.#gone)
    this.#gone = 0
  }

  removeLast(): Slot {
    return this.#slots.pop() as Slot
  }
}
