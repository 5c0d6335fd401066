import type { Limit } from '../limits/index.js'

/** Limits, and the names of their states in the store. */
export class NamedLimits {
  readonly limits: readonly Limit[]
  readonly #name: string
  readonly #names: string[] = []
  readonly #mark: string

  constructor(limits: readonly Limit[], name: string, mark = '') {
    this.limits = limits
    this.#name = name
    this.#mark = mark
  }

  /** What keeps the states of the limit in a place apart from those of others. */
  nameOf(place: number): string {
    while (this.#names.length <= place) {
      const next = this.#names.length
      this.#names.push(next === 0 ? this.#name : `${this.#name}#${next + 1}`)
    }
    return this.#names[place]
  }

  /** The key of their states. */
  keyOf(key: string): string {
    return this.#mark === '' ? key : `${this.#mark} ${key}`
  }

  /** Other limits with the same states. */
  with(limits: readonly Limit[]): NamedLimits {
    return new NamedLimits(limits, this.#name, this.#mark)
  }
}
