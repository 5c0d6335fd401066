import { checkCost } from '../checks/check-value.js'
import { invalidType } from '../errors.js'
import { isConcurrency } from '../limits/index.js'
import type { Answer, Awaitable, Store } from '../stores/index.js'
import type { LevelDemand } from './verdict.js'

/** What each demand would have cost, if a call's cost or some attributes had been others. */
export type CostsFor = (actual: number | object) => readonly number[]

/**
 * What the demands of a request took, to be settled once, and to be released once where it is in flight. Whatever becomes
 * of the calls that this makes, none is made again: units given back twice would be units for free.
 */
export class TakenDemands {
  readonly #store: Store
  readonly #demands: readonly LevelDemand[]
  readonly #answer: Answer
  readonly #costsFor: CostsFor
  #isSettled: boolean
  #isReleased: boolean

  constructor(store: Store, demands: readonly LevelDemand[], answer: Answer, costsFor: CostsFor) {
    this.#store = store
    this.#demands = demands
    this.#answer = answer
    this.#costsFor = costsFor
    this.#isSettled = !answer.allowed
    this.#isReleased = !answer.allowed
  }

  settle(actual: unknown): Awaitable<unknown>[] {
    const costs = this.#costsFor(checkActual(actual))
    return this.#settle((i) => costs[i])
  }

  cancel(): Awaitable<unknown>[] {
    return [...this.#settle(() => 0), ...this.release()]
  }

  release(): Awaitable<unknown>[] {
    if (this.#isReleased) return []
    this.#isReleased = true
    return this.#correct(true, () => 0)
  }

  #settle(costOf: (place: number) => number): Awaitable<unknown>[] {
    if (this.#isSettled) return []
    this.#isSettled = true
    return this.#correct(false, costOf)
  }

  /** Makes the costs of what is in flight, or of all else, what they should have been. */
  #correct(isInFlight: boolean, costOf: (place: number) => number): Awaitable<unknown>[] {
    const { decisions, takenUs } = this.#answer
    return this.#demands.flatMap((demand, i) => {
      const { cost } = demand
      const { allowed, delayMs, degraded } = decisions[i]
      const actual = costOf(i)
      // A shadow that denied has taken nothing.
      if (isConcurrency(demand.limit) !== isInFlight || !allowed || actual === cost) return []
      if (actual > cost) return [this.#store.charge({ ...demand, cost: actual - cost })]
      return [this.#store.refund({ ...demand, cost: cost - actual }, { atUs: takenUs[i], cost, delayMs, degraded })]
    })
  }
}

function checkActual(actual: unknown): number | object {
  if (typeof actual === 'object' && actual !== null && !Array.isArray(actual)) return actual
  if (typeof actual !== 'number') throw invalidType('actual', 'a number, or an object of attributes', actual)
  checkCost(actual, 'actual')
  return actual
}
