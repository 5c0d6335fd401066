import type { Arithmetic, Taken, Twin, Words } from './arithmetic.js'
import { Bucket, SINCE } from './bucket.js'
import type { Decision } from './decision.js'
import type { Limit } from './limit.js'
import { bothUsers, NOBODY } from './users.js'

/**
 * A bucket of which the state also says, in a last word, which limits use it. So it is known when it is whole for all of
 * them, which no single limit's numbers tell, and from then on it is as if it had never been. Who is only told to wait uses
 * it too: the wait has to be true.
 */
class MixedBucket implements Arithmetic {
  readonly limit: Limit
  readonly quota: number
  readonly words: number
  readonly elastic = false
  readonly shape: string
  readonly portable = true
  readonly twin: Twin
  readonly #bucket: Bucket
  readonly #usersAt: number

  constructor(bucket: Bucket) {
    this.#bucket = bucket
    this.#usersAt = bucket.words
    this.words = bucket.words + 1
    this.limit = bucket.limit
    this.quota = bucket.quota
    this.shape = bucket.shape
    this.twin = bucket.twin
  }

  start(words: Words, at: number, nowUs: number): void {
    this.#bucket.start(words, at, nowUs)
    words[at + this.#usersAt] = NOBODY
  }

  fits(words: Words, at: number, nowUs: number, cost: number): boolean {
    this.#open(words, at, nowUs)
    return this.#bucket.fits(words, at, nowUs, cost)
  }

  take(words: Words, at: number, nowUs: number, cost: number): void {
    this.#open(words, at, nowUs)
    this.#bucket.take(words, at, nowUs, cost)
    if (words[at + this.#usersAt] === NOBODY) words[at + this.#usersAt] = this.#bucket.users
  }

  takeToo(words: Words, at: number, nowUs: number, cost: number): void {
    this.take(words, at, nowUs, cost)
  }

  tryTake(words: Words, at: number, nowUs: number, cost: number): Decision {
    this.#open(words, at, nowUs)
    const decision = this.#bucket.tryTake(words, at, nowUs, cost)
    if (words[at + this.#usersAt] === NOBODY && decision.allowed && cost > 0)
      words[at + this.#usersAt] = this.#bucket.users
    return decision
  }

  decision(words: Words, at: number, nowUs: number, cost: number, allowed: boolean): Decision {
    this.#open(words, at, nowUs)
    return this.#bucket.decision(words, at, nowUs, cost, allowed)
  }

  takenUs(words: Words, at: number, nowUs: number): number {
    return this.#bucket.takenUs(words, at, nowUs)
  }

  refund(words: Words, at: number, nowUs: number, units: number, taken: Taken | undefined): void {
    this.#open(words, at, nowUs)
    this.#bucket.refund(words, at, nowUs, units, taken)
    if (this.#isOwn(words, at) && this.#bucket.isWhole(words, at, nowUs)) this.start(words, at, nowUs)
  }

  isWhole(words: Words, at: number, nowUs: number): boolean {
    const users = words[at + this.#usersAt]
    return users === NOBODY || nowUs - words[at + SINCE] >= this.#bucket.wholeAfterUs(words, at, users)
  }

  /** The state of a bucket that only one limit has used does not say so. */
  adopt(words: Words, at: number, _nowUs: number, from: Arithmetic, fromWords: Words, fromAt: number): void {
    for (let i = 0; i < from.words; i++) words[at + i] = fromWords[fromAt + i]
    if (from instanceof Bucket) words[at + this.#usersAt] = from.users
  }

  wordsFor(): number {
    return this.words
  }

  /** Begins a use by this limit: a state that is whole for all before is none. */
  #open(words: Words, at: number, nowUs: number): void {
    if (this.#isOwn(words, at)) return
    // Whoever looked at none before has left it as it looked to them.
    if (this.isWhole(words, at, nowUs)) this.start(words, at, nowUs)
    else words[at + this.#usersAt] = bothUsers(words[at + this.#usersAt], this.#bucket.users)
  }

  /** Has no other limit used the state? */
  #isOwn(words: Words, at: number): boolean {
    return words[at + this.#usersAt] === this.#bucket.users
  }
}

/** How a limit of a portable state counts where limits with other numbers use the state too. */
export function mixed(arithmetic: Arithmetic): Arithmetic {
  return arithmetic instanceof Bucket ? new MixedBucket(arithmetic) : arithmetic
}
