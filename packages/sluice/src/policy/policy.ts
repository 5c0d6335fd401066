import type { PolicyProblem } from '../errors.js'
import type { CostOptions } from '../limiter/index.js'
import type { Decision, Limit } from '../limits/index.js'
import type { Explanation } from './explain.js'
import type { AttributeValue, PathValue } from './matching/facts.js'

/** The answer of one level that matched a request. A level with several limits has one for each. */
export interface LevelDecision {
  readonly name: string
  /** The limit in force: the level's own, or an override. */
  readonly limit: Limit
  readonly decision: Decision
  /** Present on a level that only watches: its decision has denied nothing. */
  readonly shadow?: true
}

/** The answer to one request under a policy. */
export interface Verdict {
  /** Every level that matched allowed it, and all have taken. Otherwise none has. */
  readonly allowed: boolean
  /** The names of the levels that denied, in the order of the policy. */
  readonly deniedBy: readonly string[]
  /** Every level that matched, in the order of the policy. */
  readonly levels: readonly LevelDecision[]
  /** The longest of those of the levels that denied: 0 when allowed, `Infinity` when waiting cannot help. */
  readonly retryAfterMs: number
  /** The longest of those of the levels: wait this long before going. */
  readonly delayMs: number
  /**
   * Absent, or how the answer was made without its store: the first of `'closed'`, `'open'` and `'local'` that a level's
   * decision says. `'overrides'`: the store decided, but did not tell the run-time overrides in time, so that limits may
   * have been others than those in force.
   */
  readonly degraded?: 'open' | 'closed' | 'local' | 'overrides'
}

/**
 * A request: what is known of it. Those attributes that the policy asks about must be said, if only to be absent; others
 * do no harm. Where the compiler does not know the attributes, it is any object.
 */
export type PolicyRequest<Attribute extends string> = string extends Attribute
  ? object
  : { readonly [A in Attribute]: A extends 'path' ? PathValue : AttributeValue }

/** What `reset` may say. */
export interface ResetOptions<LevelName extends string> {
  /** Only these levels. Default: all that match, those with one state for everybody included. */
  readonly levels?: readonly LevelName[]
}

/** What an override may say. */
export interface OverrideOptions {
  /** When it ends: a date, or epoch milliseconds. Default: when it is removed. */
  readonly until?: Date | number
}

/** Who an override is for: the level's key; a list, if that has several parts or none. */
export type OverrideKey = string | number | readonly (string | number)[]

/** What policies on every store have. */
interface PolicyFacts<Attribute extends string> {
  readonly name: string
  /** The attributes that it asks about. */
  readonly attributes: readonly Attribute[]
  /** Is a leaky bucket among the limits, so that a verdict may say to wait for a turn (`delayMs`)? */
  readonly queues: boolean
  /** May a concurrency limit be among the limits, so that a request has to be released when it is over? */
  readonly leases: boolean
  /** Levels that can never deny. */
  readonly warnings: readonly PolicyProblem[]
}

/** An ordered set of levels that a request passes all together or not at all, on a store that answers at once. */
export interface Policy<Attribute extends string = string, LevelName extends string = string>
  extends PolicyFacts<Attribute> {
  /** Takes from every level that matches, or from none. A denial is a value. */
  check<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Verdict
  /** How things stand: what `check` would say to a cost of 0. Takes nothing. */
  peek<Request extends PolicyRequest<Attribute>>(request: Request): Verdict
  /** Takes from every level that matches, whether it is there or not, and may leave debts. */
  charge<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Verdict
  /** Gives back to every level that matches. */
  refund<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Verdict
  /** Takes an estimated cost now; the reservation settles the real one later. */
  reserve<Request extends PolicyRequest<Attribute>>(
    request: Request,
    options?: CostOptions,
  ): PolicyReservation<Attribute>
  /** Forgets the keys of the levels that match: their whole quota is there. */
  reset<Request extends PolicyRequest<Attribute>>(request: Request, options?: ResetOptions<LevelName>): void
  /** Other limits for one key of a level, from now on. Kept by the store, so that all who share it share them. */
  override(level: LevelName, key: OverrideKey, limit: Limit | readonly Limit[], options?: OverrideOptions): void
  /** The level's own limits again. */
  removeOverride(level: LevelName, key: OverrideKey): void
  /** Which levels match and why, their keys, limits and costs, and how things stand. Takes nothing. */
  explain<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): readonly Explanation[]
}

/** The same on a store that answers later: every method returns a promise. */
export interface AsyncPolicy<Attribute extends string = string, LevelName extends string = string>
  extends PolicyFacts<Attribute> {
  /** See {@link Policy.check}. */
  check<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Promise<Verdict>
  /** See {@link Policy.peek}. */
  peek<Request extends PolicyRequest<Attribute>>(request: Request): Promise<Verdict>
  /** See {@link Policy.charge}. */
  charge<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Promise<Verdict>
  /** See {@link Policy.refund}. */
  refund<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Promise<Verdict>
  /** See {@link Policy.reserve}. */
  reserve<Request extends PolicyRequest<Attribute>>(
    request: Request,
    options?: CostOptions,
  ): Promise<AsyncPolicyReservation<Attribute>>
  /** See {@link Policy.reset}. */
  reset<Request extends PolicyRequest<Attribute>>(request: Request, options?: ResetOptions<LevelName>): Promise<void>
  /** See {@link Policy.override}. On Redis, every process knows of it within two seconds. */
  override(
    level: LevelName,
    key: OverrideKey,
    limit: Limit | readonly Limit[],
    options?: OverrideOptions,
  ): Promise<void>
  /** See {@link Policy.removeOverride}. */
  removeOverride(level: LevelName, key: OverrideKey): Promise<void>
  /** See {@link Policy.explain}. */
  explain<Request extends PolicyRequest<Attribute>>(
    request: Request,
    options?: CostOptions,
  ): Promise<readonly Explanation[]>
}

/**
 * What a request really cost: the cost of the call, as a number, or the attributes that levels take their costs from.
 */
export type ActualCost<Attribute extends string> = number | { readonly [A in Attribute]?: AttributeValue }

/**
 * Units taken from every level before their real number is known. Only the first call of `settle` or `cancel` counts;
 * without any, the units stay taken; after a denial neither does anything.
 *
 * What levels with a `concurrency` limit took is held until `release` or `cancel`, whichever comes first, or until its
 * `ttl` is over. To settle leaves it alone, because the work may go on.
 */
export interface PolicyReservation<Attribute extends string = string> {
  readonly verdict: Verdict
  /** The real cost: each level gives back what was too much and charges what was too little. */
  settle(actual: ActualCost<Attribute>): void
  /** Gives everything back that has not been settled or released. */
  cancel(): void
  /** The work is over: gives back what levels with a `concurrency` limit took. All else stays taken. */
  release(): void
  /** `release`, at the end of a block that says `using`. */
  [Symbol.dispose](): void
}

/** See {@link PolicyReservation}. */
export interface AsyncPolicyReservation<Attribute extends string = string> {
  readonly verdict: Verdict
  settle(actual: ActualCost<Attribute>): Promise<void>
  cancel(): Promise<void>
  release(): Promise<void>
  /** `release`, at the end of a block that says `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

type NamesIn<Key> = Key extends readonly (infer Name extends string)[] ? Name : Key extends string ? Key : never
type AsksIn<W> = W extends unknown ? keyof W & string : never
type Said<L, Property extends string> = Property extends keyof L ? NonNullable<L[Property]> : never
type WhenIn<Overrides> = Overrides extends readonly { readonly when: infer W }[] ? W : never

/** The attributes that levels ask about, as the compiler knows them: any text, of levels that are not written in the call. */
export type AttributesOf<L> = L extends readonly (infer Each)[] ? AttributesOfLevel<Each> : never

type AttributesOfLevel<L> = L extends unknown
  ?
      | AsksIn<Said<L, 'when'>>
      | NamesIn<Said<L, 'key'>>
      | Extract<Said<L, 'cost'>, string>
      | AsksIn<WhenIn<Said<L, 'overrides'>>>
  : never
