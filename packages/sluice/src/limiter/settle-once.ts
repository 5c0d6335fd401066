import { checkCost } from '../checks/check-value.js'
import type { Decision } from '../limits/index.js'
import type { Answer, Awaitable, Demand, Store } from '../stores/index.js'

/**
 * Returns a function that settles what `demand` took by `answer`, given the real cost: it refunds what was too much, or
 * charges what was too little. Only its first call takes effect, even if the store fails: units refunded twice would be
 * units for free. It returns the store's decision, or `undefined` if it did not call the store.
 */
export function settleOnce(
  store: Store,
  demand: Demand,
  answer: Answer,
): (actual: number) => Awaitable<Decision> | undefined {
  const { cost } = demand
  const [{ delayMs, degraded }] = answer.decisions
  const [atUs] = answer.takenUs
  let isOpen = answer.allowed
  return (actual) => {
    checkCost(actual, 'actual')
    if (!isOpen) return undefined
    isOpen = false
    if (actual < cost) return store.refund({ ...demand, cost: cost - actual }, { atUs, cost, delayMs, degraded })
    return actual > cost ? store.charge({ ...demand, cost: actual - cost }) : undefined
  }
}
