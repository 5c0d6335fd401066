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
  /** Where to look for what the other item was lately. */
  readonly place: number
}

const known = new WeakMap<Limit, Items>()
let nextPlace = 0

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
    items = { label, policy: `${name};q=${integerText(quota)};${of}`, quota: `${name};r=`, place: nextPlace }
    nextPlace += PLACES
    known.set(limit, items)
  }
  lastLimit = limit
  lastItems = items
  return items
}

/** How many texts are kept, of all limits. A power of two. */
const KEPT = 4_096
/** How far apart those of two limits begin: any odd number. */
const PLACES = 509

interface QuotaItem {
  readonly items: Items
  readonly remaining: number
  readonly seconds: number | undefined
  readonly text: string
}

/** What was written lately, each at its place. */
const lately = new Array<QuotaItem | undefined>(KEPT).fill(undefined)

/**
 * Most clients have about as much left as another had a moment ago. A text that is there already is not only sooner found
 * than made: Node.js looks at each character of a field, which takes long for one that has just been put together.
 */
export function quotaItem(items: Items, { limit, decision }: LevelDecision): string {
  const { remaining, nextUnitAfterMs } = decision
  // When something in flight is over, nobody knows.
  const isTold = nextUnitAfterMs > 0 && nextUnitAfterMs < Infinity && !isConcurrency(limit)
  const seconds = isTold ? Math.ceil(nextUnitAfterMs / 1_000) : undefined
  const place = (items.place + remaining) & (KEPT - 1)
  const last = lately[place]
  if (last?.items === items && last.remaining === remaining && last.seconds === seconds) return last.text
  const text = items.quota + integerText(remaining) + (seconds === undefined ? '' : `;t=${integerText(seconds)}`)
  lately[place] = { items, remaining, seconds, text }
  return text
}
