import { Lane, type LaneOptions } from './lane.js'

/**
 * In a cluster, neighbouring slots mostly live on the same server: they fail and recover together. Few enough that not
 * many share a lane with those of another server, and enough that an outage is soon known.
 */
const SLOTS_A_LANE = 16

/** Of all lanes together, a probe runs about this often at most. */
const PROBE_EVERY_MS = 20

/** When a lane closes, the others are probed within this many milliseconds for each that is open, and within a second. */
const HURRY_MS = 1
const LONGEST_HURRY_MS = 1_000

export interface LanesOptions extends LaneOptions {
  /** Gives numbers from 0 to 1, so that the probes of a fleet do not come in step. */
  readonly random: () => number
}

/** The lanes of all slots. Many that are open probe no more often than a few, until one of them finds its server back. */
export class Lanes {
  readonly #options: LaneOptions
  readonly #random: () => number
  readonly #lanes = new Map<number, Lane>()
  #open = 0

  constructor({ random, ...options }: LanesOptions) {
    this.#random = random
    this.#options = {
      ...options,
      onBreaker: (state, error) => {
        this.#open += state === 'open' ? 1 : -1
        if (state === 'closed') this.#hurry()
        options.onBreaker(state, error)
      },
    }
  }

  of(slot: number): Lane {
    const number = Math.floor(slot / SLOTS_A_LANE)
    let lane = this.#lanes.get(number)
    if (lane === undefined) {
      lane = new Lane(this.#options, (waitMs) => this.#pace(waitMs))
      this.#lanes.set(number, lane)
    }
    return lane
  }

  get isAnyOpen(): boolean {
    return this.#open > 0
  }

  #pace(waitMs: number): number {
    return Math.max(waitMs, PROBE_EVERY_MS * (this.#open - 1)) * (0.75 + this.#random() / 2)
  }

  /** Others may be back as well. */
  #hurry(): void {
    const withinMs = Math.min(HURRY_MS * this.#open, LONGEST_HURRY_MS)
    if (this.#open > 0) for (const lane of this.#lanes.values()) lane.hurry(withinMs * this.#random())
  }
}
