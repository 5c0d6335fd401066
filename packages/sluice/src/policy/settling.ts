import { invalidType } from '../errors.js'
import { checkCost } from '../limits/index.js'
import type { Answer, Awaitable, Store } from '../stores/index.js'
import type { LevelDemand } from './verdict.js'

/** What each demand would have cost, if a call's cost or some attributes had been others. */
export type CostsFor = (actual: number | object) => readonly number[]

/** As a real cost: nothing in any level, whatever the level says. */
export const CANCELLED = Symbol('cancelled')

/**
 * Settles what the demands of a request took: a function of the real cost that does so once. Whatever becomes of the
 * calls that it makes, none is made again: units given back twice would be units for free.
 */
export function settlingAll(
  store: Store,
  demands: readonly LevelDemand[],
  answer: Answer,
  costsFor: CostsFor,
): (actual: unknown) => Awaitable<unknown>[] {
  let open = answer.allowed
  return (actual) => {
    const costs = actual === CANCELLED ? demands.map(() => 0) : costsFor(checkActual(actual))
    if (!open) return []
    open = false
    return demands.flatMap((demand, i) => {
      const { cost } = demand
      const { allowed, delayMs, degraded } = answer.decisions[i]
      // A shadow that denied has taken nothing.
      if (!allowed || costs[i] === cost) return []
      if (costs[i] > cost) return [store.charge({ ...demand, cost: costs[i] - cost })]
      return [
        store.giveBack({ ...demand, cost: cost - costs[i] }, { atUs: answer.takenUs[i], cost, delayMs, degraded }),
      ]
    })
  }
}

function checkActual(actual: unknown): number | object {
  if (typeof actual === 'object' && actual !== null && !Array.isArray(actual)) return actual
  if (typeof actual !== 'number') throw invalidType('actual', 'a number, or an object of attributes', actual)
  checkCost(actual, 'actual')
  return actual
}
