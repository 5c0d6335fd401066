import type { Decision, Limit } from '../limits/index.js'
import { quotaPolicyOf } from './quota-policy.js'
import { integerText, stringText } from './structured-field.js'

/** What of a limit's items is always the same. */
export interface Items {
  readonly label: string
  readonly policy: string
  /** Of the other item, all but the numbers. */
  readonly quota: string
  /** When something in flight is over, nobody knows. */
  readonly tellsWhen: boolean
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
    const tellsWhen = windowSeconds !== undefined
    const of = tellsWhen ? `w=${integerText(windowSeconds)}` : 'qu="concurrent-requests"'
    items = { label, policy: `${name};q=${integerText(quota)};${of}`, quota: `${name};r=`, tellsWhen }
    known.set(limit, items)
  }
  lastLimit = limit
  lastItems = items
  return items
}

/** What is left, and when there is more. */
export function quotaItem(items: Items, decision: Decision): string {
  return quotaText(items, decision.remaining, secondsUntilMore(items, decision))
}

/** After how many seconds there is more, and -1 where nobody says. */
export function secondsUntilMore({ tellsWhen }: Items, { nextUnitAfterMs }: Decision): number {
  return nextUnitAfterMs > 0 && nextUnitAfterMs < Infinity && tellsWhen ? Math.ceil(nextUnitAfterMs / 1_000) : -1
}

export function quotaText({ quota }: Items, remaining: number, seconds: number): string {
  const left = quota + integerText(remaining)
  return seconds < 0 ? left : `${left};t=${integerText(seconds)}`
}
