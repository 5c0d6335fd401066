import type { Decision } from './decision.js'
import type { Limit } from './limit.js'

/** An array of float64 words that holds a state. The store owns the array; the arithmetic only counts in it. */
export type Words = Float64Array

/** Identifies units that were taken, so that a refund gives back exactly those. */
export interface Taken {
  /** When the units were taken, in epoch microseconds: the answer's `takenUs`. */
  readonly atUs: number
  /** How many units were taken. */
  readonly cost: number
  /** The decision's `delayMs`: a leaky bucket recognises a slot by its departure time. */
  readonly delayMs: number
  /** The decision's `degraded`. If set, the units were not taken from the store, or it is not known whether they were. */
  readonly degraded?: Decision['degraded'] | undefined
}

/**
 * How one limit counts: pure functions of a key's state, the time and a cost. Times are whole epoch microseconds. A time
 * may be earlier than the one before; no method adds units because of that.
 *
 * A state is `words` float64 numbers from index `at` of an array. It holds units and times, so another limit of the same
 * `stateId` reads it as it stands, whatever its quota or rate.
 */
export interface Arithmetic {
  readonly limit: Limit
  /** A bucket's capacity, a window's quota, or a concurrency limit's maximum; `Infinity` without a limit. */
  readonly quota: number
  /** How many words a key's state takes. An elastic state takes at least this many. If 0, there is no state to keep. */
  readonly words: number
  /** Set if a state needs more words the more it holds. */
  readonly elastic: ElasticState | undefined
  /**
   * Limits of equal `stateId` share one state for each name and key: `'token-bucket'`, `'fixed-window/1m'`. The algorithm
   * and, for windows, the length, slices and alignment belong to it. Quotas, capacities, rates and a `ttl` do not.
   */
  readonly stateId: string
  /** For states that are counted elsewhere by the same arithmetic in another language. */
  readonly remote: RemoteArithmetic
  /** Writes the state of a key that has taken nothing. */
  start(words: Words, at: number, nowUs: number): void
  /** Would `cost` be allowed now? Changes nothing. */
  fits(words: Words, at: number, nowUs: number, cost: number): boolean
  /** Takes `cost`, whether it fits or not. Units that do not fit leave a debt. */
  take(words: Words, at: number, nowUs: number, cost: number): void
  /** `fits`, `take` if it fits, and `decision`, in one call: the path of nearly every request. */
  tryTake(words: Words, at: number, nowUs: number, cost: number): Decision
  /**
   * Describes the state after `cost` was taken from it or, if not `allowed`, was refused. A cost of 0 describes the state
   * that the next request meets.
   */
  decision(words: Words, at: number, nowUs: number, cost: number, allowed: boolean): Decision
  /**
   * Units left now, with the fraction that a bucket has gained of the next one: half-way to the first it is 0.5. Its whole
   * part is the decision's `remaining`.
   */
  level(words: Words, at: number, nowUs: number): number
  /** When units taken now count as taken: later than `nowUs` if the state has seen a later time. */
  takenUs(words: Words, at: number, nowUs: number): number
  /**
   * Adds units, never beyond the whole quota: those of `taken` if it is given, else the newest. Returns false if it changed
   * nothing, because there are no such units any more.
   */
  refund(words: Words, at: number, nowUs: number, units: number, taken: Taken | undefined): boolean
  /** Does the state equal no state now? Then a store may forget it without loss. */
  isWhole(words: Words, at: number, nowUs: number): boolean
}

/** An arithmetic whose states grow: a log needs a word for each unit it remembers. Such a state has an array of its own. */
export interface ElasticState {
  /** How many words the state must have before `cost` more units can be taken. */
  wordsFor(words: Words, nowUs: number, cost: number): number
  /** A copy of the state in an array of `size` words. */
  resized(words: Words, size: number): Words
}

/** A state as the remote twin of an arithmetic reports it: whole numbers only. */
export interface Report {
  /** The time there, in epoch microseconds. */
  readonly nowUs: number
  /** A bucket's tokens, in parts; otherwise 0. */
  readonly tokens: number
  /** How far a bucket's time lies ahead of the clock, in microseconds; otherwise 0. */
  readonly aheadUs: number
  /** Holds the state's other numbers: `reportLength` of them from index `at`. */
  readonly numbers: ArrayLike<number>
  readonly at: number
}

/**
 * An arithmetic whose states live elsewhere, as in Redis. A twin in another language takes and refunds there and reports
 * the state; `decision` describes the report here. So neither language repeats the other's half.
 */
export interface RemoteArithmetic {
  /** The limit's numbers, in the order in which the twin expects them. */
  readonly parameters: readonly number[]
  /** How many numbers describe a state, besides a bucket's tokens. */
  readonly reportLength: number
  /** See {@link Arithmetic.decision}. */
  decision(report: Report, cost: number, allowed: boolean): Decision
  /** See {@link Arithmetic.takenUs}. */
  takenUs(report: Report): number
}

/** A debt stops growing here, in units: far beyond any use, and small enough that float64 still counts whole units. */
export const LARGEST_DEBT = 1e15

const arithmetics = new WeakMap<Limit, Arithmetic>()

/** Keeps the arithmetic of a limit that its function has just made, so that the limit is parsed once. */
export function remember<A extends Arithmetic>(arithmetic: A): A {
  arithmetics.set(arithmetic.limit, arithmetic)
  return arithmetic
}

/** The arithmetic of a limit made by its function; `undefined` for an object that merely looks like a limit. */
export function remembered(limit: Limit): Arithmetic | undefined {
  return arithmetics.get(limit)
}
