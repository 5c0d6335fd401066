import { invalidType, invalidValue } from '../errors.js'

/** A cost is a safe integer from 0; anything else is an error, before any state was looked at. */
export function checkCost(cost: unknown, option = 'cost'): asserts cost is number {
  if (Number.isSafeInteger(cost) && (cost as number) >= 0) return
  const wanted = 'a whole number from 0 to 9,007,199,254,740,991'
  throw typeof cost === 'number' ? invalidValue(option, wanted, cost) : invalidType(option, wanted, cost)
}
