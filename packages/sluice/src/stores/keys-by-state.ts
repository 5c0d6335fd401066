import { arithmeticOf, type Limit } from '../limits/index.js'

/** A limit under a name, and what is kept for the keys of its states: those of every limit of the same name and state id. */
export interface KeysOfLimit<Kept> {
  readonly name: string
  readonly limit: Limit
  readonly keys: Map<string, Kept>
}

/**
 * What a store keeps for keys. A name, a key and a state id have one state, and so at most one entry. `Facts` are worked out
 * once for each limit. A key with a lone surrogate shares the state of another key, so it is added as that key, or not at all.
 */
export class KeysByState<Facts extends object, Kept extends { readonly key: string }> {
  readonly #factsOf: (name: string, limit: Limit) => Facts
  readonly #limits = new WeakMap<Limit, Map<string, KeysOfLimit<Kept> & Facts>>()
  /** The keys by name and state id. */
  readonly #names = new Map<string, Map<string, Map<string, Kept>>>()
  // Most programs ask for one limit again and again.
  #last: (KeysOfLimit<Kept> & Facts) | undefined
  size = 0

  constructor(factsOf: (name: string, limit: Limit) => Facts) {
    this.#factsOf = factsOf
  }

  limitOf(name: string, limit: Limit): KeysOfLimit<Kept> & Facts {
    const last = this.#last
    if (last !== undefined && last.limit === limit && last.name === name) return last
    const known = this.#limits.get(limit)?.get(name) ?? this.#addLimit(name, limit)
    this.#last = known
    return known
  }

  /** What is kept for one key under a name, for each of its states. */
  named(name: string, key: string): Kept[] {
    const states = [...(this.#names.get(name)?.values() ?? [])]
    return states.flatMap((keys) => keys.get(key.toWellFormed()) ?? [])
  }

  add({ keys }: KeysOfLimit<Kept>, kept: Kept): void {
    keys.set(kept.key, kept)
    this.size++
  }

  remove({ keys }: KeysOfLimit<Kept>, { key }: Kept): void {
    if (keys.delete(key)) this.size--
  }

  *[Symbol.iterator](): Generator<Kept> {
    for (const states of this.#names.values()) for (const keys of states.values()) yield* keys.values()
  }

  #addLimit(name: string, limit: Limit): KeysOfLimit<Kept> & Facts {
    const { stateId } = arithmeticOf(limit)
    const states = this.#names.get(name) ?? new Map<string, Map<string, Kept>>()
    const keys = states.get(stateId) ?? new Map<string, Kept>()
    const limits = this.#limits.get(limit) ?? new Map<string, KeysOfLimit<Kept> & Facts>()
    const added = { ...this.#factsOf(name, limit), name, limit, keys }
    this.#names.set(name, states.set(stateId, keys))
    this.#limits.set(limit, limits.set(name, added))
    return added
  }
}
