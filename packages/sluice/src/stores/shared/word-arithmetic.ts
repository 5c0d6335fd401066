import { InvalidValueError } from '../../errors.js'
import { type Arithmetic, arithmeticOf, type Decision, type Limit, type Taken } from '../../limits/index.js'
import { BucketWords } from './bucket-words.js'
import type { StateWord } from './state-word.js'
import { WindowWords } from './window-words.js'

/**
 * How one limit counts in one word. Between reading a word and writing the next one, a state is one number: what is `used`
 * now, in parts for a bucket and in units for a window. 0 is a whole state. Times are microseconds since the store began.
 */
export interface WordArithmetic {
  readonly arithmetic: Arithmetic
  /** What a state has used now. */
  used(word: StateWord, nowUs: number): number
  /** Would `cost` be allowed now? */
  fits(used: number, cost: number): boolean
  /** What is used after `cost` was taken, whether it fits or not. */
  plus(used: number, cost: number): number
  /** What is used after `units` were given back: those of `taken` if it is given, else the newest. */
  minus(used: number, word: StateWord, nowUs: number, units: number, taken: Taken | undefined): number
  /** Replaces the word that was read by the one for what is used now. */
  write(word: StateWord, nowUs: number, used: number): void
  /** See {@link Arithmetic.decision}. */
  decision(used: number, word: StateWord, nowUs: number, cost: number, allowed: boolean): Decision
  /** See {@link Arithmetic.takenUs}. */
  takenUs(used: number, word: StateWord, nowUs: number): number
}

/** What to use instead of a limit that does not fit in a word. */
const INSTEAD =
  'a store for threads keeps a state in 64 bits. Use a token bucket, a leaky bucket or a fixed window, or memoryStore() in each thread'

/** How a limit counts in a store that began at `startUs`. Throws if its states do not fit in a word. */
export function wordArithmetic(limit: Limit, startUs: number): WordArithmetic {
  const arithmetic = arithmeticOf(limit)
  const { algorithm } = arithmetic.limit
  if (algorithm === 'token-bucket' || algorithm === 'leaky-bucket') return new BucketWords(arithmetic, startUs)
  if (algorithm === 'fixed-window') return new WindowWords(arithmetic, startUs)
  throw new InvalidValueError(`sharedStore cannot keep a limit of the algorithm '${algorithm}': ${INSTEAD}`, {
    option: 'limit',
  })
}
