import type { Taken } from '../limits/index.js'

/** A place in the shared schedule. */
export interface Slot {
  /** By the clock of this process: never before it is time by the store's. */
  readonly dueMs: number
  /** By the clock of whoever gave it: this process, if the store did not answer. */
  readonly atMs: number
  /** The how-manieth that was asked for. */
  readonly order: number
  /** Is it where the store has put it? */
  readonly isAsGiven: boolean
  readonly taken: Taken
}

/** When so many have gone, the room that they had is given back as soon as it is half of all. */
const MOST_GONE = 32

/** What differences of times may be off by, which are rounded to microseconds. */
const ROUNDED_MS = 0.005

/** Slots of one length by when they are due. To take the first takes no longer if there are many, as it would from a long array. */
export class Slots {
  readonly slotMs: number
  readonly #slots: Slot[] = []
  #gone = 0

  constructor(slotMs: number) {
    this.slotMs = slotMs
  }

  get length(): number {
    return this.#slots.length - this.#gone
  }

  get first(): Slot | undefined {
    return this.#slots[this.#gone]
  }

  get last(): Slot | undefined {
    return this.length === 0 ? undefined : this.#slots[this.#slots.length - 1]
  }

  /** When all are over. */
  get endMs(): number {
    return this.last === undefined ? -Infinity : this.last.dueMs + this.slotMs
  }

  at(place: number): Slot {
    return this.#slots[this.#gone + place]
  }

  add(slot: Slot): void {
    this.#slots.splice(this.#placeOf(slot.dueMs), 0, slot)
  }

  /** Has one of another length room between these? Of a store that has forgotten nothing it always has. */
  hasRoomFor(slot: Slot, slotMs: number): boolean {
    const place = this.#placeOf(slot.dueMs)
    const before = place > this.#gone ? this.#slots[place - 1] : undefined
    const after = this.#slots[place] as Slot | undefined
    if (before !== undefined && distanceMs(before, slot) < this.slotMs - ROUNDED_MS) return false
    if (after !== undefined && distanceMs(slot, after) < slotMs - ROUNDED_MS) return false
    // Before all others: answers may come in any order, but who asked first has the first slot.
    return before !== undefined || after === undefined || after.order > slot.order
  }

  /** Are all where the store has put them? */
  get areAsGiven(): boolean {
    return this.#slots.slice(this.#gone).every(({ isAsGiven }) => isAsGiven)
  }

  /** The store's clock is no further from ours than this: nothing that it has given is due later than that says. */
  comeForward(distanceMs: number): void {
    for (let i = this.#gone; i < this.#slots.length; i++) {
      const slot = this.#slots[i]
      this.#slots[i] = { ...slot, dueMs: Math.min(slot.dueMs, slot.atMs + distanceMs) }
    }
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

  /** Behind all that are due then or before. */
  #placeOf(dueMs: number): number {
    let place = this.#slots.length
    while (place > this.#gone && this.#slots[place - 1].dueMs > dueMs) place--
    return place
  }
}

/** From one to the other: exactly, if the store's clock tells. */
function distanceMs(one: Slot, other: Slot): number {
  return one.isAsGiven && other.isAsGiven ? other.atMs - one.atMs : other.dueMs - one.dueMs
}
