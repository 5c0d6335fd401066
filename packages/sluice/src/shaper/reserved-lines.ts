import type { LeakyBucket } from '../limits/index.js'
import type { Demand } from '../stores/index.js'
import { Line, type Waiter } from './line.js'
import { CATCH_UP_MS } from './queue-shaper.js'
import { type Slot, Slots } from './slots.js'

/** So many who came and went are not worth forgetting. */
const FEW = 64
/** The most that a store is asked for at a time: what mostly leaves in one call of Redis. */
const LARGEST_ROUND = 128

/** Where all slots have been missed for so long, one may leave by a slot that has passed. */
const STUCK_MS = 1000

/** Those of a key and cost who wait, and the slots that are reserved for them: whoever is first takes the first. */
export class ReservedLine extends Line {
  readonly of: ReservedKey
  readonly demand: Demand
  readonly slots: Slots
  /** How many more are being asked for. */
  asked = 0
  /** Since when every slot has been missed. */
  #missingSinceMs = Infinity

  constructor(
    id: string,
    of: ReservedKey,
    demand: Demand,
    slotMs: number,
    due: (line: ReservedLine, nowMs: number) => void,
  ) {
    super(id, (demand.limit as LeakyBucket).capacity, (line, nowMs) => due(line as ReservedLine, nowMs))
    this.of = of
    this.demand = demand
    this.slots = new Slots(slotMs)
  }

  /** How many wait for whom there will be no slot. */
  get lacking(): number {
    return this.size - this.slots.length - this.asked
  }

  /**
   * A slot is kept for a while, or until the next one begins, lest a process whose alarms are always late asks for ever. One
   * that is missed is lost: who would leave by it would be too close to somebody elsewhere. Not where all have been missed for
   * a long time: else a process that is always held up would never let anybody go.
   */
  hasMissed({ dueMs }: Slot, nowMs: number): boolean {
    if (nowMs - dueMs > Math.max(CATCH_UP_MS, this.slots.slotMs)) {
      this.#missingSinceMs = Math.min(this.#missingSinceMs, nowMs)
      if (nowMs - this.#missingSinceMs < STUCK_MS) return true
    }
    this.#missingSinceMs = Infinity
    return false
  }
}

/**
 * All of a key: a line for each cost, and those for whom the store is yet to be asked, because they came in a pause or have lost
 * their slots. It is asked in rounds, each twice as large as the one before, and again with one after it has said no: else
 * all would ask each time that there is room for one.
 */
export class ReservedKey {
  readonly lines = new Map<number, ReservedLine>()
  /** Before then the store has no slot for those who have none. */
  fullUntilMs = -Infinity
  /** How many of this round are being asked for. */
  underway = 0
  #round = 1
  /** Who came while nobody was asked for, in that order, over all lines. */
  #arrivals: Waiter[] = []

  /** Units of all who wait. */
  get waiting(): number {
    let units = 0
    for (const line of this.lines.values()) units += line.waiting
    return units
  }

  /** Is anybody to be asked for before whoever comes now? */
  get hasArrivals(): boolean {
    return this.#arrivals.length > 0
  }

  arrived(waiter: Waiter): void {
    this.#arrivals.push(waiter)
    if (this.#arrivals.length <= FEW) return
    let size = 0
    for (const line of this.lines.values()) size += line.size
    if (this.#arrivals.length > FEW + 2 * size) this.#forgetGone()
  }

  /** The lines of those who are asked for next: first who have lost their slots, then the others as they came. */
  nextRound(): readonly ReservedLine[] {
    this.#forgetGone()
    const arrivals = new Map<Line, number>()
    for (const { line } of this.#arrivals) arrivals.set(line, (arrivals.get(line) ?? 0) + 1)
    const next: ReservedLine[] = []
    for (const line of this.lines.values())
      for (let i = line.lacking - (arrivals.get(line) ?? 0); i > 0 && next.length < this.#round; i--) next.push(line)
    const taken = this.#arrivals.splice(0, this.#round - next.length)
    next.push(...taken.map(({ line }) => line as ReservedLine))
    this.underway = next.length
    return next
  }

  /** One of the round has been answered. */
  answered(isGiven: boolean): void {
    this.underway--
    this.#round = isGiven ? Math.min(LARGEST_ROUND, this.#round + 1) : 1
  }

  /**
   * A slot never closer to those that are held than it would be if they were of the same schedule. They are not where the store
   * has failed, or has forgotten what it had given: then it goes behind all of them.
   */
  placed(slot: Slot, { slots }: ReservedLine): Slot {
    let endMs = -Infinity
    let hasRoom = true
    for (const { slots: others } of this.lines.values()) {
      // Who takes nothing is in nobody's way.
      if (slots.slotMs === 0 || others.slotMs === 0) continue
      endMs = Math.max(endMs, others.endMs)
      hasRoom &&= others.hasRoomFor(slot, slots.slotMs)
    }
    if (!hasRoom) return { ...slot, dueMs: Math.max(slot.dueMs, endMs), isAsGiven: false }
    // How far the clocks are apart is known better and better: that is no reason to leave closer.
    const { last } = slots
    const isLast = last !== undefined && last.dueMs <= slot.dueMs
    return isLast && slots.endMs > slot.dueMs ? { ...slot, dueMs: slots.endMs } : slot
  }

  #forgetGone(): void {
    this.#arrivals = this.#arrivals.filter(({ place }) => place >= 0)
  }
}
