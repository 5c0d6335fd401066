import { warn } from '../errors.js'

/** A store warns of this many limits, and not of more. */
const MOST_WARNINGS = 5

/**
 * Warns once of each limit that a store cannot serve as its user may expect. A program that makes limits without end gets a
 * few warnings, and not as many as it has limits.
 */
export class LimitWarnings {
  readonly #code: string
  readonly #names = new Set<string>()

  /** `code` is that of the process warning, such as `'SLUICE_NOT_LEASED'`. */
  constructor(code: string) {
    this.#code = code
  }

  warn(name: string, message: string): void {
    if (this.#names.has(name) || this.#names.size === MOST_WARNINGS) return
    this.#names.add(name)
    warn(message, this.#code)
  }
}
