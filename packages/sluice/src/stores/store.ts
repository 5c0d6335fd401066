import type { Clock } from '../clock.js'
import type { Decision, Limit, Taken } from '../limits/index.js'
import type { Awaitable } from './awaitable.js'
import type { OnFailure } from './on-failure.js'
import type { Overrides, SyncOverrides } from './overrides.js'

/** A limit as a store knows it. */
export interface NamedLimit {
  /** Names the limit, so that two limits with equal numbers and keys never share a state by accident. */
  readonly name: string
  readonly limit: Limit
  /** What to answer when the store cannot be asked, if it is not to be what the store says for all. */
  readonly onFailure?: OnFailure | undefined
  /** Decides and takes like any other, but when it cannot be met the others are not kept from it. */
  readonly shadow?: boolean | undefined
}

/** What one request asks of one limit. */
export interface Demand extends NamedLimit {
  /** Who is limited: any non-empty string. */
  readonly key: string
  /** Units to take: a safe integer from 0. */
  readonly cost: number
}

/** A store's answer to the demands of one request. */
export interface Answer {
  /** Every demand that is no shadow was met, and all that were met were taken. Otherwise nothing was. */
  readonly allowed: boolean
  /** One for each demand, in their order. */
  readonly decisions: readonly Decision[]
  /**
   * For each demand, when what it took counts as taken: the store's own time in epoch microseconds, or a later one that
   * the state had seen before the clock stepped back. Of one of cost 0 it is when it was decided, and of others that took
   * nothing it says nothing.
   */
  readonly takenUs: readonly number[]
}

/**
 * Where the state of limits lives. The one idea is `decide`: the demands of one request are met all together or not at
 * all, by the store's own clock. Demands for the same state (equal name, key and algorithm) are added up first, and are a
 * shadow if all of them are.
 *
 * Stores may trust their callers: names and keys are non-empty strings, costs are safe integers from 0, limits were made
 * by their functions. `sluice/testing` has the contract that every store keeps.
 *
 * A store that cannot do what it is asked throws or rejects. Limiters, policies and shapers answer such a failure, and a
 * malformed answer, by `onFailure`: that of the limit, else that of the store. Where neither is stated, it is an error.
 */
export interface Store {
  /** The clock by which it decides, if that is one of this process: whoever waits for units waits by it. */
  readonly clock?: Clock | undefined
  /** A store whose methods return values says so, and gets limiters whose methods return values. */
  readonly synchronous?: boolean
  /** What it was told to answer when it cannot be asked, if it was told. */
  readonly onFailure?: OnFailure | undefined
  /** Among how many processes `onFailure: 'local'` divides a limit: a whole number from 1 to 1,000,000. Default 1. */
  readonly instances?: number | undefined
  /**
   * The most keys, and the most timestamps of logs and concurrency limits, that `onFailure: 'local'` keeps in this process: a
   * whole number from 1 to 2^30. Default 1,000,000.
   */
  readonly maxLocalKeys?: number | undefined
  decide(demands: readonly Demand[]): Awaitable<Answer>
  /** Takes the cost whether it is there or not. The decision is that of a request of cost 0 afterwards. */
  charge(demand: Demand): Awaitable<Decision>
  /** Gives `cost` units back: those that were `taken`, if that is known, else the newest. */
  refund(demand: Demand, taken: Taken | undefined): Awaitable<Decision>
  /** Forgets all about a key: its whole quota is there, and it is not blocked. */
  reset(name: string, key: string): Awaitable<void>
  /** Denies everything to a key for so long, whatever its limit says. A later block replaces an earlier one. */
  block(name: string, key: string, durationUs: number): Awaitable<void>
  /** The overrides of the policy of that name. A store without them has policies that cannot be overridden. */
  overrides?(policy: string): Overrides
  /**
   * Hears of each limit before the first demand for it. Only for a store that answers its own failures by `onFailure`, as
   * `redisStore` does: what it would need in an outage it makes now. To have this method says that it does so, and nothing
   * is done about its failures then.
   */
  prepare?(named: NamedLimit): void
}

/** A store that answers at once. */
export interface SyncStore extends Store {
  readonly synchronous: true
  decide(demands: readonly Demand[]): Answer
  /** `decide` for one demand: the same answer, with nothing else allocated. */
  decideOne(name: string, limit: Limit, key: string, cost: number): Decision
  charge(demand: Demand): Decision
  refund(demand: Demand, taken: Taken | undefined): Decision
  reset(name: string, key: string): void
  block(name: string, key: string, durationUs: number): void
  overrides?(policy: string): SyncOverrides
}

/** A store that answers later. */
export interface AsyncStore extends Store {
  readonly synchronous?: false
  decide(demands: readonly Demand[]): Promise<Answer>
  charge(demand: Demand): Promise<Decision>
  refund(demand: Demand, taken: Taken | undefined): Promise<Decision>
  reset(name: string, key: string): Promise<void>
  block(name: string, key: string, durationUs: number): Promise<void>
}
