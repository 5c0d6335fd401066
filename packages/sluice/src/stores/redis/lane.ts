import { Breaker } from './breaker.js'

/** In a cluster, neighbouring slots mostly live on the same server: they fail and recover together. */
const SLOTS_A_LANE = 256

/** A way to a server. */
export interface Lane {
  readonly breaker: Breaker
  /** A key that leads to the server: what failed last. */
  key: string
  probe: NodeJS.Timeout | undefined
}

export class Lanes {
  readonly #lanes = new Map<number, Lane>()

  of(slot: number): Lane {
    const number = Math.floor(slot / SLOTS_A_LANE)
    let lane = this.#lanes.get(number)
    if (lane === undefined) {
      lane = { breaker: new Breaker(), key: '', probe: undefined }
      this.#lanes.set(number, lane)
    }
    return lane
  }

  get isAnyOpen(): boolean {
    for (const { breaker } of this.#lanes.values()) if (breaker.isOpen) return true
    return false
  }
}
