import type { Demand } from '../store.js'
import type { KeyHash } from './key-hash.js'

/** A demand with its key's fingerprint. */
interface AddedDemand extends Omit<Demand, 'key' | 'onFailure'> {
  readonly high: number
  readonly low: number
  /** What all demands for the same state ask for together. */
  cost: number
  /** The first of those, which takes for all of them. */
  first: boolean
  /** Are all of them? */
  shadow: boolean
}

/** Adds up the demands that name the same state: equal name, key and algorithm. */
export function addedDemands(demands: readonly Demand[], hash: KeyHash): readonly AddedDemand[] {
  const added = demands.map(({ name, limit, key, cost, shadow = false }): AddedDemand => {
    const high = hash.of(key)
    return { name, limit, high, low: hash.low, cost, first: true, shadow }
  })
  const firstOf = ({ name, high, low, limit }: AddedDemand) =>
    added.find(
      (other) =>
        other.high === high && other.low === low && other.name === name && other.limit.algorithm === limit.algorithm,
    ) as AddedDemand
  for (const demand of added) {
    const first = firstOf(demand)
    demand.first = first === demand
    if (demand.first) continue
    first.cost += demand.cost
    first.shadow &&= demand.shadow
  }
  for (const demand of added) {
    const { cost, shadow } = firstOf(demand)
    demand.cost = cost
    demand.shadow = shadow
  }
  return added
}
