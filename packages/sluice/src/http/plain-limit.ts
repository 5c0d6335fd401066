import type { Limiter } from '../limiter/index.js'
import type { Decision } from '../limits/index.js'
import type { Verdict } from '../policy/index.js'
import type { LimitAtOnce } from './gate.js'
import { type Items, itemsOf, quotaText, secondsUntilMore } from './quota-items.js'

/** What is left, whole seconds until there is more, and what that is in a field. */
interface Told {
  readonly remaining: number
  readonly seconds: number
  readonly text: string
}

/** As many as the clients of a limit are told in turn. A power of two. */
const MOST_TOLD = 256

/**
 * The usual case: one limit that answers at once, and nothing to do but decide and tell the quota. What it says of a request
 * is a text. In front of a handler that does little, each object and each function on the way is felt.
 */
export class PlainLimit<Request> {
  readonly policyField: string
  readonly verdictOf: (decision: Decision) => Verdict
  readonly #limiter: Limiter
  readonly #keyOf: (request: Request) => string
  readonly #options: { readonly cost: number } | undefined
  readonly #items: Items
  /** What was told lately, each in the place that its numbers lead to. */
  readonly #told: (Told | undefined)[] = new Array(MOST_TOLD).fill(undefined)

  constructor({ limiter, keyOf, verdictOf }: LimitAtOnce<Request>, cost: number | undefined) {
    this.#limiter = limiter
    this.#keyOf = keyOf
    this.verdictOf = verdictOf
    this.#options = cost === undefined ? undefined : { cost }
    this.#items = itemsOf(limiter.limit, limiter.name)
    this.policyField = this.#items.policy
  }

  decide(request: Request): Decision {
    return this.#limiter.tryAcquire(this.#keyOf(request), this.#options)
  }

  /**
   * Clients are told the same few numbers again and again, and a new text costs more than it seems to: it is put together
   * from pieces when the response is written.
   */
  quotaField(decision: Decision): string {
    const { remaining } = decision
    const seconds = secondsUntilMore(this.#items, decision)
    const place = (remaining + seconds) & (MOST_TOLD - 1)
    const last = this.#told[place]
    if (last !== undefined && last.remaining === remaining && last.seconds === seconds) return last.text
    const text = quotaText(this.#items, remaining, seconds)
    this.#told[place] = { remaining, seconds, text }
    return text
  }
}
