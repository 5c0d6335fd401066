import type { Limiter } from '../limiter/index.js'
import type { Decision } from '../limits/index.js'
import type { Verdict } from '../policy/index.js'
import { type Items, itemsOf, quotaItem } from './quota-items.js'
import { verdictOfOne } from './verdict-of-one.js'

/**
 * The usual case: one limit that answers at once, and nothing to do but decide and tell the quota. What it says of a request
 * is a text. In front of a handler that does little, each object and each function on the way is felt.
 */
export class PlainLimit<Request> {
  readonly policyField: string
  readonly #limiter: Limiter
  readonly #keyOf: (request: Request) => string
  readonly #options: { readonly cost: number } | undefined
  readonly #items: Items

  constructor(limiter: Limiter, keyOf: (request: Request) => string, cost: number | undefined) {
    this.#limiter = limiter
    this.#keyOf = keyOf
    this.#options = cost === undefined ? undefined : { cost }
    this.#items = itemsOf(limiter.limit, limiter.name)
    this.policyField = this.#items.policy
  }

  decide(request: Request): Decision {
    return this.#limiter.tryAcquire(this.#keyOf(request), this.#options)
  }

  quotaField(decision: Decision): string {
    return quotaItem(this.#items, decision)
  }

  verdict(decision: Decision): Verdict {
    const { name, limit } = this.#limiter
    return verdictOfOne({ name, limit, decision })
  }
}
