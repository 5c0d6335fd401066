import { type Decision, isConcurrency } from '../limits/index.js'
import type { Answer, Correction, Demand, OpenReservation } from './store.js'

/**
 * The corrections that change the cost of each demand to `actual(i)`. A demand that took nothing, because it was a shadow
 * and did not fit, is left as it is.
 */
export function correctionsOf(
  demands: readonly Demand[],
  { decisions, takenUs }: Answer,
  actual: (i: number) => number,
): Correction[] {
  return demands.flatMap((demand, i): Correction[] => {
    const { cost } = demand
    const { allowed, delayMs, degraded } = decisions[i]
    const wanted = actual(i)
    if (!allowed || wanted === cost) return []
    if (wanted > cost) return [{ demand: { ...demand, cost: wanted - cost }, taken: undefined }]
    return [{ demand: { ...demand, cost: cost - wanted }, taken: { atUs: takenUs[i], cost, delayMs, degraded } }]
  })
}

/** The corrections that give back everything, or with `placesOnly` the places of concurrency limits. */
export function refundsOf({ demands, answer }: Pick<OpenReservation, 'demands' | 'answer'>, placesOnly = false) {
  return correctionsOf(demands, answer, (i) => (placesOnly && !isConcurrency(demands[i].limit) ? demands[i].cost : 0))
}

/** Decisions for a caller, who may change them, beside those that later corrections are made from. */
export function copiesOf(decisions: readonly Decision[]): readonly Decision[] {
  return decisions.map((each) => ({ ...each }))
}
