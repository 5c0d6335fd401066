import type { Limit } from '../limits/index.js'

/** A list of limits, with the names and keys of their states in the store. */
export class NamedLimits {
  readonly limits: readonly Limit[]
  readonly #name: string
  readonly #names: string[] = []
  readonly #keyPrefix: string

  constructor(limits: readonly Limit[], name: string, keyPrefix = '') {
    this.limits = limits
    this.#name = name
    this.#keyPrefix = keyPrefix
  }

  /** The name of the states of the limit at index `i`: `api/user`, `api/user#2`, … */
  nameOf(i: number): string {
    while (this.#names.length <= i) {
      const next = this.#names.length
      this.#names.push(next === 0 ? this.#name : `${this.#name}#${next + 1}`)
    }
    return this.#names[i]
  }

  /** The key of the states, for a key of the level. */
  keyOf(key: string): string {
    return this.#keyPrefix === '' ? key : `${this.#keyPrefix} ${key}`
  }

  /** Other limits on the same states. */
  with(limits: readonly Limit[]): NamedLimits {
    return new NamedLimits(limits, this.#name, this.#keyPrefix)
  }
}
