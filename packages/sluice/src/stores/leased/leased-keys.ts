import { arithmeticOf, type Limit } from '../../limits/index.js'
import type { LeasedKey } from './leased-key.js'
import type { LeasedLimit } from './lender.js'

/** A limit under a name, and the leased keys of its states: those of every limit of the same name and state id. */
export interface KeysOfLimit extends LeasedLimit {
  readonly keys: Map<string, LeasedKey>
}

/**
 * The leased keys of a store. A name, a key and a state id have one state, and so at most one leased key. If the numbers
 * of its limit change, the key retires: it gives back what it holds, and requests ask the store until its round ends.
 */
export class LeasedKeys {
  readonly #leaseUs: (limit: Limit) => number
  readonly #limits = new WeakMap<Limit, Map<string, KeysOfLimit>>()
  /** The keys by name and state id. */
  readonly #names = new Map<string, Map<string, Map<string, LeasedKey>>>()
  // Most programs ask for one limit again and again.
  #last: KeysOfLimit | undefined
  size = 0

  /** `leaseUs` says how long leases of a limit are for. */
  constructor(leaseUs: (limit: Limit) => number) {
    this.#leaseUs = leaseUs
  }

  limitOf(name: string, limit: Limit): KeysOfLimit {
    const last = this.#last
    if (last !== undefined && last.limit === limit && last.name === name) return last
    const known = this.#limits.get(limit)?.get(name) ?? this.#addLimit(name, limit)
    this.#last = known
    return known
  }

  /** The leased key of a demand, if it has one. */
  find(name: string, limit: Limit, key: string): LeasedKey | undefined {
    const { keys, text } = this.limitOf(name, limit)
    const leased = keys.get(key)
    if (leased === undefined || leased.limit.limit === limit || leased.limit.text === text) return leased
    leased.retire()
    return undefined
  }

  /** The leased keys of one key under a name, one for each state. */
  named(name: string, key: string): LeasedKey[] {
    const states = [...(this.#names.get(name)?.values() ?? [])]
    return states.flatMap((keys) => keys.get(key.toWellFormed()) ?? [])
  }

  add(limit: KeysOfLimit, leased: LeasedKey): void {
    limit.keys.set(leased.key, leased)
    this.size++
  }

  remove(leased: LeasedKey): void {
    const { name, limit } = leased.limit
    if (this.limitOf(name, limit).keys.delete(leased.key)) this.size--
  }

  *[Symbol.iterator](): Iterator<LeasedKey> {
    for (const states of this.#names.values()) for (const keys of states.values()) yield* keys.values()
  }

  #addLimit(name: string, limit: Limit): KeysOfLimit {
    const { stateId, quota } = arithmeticOf(limit)
    const states = this.#names.get(name) ?? new Map<string, Map<string, LeasedKey>>()
    const keys = states.get(stateId) ?? new Map<string, LeasedKey>()
    const limits = this.#limits.get(limit) ?? new Map<string, KeysOfLimit>()
    const added = { name, limit, text: JSON.stringify(limit), quota, leaseUs: this.#leaseUs(limit), keys }
    this.#names.set(name, states.set(stateId, keys))
    this.#limits.set(limit, limits.set(name, added))
    return added
  }
}
