import type { LimitRule } from './limit-rule.js'
import type { Outcome } from './outcome.js'

/**
 * Finds rules of which clients first look whether anything is left (`hits_addend: 0`) and count after the response. If a response costs
 * more than what is left, an ordinary rule denies those hits and counts none of them, and the next look finds the rest still there: the
 * limit limits nothing. `count_over_limit` is made for such rules.
 */
export class UncountedHits {
  readonly #found: (level: string) => void
  readonly #looked = new WeakSet<LimitRule>()
  readonly #told = new WeakSet<LimitRule>()

  /** `found` is called once for each rule, with the name of its level. */
  constructor(found: (level: string) => void) {
    this.#found = found
  }

  decided(outcomes: readonly Outcome[]): void {
    for (let i = 0; i < outcomes.length; i++) {
      const { asked, isOver, tightest } = outcomes[i]
      const { rule, hits, isRefund } = asked
      if (rule === undefined || isRefund || rule.countOverLimit) continue
      if (hits === 0) this.#looked.add(rule)
      else if (isOver && this.#looked.has(rule) && (tightest?.decision.remaining ?? 0) > 0) this.#tell(rule)
    }
  }

  #tell(rule: LimitRule): void {
    if (this.#told.has(rule)) return
    this.#told.add(rule)
    this.#found(rule.levels[0].name)
  }
}
