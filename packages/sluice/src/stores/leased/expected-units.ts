import type { LeasedLimit } from './lender.js'

/** A key asks for so much more than it expects to spend. */
const MARGIN = 1.25
/** After this share of a lease time, a key foresees from the requests of the round how many will come until its end. */
const FORESEEN = 1 / 8
/** A request for more than this share of the quota asks the store directly: its units would be missed by other nodes. */
const LARGE = 0.25

/**
 * How many units a key expects to spend in a round: what it was asked for lately. Example: after rounds with 40 requests and then
 * with none, it expects 40, then 20, then 10.
 */
export class ExpectedUnits {
  readonly #leaseMs: number
  /** The most that a key expects before it was asked for so much. */
  readonly #most: number
  #expected: number
  #asked = 0
  #roundBeganMs: number

  constructor({ quota, leaseUs }: LeasedLimit, first: number, nowMs: number) {
    this.#leaseMs = leaseUs / 1_000
    this.#most = quota * LARGE
    this.#expected = Math.min(first, this.#most)
    this.#roundBeganMs = nowMs
  }

  /** Counts a request, unless it is so large that leases do not serve it. */
  add(cost: number): void {
    if (cost <= Math.max(1, this.#most)) this.#asked += cost
  }

  get units(): number {
    return Math.max(this.#asked, this.#expected)
  }

  /** May a request of this cost wait for units on lease? A larger one would take units that it then cannot use. */
  serves(cost: number): boolean {
    return cost <= Math.max(1, this.#expected)
  }

  endRound(nowMs: number): void {
    this.#expected = Math.max(this.#asked, (this.#expected + this.#asked) / 2)
    this.#asked = 0
    this.#roundBeganMs = nowMs
  }

  forget(): void {
    this.#expected = 0
    this.#asked = 0
  }

  /** How many units a key should have in hand after it has asked. */
  target(nowMs: number): number {
    return Math.ceil(MARGIN * Math.max(this.#expected, this.#askedByEndOfRound(nowMs)))
  }

  /**
   * What the requests of this round will have asked for at its end, if they go on as they began, so that a load which grows
   * costs few calls. Example: if 10 units were asked for in a quarter of a lease time, it is 40, but at most a quarter of the
   * quota: a short burst must not take everything.
   */
  #askedByEndOfRound(nowMs: number): number {
    const share = (nowMs - this.#roundBeganMs) / this.#leaseMs
    if (share < FORESEEN || share > 1) return this.#asked
    return Math.max(this.#asked, Math.min(this.#asked / share, this.#most))
  }
}
