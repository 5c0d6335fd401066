import type { LeaseAnswer } from '../leases.js'
import type { LeasedLimit } from './lender.js'

/** A key that is blocked or has no units looks again after this long, because another process may have changed that. */
export const LOOK_AGAIN_MS = 1_000
/** An answer that was long under way says little about the present: it is believed for so many lease times from the question. */
const BELIEVED = 1.25

/**
 * What the store lacked when it was asked last: for how long it has no unit to lend, and which cost it denied. While that
 * holds, this process denies by itself.
 */
export class Shortage {
  #dryUntilMs = -Infinity
  /** Until `#deniedUntilMs` the store denies this cost and larger ones. It is worth asking again at `#againMs`. */
  #deniedCost = Infinity
  #deniedUntilMs = -Infinity
  #againMs = -Infinity

  /** Has the store no more units than it granted last? */
  isDry(nowMs: number): boolean {
    return nowMs < this.#dryUntilMs
  }

  denies(cost: number, nowMs: number): boolean {
    return nowMs < this.#dryUntilMs || (cost >= this.#deniedCost && nowMs < this.#deniedUntilMs)
  }

  /** When a request of this cost that is denied now may ask again. */
  againMs(cost: number): number {
    return cost >= this.#deniedCost ? Math.max(this.#dryUntilMs, this.#againMs) : this.#dryUntilMs
  }

  /** The store was asked at `askedMs` and had too few units: it has none until the round ends, or until one comes as it said. */
  dry(answer: LeaseAnswer, askedMs: number, roundEndsMs: number, { leaseUs }: LeasedLimit): void {
    const unitAfterMs = Math.min(LOOK_AGAIN_MS, answer.decisionFor(1).retryAfterMs)
    const believedMs = Math.min(roundEndsMs, askedMs + (BELIEVED * leaseUs) / 1_000)
    this.#dryUntilMs = Math.max(believedMs, askedMs + unitAfterMs)
  }

  /** The store denied a request of this cost, and said when it is worth asking again. Is remembered at most until `untilMs`. */
  denied(cost: number, againMs: number, untilMs: number): void {
    this.#deniedCost = cost
    this.#againMs = againMs
    this.#deniedUntilMs = Math.min(againMs, untilMs)
  }

  forget(): void {
    this.#dryUntilMs = -Infinity
    this.#deniedUntilMs = -Infinity
    this.#deniedCost = Infinity
  }
}
