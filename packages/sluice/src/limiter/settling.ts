import { checkCost } from '../checks/check-value.js'
import type { Decision } from '../limits/index.js'
import type { Answer, Awaitable, Demand, Store } from '../stores/index.js'

/**
 * Settles what `demand` took by `answer`: a function of the real cost that does so once, by one call of the store or
 * none. Whatever that call's fate, it is never made again: units given back twice would be units for free.
 */
export function settling(
  store: Store,
  demand: Demand,
  answer: Answer,
): (actual: number) => Awaitable<Decision> | undefined {
  const { cost } = demand
  const [{ delayMs, degraded }] = answer.decisions
  const [atUs] = answer.takenUs
  let open = answer.allowed
  return (actual) => {
    checkCost(actual, 'actual')
    if (!open) return undefined
    open = false
    if (actual < cost) return store.refund({ ...demand, cost: cost - actual }, { atUs, cost, delayMs, degraded })
    return actual > cost ? store.charge({ ...demand, cost: actual - cost }) : undefined
  }
}
