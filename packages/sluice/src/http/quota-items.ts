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
  /** Texts of the other item that were asked for lately, each in the place that its numbers lead to. */
  readonly lately: QuotaText[]
}

/** What is left, whole seconds until there is more (0 where nobody says), and what that is in a field. */
interface QuotaText {
  readonly remaining: number
  readonly seconds: number
  readonly text: string
}

/** As many texts as most clients of a limit are told in turn. A power of two. */
const TEXTS = 256

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
    items = { label, policy: `${name};q=${integerText(quota)};${of}`, quota: `${name};r=`, tellsWhen, lately: [] }
    known.set(limit, items)
  }
  lastLimit = limit
  lastItems = items
  return items
}

/**
 * What is left, and when there is more. Clients are told the same few numbers again and again, and a new text costs more
 * than it seems to: it is put together from pieces when the response is written.
 */
export function quotaItem({ quota, tellsWhen, lately }: Items, { remaining, nextUnitAfterMs }: Decision): string {
  const isTold = nextUnitAfterMs > 0 && nextUnitAfterMs < Infinity && tellsWhen
  const seconds = isTold ? Math.ceil(nextUnitAfterMs / 1_000) : 0
  const place = (remaining + seconds) & (TEXTS - 1)
  const last = lately[place]
  if (last !== undefined && last.remaining === remaining && last.seconds === seconds) return last.text
  const left = quota + integerText(remaining)
  const text = isTold ? `${left};t=${integerText(seconds)}` : left
  lately[place] = { remaining, seconds, text }
  return text
}
