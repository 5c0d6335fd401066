import type { Logger } from './log.js'

/** The most messages that an outage is given. A cluster has one for each node. */
const MOST_MESSAGES = 10

/**
 * Tells an operator when the store goes away and when it is back. A client that connects again and again reports the same
 * error each time; the log has each message once in an outage.
 */
export class StoreLog {
  readonly #log: Logger
  readonly #rule: string
  readonly #messages = new Set<string>()

  /** `rule` is how decisions are made without the store: `open`, `closed` or `local`. */
  constructor(log: Logger, rule: string) {
    this.#log = log
    this.#rule = rule
  }

  /** A connection of the store reports an error. */
  failed(error: Error): void {
    // A connection that no address of a host accepts has an error without a message.
    const reason = error.message || (error as NodeJS.ErrnoException).code || error.name
    if (this.#messages.has(reason) || this.#messages.size >= MOST_MESSAGES) return
    this.#messages.add(reason)
    this.#log.warn({ reason, rule: this.#rule }, 'the store does not answer; decisions are made by the rule')
  }

  /** The store can be asked. */
  answers(): void {
    if (this.#messages.size === 0) return
    this.#messages.clear()
    this.#log.info('the store answers again')
  }
}
