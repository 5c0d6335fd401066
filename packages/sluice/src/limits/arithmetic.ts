import type { Decision } from './decision.js'
import type { Limit } from './limit.js'

/** Where a state lives: a few float64 words in some array. The store owns the array; the arithmetic only counts in it. */
export type Words = Float64Array

/** What is remembered of units that were taken, so that exactly those can be given back. */
export interface Taken {
  /** When they were taken, in epoch microseconds: what `takenUs` said. */
  readonly atUs: number
  /** How many were taken. */
  readonly cost: number
  /** The decision's `delayMs`: a leaky bucket's slot is known by when it departs. */
  readonly delayMs: number
  /** The decision's `degraded`: then they were not taken from the store, or nobody knows. */
  readonly degraded?: Decision['degraded'] | undefined
}

/**
 * How one limit counts: pure functions of a key's state, the time and a cost. Times are whole epoch microseconds and
 * may step back; no method ever lets that refund anything.
 *
 * A state is `words` float64 numbers from `at` in an array. It describes itself: units and times, never a number that
 * means something else under another quota or refill, so that a limit's numbers may change under a live key.
 */
export interface Arithmetic {
  readonly limit: Limit
  /** A bucket's capacity or a window's quota. */
  readonly quota: number
  /** How many words a key's state takes; for an elastic state, what an empty one takes. */
  readonly words: number
  /** A state that needs more words the more it holds: see `wordsFor`. */
  readonly elastic: boolean
  /** States of equal shape may be read by each other's limits. */
  readonly shape: string
  /**
   * A state means the same under any numbers of the algorithm, so that one serves all of them. Otherwise limits of
   * different shapes each have a view of their own, from which whatever is taken is taken.
   */
  readonly portable: boolean
  /** For states that are counted elsewhere, by the same arithmetic in another language. */
  readonly twin: Twin
  /** Writes the state of a key that has taken nothing. */
  start(words: Words, at: number, nowUs: number): void
  /** Would `cost` be allowed now? Changes nothing. */
  fits(words: Words, at: number, nowUs: number, cost: number): boolean
  /** Takes `cost`, whether it fits or not. What does not fit leaves a debt. */
  take(words: Words, at: number, nowUs: number, cost: number): void
  /** `take` for what was taken from another view of the key: where not all can be remembered, the newest are. */
  takeToo(words: Words, at: number, nowUs: number, cost: number): void
  /** `fits`, `take` if so, and `decision`, in one go: what nearly every request comes to. */
  tryTake(words: Words, at: number, nowUs: number, cost: number): Decision
  /**
   * The answer for a state as it stands, after `cost` was taken from it or, if not `allowed`, was refused. A cost of 0
   * describes what an allowed request would meet.
   */
  decision(words: Words, at: number, nowUs: number, cost: number, allowed: boolean): Decision
  /** When units that are taken now count as taken: later than now, if the state has seen a later time. */
  takenUs(words: Words, at: number, nowUs: number): number
  /** Gives units back, never beyond the whole quota: those of `taken`, if it is said, else the newest. */
  refund(words: Words, at: number, nowUs: number, units: number, taken: Taken | undefined): void
  /** Is the state now the same as no state? Then a store may forget it without loss. */
  isWhole(words: Words, at: number, nowUs: number): boolean
  /** Writes what the state of another limit of the same algorithm means under this one. */
  adopt(words: Words, at: number, nowUs: number, from: Arithmetic, fromWords: Words, fromAt: number): void
  /** How many words the state must have before `cost` more can be taken. */
  wordsFor(words: Words, at: number, nowUs: number, cost: number): number
}

/** What a twin of an arithmetic says of a state: whole numbers only. */
export interface Report {
  /** The time there, in epoch microseconds. */
  readonly nowUs: number
  /** A bucket's level, in parts; otherwise 0. */
  readonly level: number
  /** For how long a bucket's time lies ahead of the clock, in microseconds; otherwise 0. */
  readonly aheadUs: number
  /** The other numbers that tell the state are `reportLength` of these, from `at`. */
  readonly numbers: ArrayLike<number>
  readonly at: number
}

/**
 * The other half of an arithmetic whose states live elsewhere: there, a twin in another language takes and gives back;
 * here, its report of a state becomes a decision. What takes and what describes are thus never written twice.
 */
export interface Twin {
  /** The limit's numbers, in the order in which the twin wants them. */
  readonly parameters: readonly number[]
  /** How many numbers tell a state, besides a level. */
  readonly reportLength: number
  /** See {@link Arithmetic.decision}. */
  decision(report: Report, cost: number, allowed: boolean): Decision
  /** See {@link Arithmetic.takenUs}. */
  takenUs(report: Report): number
}

/** A debt stops growing here: far beyond any use, and small enough that float64 still counts whole units. */
export const LARGEST_DEBT = 1e15
