import { isUnlimited, type Limit } from '../../limits/index.js'
import { type Fingerprint, KeyHash } from '../memory/key-hash.js'
import { BLOCK_CELLS } from './shared-layout.js'
import type { WordArithmetic } from './word-arithmetic.js'
import { wordsOf } from './words-of.js'

/** A limit as a store for threads knows it, under a name. Its fingerprint is mixed with that of a key. */
export interface SharedLimit extends Fingerprint {
  readonly words: WordArithmetic
  readonly isTokenBucket: boolean
  /** It keeps no state. */
  readonly isUnlimited: boolean
  readonly named: SharedName
}

/** What a thread knows of a name. Every thread computes the same fingerprints. */
export interface SharedName {
  /** All limits that this thread has used under the name. */
  readonly limits: SharedLimit[]
  readonly byLimit: WeakMap<Limit, SharedLimit>
  /** Mixed with the fingerprint of a key, those of its block and of what is remembered of its offences. */
  readonly block: Fingerprint
  readonly offence: Fingerprint
  /** Which of the cells with the end of the last block is that of the name. */
  readonly blockCell: number
}

/** The names and limits that a thread uses. A limit is known by its numbers: equal numbers share states, others do not. */
export class SharedLimits {
  readonly #startUs: number
  readonly #hash: KeyHash
  readonly #names = new Map<string, SharedName>()

  constructor(startUs: number, seed: readonly [number, number]) {
    this.#startUs = startUs
    this.#hash = new KeyHash(seed)
  }

  /** Throws if the limit does not fit in a word. */
  limitOf(name: string, limit: Limit): SharedLimit {
    const named = this.nameOf(name)
    return named.byLimit.get(limit) ?? this.#add(name, named, limit)
  }

  nameOf(name: string): SharedName {
    let named = this.#names.get(name)
    if (named === undefined) {
      const block = this.#fingerprint(['block', name])
      const blockCell = block.low & (BLOCK_CELLS - 1)
      named = { limits: [], byLimit: new WeakMap(), block, offence: this.#fingerprint(['offence', name]), blockCell }
      this.#names.set(name, named)
    }
    return named
  }

  #add(name: string, named: SharedName, limit: Limit): SharedLimit {
    const words = wordsOf(limit, this.#startUs)
    const { stateId, remote } = words.arithmetic
    const fingerprint = this.#fingerprint(['state', name, stateId, remote.parameters])
    const known = named.limits.find(({ high, low }) => high === fingerprint.high && low === fingerprint.low)
    const isTokenBucket = limit.algorithm === 'token-bucket'
    const added = known ?? { ...fingerprint, words, isTokenBucket, isUnlimited: isUnlimited(limit), named }
    if (known === undefined) named.limits.push(added)
    named.byLimit.set(limit, added)
    return added
  }

  #fingerprint(parts: readonly unknown[]): Fingerprint {
    const fingerprint = { high: 0, low: 0 }
    this.#hash.hash(JSON.stringify(parts), fingerprint)
    return fingerprint
  }
}
