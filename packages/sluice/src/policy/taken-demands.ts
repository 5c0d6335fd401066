import { checkCost } from '../checks/check-value.js'
import { invalidType } from '../errors.js'
import { isConcurrency } from '../limits/index.js'
import { type Answer, type Awaitable, copiesOf, correctionsOf, type Store } from '../stores/index.js'
import type { LevelDemand } from './verdict.js'

/** The cost of each demand, if the call's cost (a number) or some attributes (an object) were other ones. */
export type CostsFor = (actual: number | object) => readonly number[]

/**
 * The units that the demands of a request took. They are settled once; those of concurrency limits are released once.
 * A store call that fails is not repeated, because it may have succeeded: a repeated refund would create units.
 *
 * The methods return the results of the store calls that they make; `undefined` if the units were settled or released before.
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
    // The caller gets the decisions too, and may change them.
    this.#answer = { ...answer, decisions: copiesOf(answer.decisions) }
    this.#costsFor = costsFor
    this.#isSettled = !answer.allowed
    this.#isReleased = !answer.allowed
  }

  settle(actual: unknown): Awaitable<unknown>[] | undefined {
    const costs = this.#costsFor(checkActual(actual))
    return this.#settle((i) => costs[i])
  }

  cancel(): Awaitable<unknown>[] | undefined {
    if (this.#isSettled && this.#isReleased) return undefined
    return [...(this.#settle(() => 0) ?? []), ...(this.release() ?? [])]
  }

  release(): Awaitable<unknown>[] | undefined {
    if (this.#isReleased) return undefined
    this.#isReleased = true
    return this.#correct(true, () => 0)
  }

  #settle(costOf: (i: number) => number): Awaitable<unknown>[] | undefined {
    if (this.#isSettled) return undefined
    this.#isSettled = true
    return this.#correct(false, costOf)
  }

  /** Changes the cost of each demand, of concurrency limits or of all others, to `costOf(i)`. */
  #correct(ofConcurrency: boolean, costOf: (i: number) => number): Awaitable<unknown>[] {
    const demands = this.#demands
    const isMeant = (i: number) => isConcurrency(demands[i].limit) === ofConcurrency
    return correctionsOf(demands, this.#answer, (i) => (isMeant(i) ? costOf(i) : demands[i].cost)).map(
      ({ demand, taken }) => (taken === undefined ? this.#store.charge(demand) : this.#store.refund(demand, taken)),
    )
  }
}

/** Checks an actual cost: the cost of the call, or attributes. */
export function checkActual(actual: unknown): number | object {
  if (typeof actual === 'object' && actual !== null && !Array.isArray(actual)) return actual
  if (typeof actual !== 'number') throw invalidType('actual', 'a number, or an object of attributes', actual)
  checkCost(actual, 'actual')
  return actual
}
