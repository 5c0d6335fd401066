import type { Demand } from '../store.js'
import type { Family } from './family.js'
import type { Space } from './space.js'

/** What is remembered of a demand while those of its request are looked at. */
export class Opened {
  name: string | undefined
  family!: Family
  space!: Space
  high = 0
  low = 0
  place = 0
  allows = false
  /** Words that were set aside for it: see `RingStorage.promise`. */
  promised = 0
  /** Where its state is, and what that was. */
  words!: Float64Array
  at = 0
  #saved = new Float64Array(4)

  use(name: string, family: Family): void {
    this.name = name
    this.family = family
  }

  /** Keeps a copy of the state's words. */
  save(count: number): void {
    if (this.#saved.length !== count) this.#saved = new Float64Array(count)
    for (let i = 0; i < count; i++) this.#saved[i] = this.words[this.at + i]
  }

  putBack(): void {
    this.words.set(this.#saved, this.at)
  }
}

/** Puts back the words of the first few, of which no two have the same. */
export function putBack(opened: readonly Opened[], count: number): void {
  for (let i = 0; i < count; i++) opened[i].putBack()
}

/** Of more than this, comparing each with each takes longer than a set. */
const FEW = 16

/** Are no two for the same state, because no two have the same name? */
export function haveOwnNames(demands: readonly Demand[]): boolean {
  if (demands.length > FEW) return new Set(demands.map(({ name }) => name)).size === demands.length
  for (let i = 1; i < demands.length; i++) {
    for (let j = 0; j < i; j++) if (demands[i].name === demands[j].name) return false
  }
  return true
}
