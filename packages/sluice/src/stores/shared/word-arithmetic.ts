import type { Arithmetic, Decision, Taken } from '../../limits/index.js'
import type { StateWord } from './state-word.js'

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
