import type { Limit } from '../../limits/index.js'
import type { Demand } from '../store.js'
import type { KeyHash } from './key-hash.js'
import type { Space } from './space.js'

/** One of several demands that may name the same state, and what the store finds out before it takes. */
export class AddedDemand {
  readonly name: string
  readonly limit: Limit
  /** The key's fingerprint. */
  readonly high: number
  readonly low: number
  /** The first demand for the same state, which takes for all of them. */
  readonly first: AddedDemand
  #cost = 0
  #isShadow = true
  /** Where the state was opened. */
  space!: Space
  place = 0
  allows = false
  /** Is it the one that takes, if all can be met? */
  takes = false
  /** Units that demands before this one are going to take from states that keys share in the same space. */
  sharedBefore = 0
  /** Words that are set aside for it: see `RingStorage.promise`. */
  promised = 0

  constructor({ name, limit }: Demand, high: number, low: number, first: AddedDemand | undefined) {
    this.name = name
    this.limit = limit
    this.high = high
    this.low = low
    this.first = first ?? this
  }

  add({ cost, shadow = false }: Demand): void {
    this.#cost += cost
    this.#isShadow &&= shadow
  }

  get isFirst(): boolean {
    return this.first === this
  }

  /** What all demands for the same state ask for together. */
  get cost(): number {
    return this.first.#cost
  }

  /** Are all demands for the same state shadows? */
  get shadow(): boolean {
    return this.first.#isShadow
  }
}

/** Adds up the demands that name the same state: equal name, key and algorithm. */
export function addedDemands(demands: readonly Demand[], hash: KeyHash): readonly AddedDemand[] {
  const firsts = new Map<string, AddedDemand>()
  return demands.map((demand) => {
    const high = hash.of(demand.key)
    const { low } = hash
    const state = `${demand.limit.algorithm} ${high} ${low} ${demand.name}`
    const added = new AddedDemand(demand, high, low, firsts.get(state))
    if (added.isFirst) firsts.set(state, added)
    added.first.add(demand)
    return added
  })
}
