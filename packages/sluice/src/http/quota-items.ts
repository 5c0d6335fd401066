import { isConcurrency, type Limit } from '../limits/index.js'
import type { LevelDecision } from '../policy/index.js'
import { quotaPolicyOf } from './quota-policy.js'
import { integerText, stringText } from './structured-field.js'

/** What of a limit's items is always the same. */
export interface Items {
  readonly label: string
  readonly policy: string
  /** Of the other item, all but the numbers. */
  readonly quota: string
}

const known = new WeakMap<Limit, Items>()

/** What was asked for last, which is what the next one mostly asks for again. */
let lastLimit: Limit | undefined
let lastItems: Items | undefined

/** The items of a limit under a label. */
export function itemsOf(limit: Limit, label: string): Items {
  if (limit === lastLimit && lastItems?.label === label) return lastItems
  let items = known.get(limit)
  if (items?.label !== label) {
    const { quota, windowSeconds } = quotaPolicyOf(limit)
    const name = stringText(label)
    const of = windowSeconds === undefined ? 'qu="concurrent-requests"' : `w=${integerText(windowSeconds)}`
    items = { label, policy: `${name};q=${integerText(quota)};${of}`, quota: `${name};r=` }
    known.set(limit, items)
  }
  lastLimit = limit
  lastItems = items
  return items
}

/** What is left, and when there is more. */
export function quotaItem({ quota }: Items, { limit, decision }: LevelDecision): string {
  const { remaining, nextUnitAfterMs } = decision
  // When something in flight is over, nobody knows.
  const isTold = nextUnitAfterMs > 0 && nextUnitAfterMs < Infinity && !isConcurrency(limit)
  const left = quota + integerText(remaining)
  return isTold ? `${left};t=${integerText(Math.ceil(nextUnitAfterMs / 1_000))}` : left
}
