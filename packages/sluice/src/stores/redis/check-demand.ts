import { checkCost, checkKey } from '../../checks/check-value.js'
import { arithmeticOf } from '../../limits/index.js'
import { checkOnFailure } from '../on-failure.js'
import type { Demand } from '../store.js'

/** A demand shares its way to Redis with those of others, so a wrong one must not come that far. */
export function checkDemand({ name, limit, key, cost, onFailure }: Demand): void {
  checkKey(name, 'name')
  checkKey(key)
  checkCost(cost)
  arithmeticOf(limit)
  if (onFailure !== undefined) checkOnFailure(onFailure)
}
