import { systemClock } from '../../clock.js'
import type { Decision, Limit } from '../../limits/index.js'
import type { Answer, Demand, Store } from '../../stores/index.js'
import { settling } from '../settling.js'
import { Waiters } from './waiters.js'

/** Those who wait for units of a limit, by the store's clock. */
export function unitWaiters(
  store: Store,
  limit: Limit,
  demand: (key: string, cost: number) => Demand,
): Waiters<Answer> {
  return new Waiters({
    limit,
    clock: store.clock ?? systemClock,
    isShared: store.synchronous !== true,
    take: (key, cost) => store.decide([demand(key, cost)]),
    refund: (key, cost, answer) => settling(store, demand(key, cost), answer)(0),
  })
}

/** What one who has waited is told: the slot that it was given has come, so that nobody waits for it twice. */
export function heldDecision({ decisions: [decision] }: Answer): Decision {
  return decision.delayMs > 0 ? { ...decision, delayMs: 0 } : decision
}
