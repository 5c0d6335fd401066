import { nearestName } from 'sluice'
import type { Logger } from '../serve/log.js'

const MOST_NAMES = 1_000

/**
 * Warns once of each attribute that the policy does not ask about, if the request lacks one of nearly the same name. Without
 * that, a misspelt attribute would skip its levels silently. Such a request is not refused, because a policy may ask about
 * other attributes tomorrow.
 */
export class MisspeltAttributes {
  readonly #log: Pick<Logger, 'warn'>
  /** Names that were looked at before. Clients choose them, so the set is bounded. */
  readonly #seen = new Set<string>()

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log
  }

  look(attributes: object, asked: readonly string[]): void {
    for (const name in attributes) if (!asked.includes(name)) this.#lookAt(name, attributes, asked)
  }

  #lookAt(attribute: string, attributes: object, asked: readonly string[]): void {
    if (this.#seen.has(attribute) || this.#seen.size >= MOST_NAMES) return
    this.#seen.add(attribute)
    const absent = asked.filter((name) => !Object.hasOwn(attributes, name))
    const didYouMean = nearestName(attribute, absent)
    if (didYouMean === undefined) return
    const message =
      'a request has an attribute that the policy does not ask about, and lacks one of nearly the same name'
    this.#log.warn({ attribute: attribute.slice(0, 100), didYouMean }, message)
  }
}
