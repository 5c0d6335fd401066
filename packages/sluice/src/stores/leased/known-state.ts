import { type Decision, uncountedDenial } from '../../limits/index.js'
import type { LeaseAnswer } from '../leases.js'

/**
 * What this process knows of a leased key's state in the store: the store's last answer, and how old it is. Makes decisions
 * from that and from the units in hand, and says in `asOfMs` when the store was asked.
 *
 * Example: the store said that 40 units are left, and 12 are in hand. Then `remaining` is 52, whatever other nodes have taken
 * since.
 */
export class KnownState {
  readonly #quota: number
  #answer: LeaseAnswer | undefined
  /** When the store was asked, and when its answer came. */
  #askedMs = 0
  #answeredMs = 0
  // The numbers of the answer, read once: an admission must not allocate more than its decision.
  #remaining = 0
  #nextUnitAtMs = 0
  #resetAtMs = 0
  #isInDebt = false

  constructor(quota: number) {
    this.#quota = quota
  }

  learn(answer: LeaseAnswer, askedMs: number, nowMs: number): void {
    const { allowed, remaining, nextUnitAfterMs, resetAfterMs } = answer.decisionFor(0)
    this.#answer = answer
    this.#askedMs = askedMs
    this.#answeredMs = nowMs
    this.#remaining = remaining
    this.#nextUnitAtMs = nowMs + nextUnitAfterMs
    this.#resetAtMs = nowMs + resetAfterMs
    this.#isInDebt = !allowed
  }

  /** The state was changed in the store by another call, so the last answer no longer describes it. */
  forget(): void {
    this.#answer = undefined
  }

  /** What a look tells; `undefined` if the store must be asked. */
  looked(units: number, nowMs: number): Decision | undefined {
    if (this.#answer === undefined || (units === 0 && this.#isInDebt)) return undefined
    return this.admitted(units, nowMs)
  }

  /** The decision for a request that was admitted, with so many units left in hand. */
  admitted(units: number, nowMs: number): Decision {
    const quota = this.#quota
    const known = this.#remaining + units
    const isWhole = known >= quota
    return {
      allowed: true,
      quota,
      remaining: isWhole ? quota : known,
      retryAfterMs: 0,
      nextUnitAfterMs: isWhole ? 0 : Math.max(1, Math.ceil(this.#nextUnitAtMs - nowMs)),
      resetAfterMs: isWhole ? 0 : Math.max(1, Math.ceil(this.#resetAtMs - nowMs)),
      delayMs: 0,
      asOfMs: this.#askedMs,
    }
  }

  /** The decision for a request that was denied: it is worth asking again from `againMs` on. */
  denied(cost: number, units: number, againMs: number, nowMs: number): Decision {
    const waitMs = Math.max(1, Math.ceil(againMs - nowMs))
    const decision = this.#answer?.decisionFor(cost) ?? uncountedDenial(this.#quota, waitMs)
    const sinceMs = nowMs - this.#answeredMs
    return {
      allowed: false,
      quota: this.#quota,
      remaining: Math.min(this.#quota, units),
      retryAfterMs: cost > this.#quota ? Infinity : Math.max(waitMs, Math.ceil(decision.retryAfterMs - sinceMs)),
      nextUnitAfterMs: Math.max(waitMs, Math.ceil(decision.nextUnitAfterMs - sinceMs)),
      resetAfterMs: Math.max(waitMs, Math.ceil(decision.resetAfterMs - sinceMs)),
      delayMs: 0,
      asOfMs: this.#askedMs,
    }
  }

  /** The decision for a key that is blocked until `endsMs`. */
  blocked(cost: number, endsMs: number, nowMs: number): Decision {
    const decision = uncountedDenial(this.#quota, Math.max(1, Math.ceil(endsMs - nowMs)))
    const retryAfterMs = cost > this.#quota ? Infinity : decision.retryAfterMs
    return { ...decision, retryAfterMs, asOfMs: this.#askedMs }
  }
}
