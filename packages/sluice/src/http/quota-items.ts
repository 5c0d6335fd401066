import {
  type Decision,
  durationUs,
  exactRate,
  type LeakyBucket,
  type Limit,
  quotaOf,
  type TokenBucket,
  type Unlimited,
} from '../limits/index.js'

/** A limit that header fields can tell: there is no field for no limit. */
export type Quota = Exclude<Limit, Unlimited>

/**
 * One limit in header fields, as the IETF draft writes it: an item of `RateLimit-Policy`, which is the same for every
 * request (`"default";q=100;w=60`), and an item of `RateLimit` for each decision (`"default";r=42;t=1`).
 */
export class QuotaItems {
  readonly label: string
  readonly quota: number
  /** Seconds in which the whole quota comes back, at least 1. `undefined` for a concurrency limit: work ends when it ends. */
  readonly windowSeconds: number | undefined
  /** The item of `RateLimit-Policy`. */
  readonly policy: string
  readonly #beforeRemaining: string

  constructor(limit: Quota, label: string) {
    const name = stringText(label)
    this.label = label
    this.quota = quotaOf(limit)
    this.windowSeconds = windowSecondsOf(limit)
    const unit = this.windowSeconds === undefined ? 'qu="concurrent-requests"' : `w=${integerText(this.windowSeconds)}`
    this.policy = `${name};q=${integerText(this.quota)};${unit}`
    this.#beforeRemaining = `${name};r=`
  }

  /** The item of `RateLimit`: the units left and, if it is known, the seconds until there is one more. */
  remaining({ remaining, nextUnitAfterMs }: Decision): string {
    const tellsWhen = nextUnitAfterMs > 0 && nextUnitAfterMs < Infinity && this.windowSeconds !== undefined
    const left = this.#beforeRemaining + integerText(remaining)
    return tellsWhen ? `${left};t=${secondsText(nextUnitAfterMs)}` : left
  }
}

const itemsByLimit = new WeakMap<Limit, QuotaItems>()

/** The items of a limit under a label. Made once for each limit, as long as its label does not change. */
export function quotaItems(limit: Quota, label: string): QuotaItems {
  let items = itemsByLimit.get(limit)
  if (items?.label !== label) {
    items = new QuotaItems(limit, label)
    itemsByLimit.set(limit, items)
  }
  return items
}

function windowSecondsOf(limit: Quota): number | undefined {
  if (limit.algorithm === 'concurrency') return undefined
  const us = 'window' in limit ? durationUs('window', limit.window) : fillUs(limit)
  return Math.max(1, Math.ceil(us / 1_000_000) || 1)
}

/** The window of a bucket is the time in which it fills. */
function fillUs(bucket: TokenBucket | LeakyBucket): number {
  const { units, perUs } = exactRate('rate', 'refill' in bucket ? bucket.refill : bucket.drain)
  return (bucket.capacity * Number(perUs)) / Number(units)
}

/** The largest integer of a structured field (RFC 9651). */
const LARGEST_INTEGER = 999_999_999_999_999

/** A number as an integer of a structured field, which has neither fractions nor infinity. */
export function integerText(value: number): string {
  return value >= 1 ? String(Math.min(LARGEST_INTEGER, Math.trunc(value))) : '0'
}

/** Milliseconds as whole seconds, rounded up. */
export function secondsText(ms: number): string {
  return integerText(Math.ceil(ms / 1_000))
}

const NEEDS_ESCAPING = /[^\x20-\x7e]|["\\]/

/** A text as a string of a structured field. Characters outside ASCII are percent-encoded. */
function stringText(text: string): string {
  if (!NEEDS_ESCAPING.test(text)) return `"${text}"`
  const ascii = text.toWellFormed().replace(/[^\x20-\x7e]+/g, (part) => encodeURIComponent(part))
  return `"${ascii.replace(/["\\]/g, '\\$&')}"`
}
