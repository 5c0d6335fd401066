import { CATCH_UP_MS } from '../clock.js'
import type { Taken } from '../limits/index.js'

/** A departure time that a store has reserved for this process. */
export interface Slot {
  /** When it comes, by the clock of this process: never before it comes by the store's clock. */
  readonly dueMs: number
  /** The same time by the clock that gave it: the store's, or that of this process if the store did not answer. */
  readonly atMs: number
  /** The number of its question. Slots that were asked for earlier come earlier. */
  readonly order: number
  /** False if this process has moved it away from where the store had put it. */
  readonly isAsGiven: boolean
  readonly taken: Taken
}

/** Compact the array once this many slots have gone, if they are half of it. */
const MOST_GONE = 32

/** Times are rounded to microseconds, so differences of times may be wrong by this much. */
const ROUNDED_MS = 0.005

/** If every slot has been missed for so long, a waiter may leave by a slot that has passed. */
const STUCK_MS = 1000

/** Slots of one length (cost / drain), by the time at which they are due. */
export class Slots {
  readonly slotMs: number
  readonly #slots: Slot[] = []
  /** So many at the start of the array have gone: removing the first element of a long array would be slow. */
  #gone = 0
  /** Since when every slot has been missed. */
  #missingSinceMs = Infinity

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

  /** When the last slot is over. */
  get endMs(): number {
    return this.last === undefined ? -Infinity : this.last.dueMs + this.slotMs
  }

  /** Are all slots where the store has put them? */
  get areAsGiven(): boolean {
    return this.#slots.slice(this.#gone).every(({ isAsGiven }) => isAsGiven)
  }

  at(index: number): Slot {
    return this.#slots[this.#gone + index]
  }

  add(slot: Slot): void {
    this.#slots.splice(this.#indexFor(slot.dueMs), 0, slot)
  }

  /**
   * Is there room between these slots for another slot of length `slotMs`? Always, unless the store has failed or has lost
   * its data.
   */
  hasRoomFor(slot: Slot, slotMs: number): boolean {
    const index = this.#indexFor(slot.dueMs)
    const before = index > this.#gone ? this.#slots[index - 1] : undefined
    const after = this.#slots[index] as Slot | undefined
    if (before !== undefined && distanceMs(before, slot) < this.slotMs - ROUNDED_MS) return false
    if (after !== undefined && distanceMs(slot, after) < slotMs - ROUNDED_MS) return false
    // It would come before all others. Answers arrive in any order, but only an earlier question gets an earlier slot.
    return before !== undefined || after === undefined || after.order > slot.order
  }

  /** The gap to the store's clock is at most `mostGapMs`: moves slots forward that were put later than that. */
  moveForward(mostGapMs: number): void {
    for (let i = this.#gone; i < this.#slots.length; i++) {
      const slot = this.#slots[i]
      this.#slots[i] = { ...slot, dueMs: Math.min(slot.dueMs, slot.atMs + mostGapMs) }
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

  /**
   * Returns true if a slot is lost because it came too long ago: a waiter that left by it now would be too close to one of
   * another process. A slot is kept for CATCH_UP_MS, or for its own length if that is longer, so that a process whose alarms
   * are always late does not ask for ever. If all slots have been lost for STUCK_MS, one is kept: otherwise no waiter would
   * ever leave a process that is always held up.
   */
  lose({ dueMs }: Slot, nowMs: number): boolean {
    if (nowMs - dueMs > Math.max(CATCH_UP_MS, this.slotMs)) {
      this.#missingSinceMs = Math.min(this.#missingSinceMs, nowMs)
      if (nowMs - this.#missingSinceMs < STUCK_MS) return true
    }
    this.#missingSinceMs = Infinity
    return false
  }

  /** The index after all slots that are due at `dueMs` or earlier. */
  #indexFor(dueMs: number): number {
    let index = this.#slots.length
    while (index > this.#gone && this.#slots[index - 1].dueMs > dueMs) index--
    return index
  }
}

/** The distance by the store's clock, which is exact, if the store has put both where they are. */
function distanceMs(one: Slot, other: Slot): number {
  return one.isAsGiven && other.isAsGiven ? other.atMs - one.atMs : other.dueMs - one.dueMs
}

/**
 * Returns the slot as it fits between `all` slots of its key; `own` are those of its length. The store keeps them apart
 * itself, unless it has failed or has lost its data: then the slot goes behind all others.
 */
export function keepApart(slot: Slot, own: Slots, all: readonly Slots[]): Slot {
  // A cost of 0 takes no room.
  const others = own.slotMs === 0 ? [] : all.filter(({ slotMs }) => slotMs > 0)
  if (!others.every((slots) => slots.hasRoomFor(slot, own.slotMs))) {
    const endMs = Math.max(...others.map((slots) => slots.endMs))
    return { ...slot, dueMs: Math.max(slot.dueMs, endMs), isAsGiven: false }
  }
  // The gap between the clocks becomes known better and better, which must not bring the last two slots closer.
  const isLast = own.last !== undefined && own.last.dueMs <= slot.dueMs
  return isLast && own.endMs > slot.dueMs ? { ...slot, dueMs: own.endMs } : slot
}
