import type { LeakyBucket } from '../limits/index.js'
import type { Demand } from '../stores/index.js'
import { Line } from './line.js'
import { CATCH_UP_MS } from './queue-shaper.js'
import type { ReservedKey } from './reserved-key.js'
import { type Slot, Slots } from './slots.js'

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
