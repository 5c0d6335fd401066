import type { BlockOptions, CostOptions, ReserveOptions, SetOptions, TimedBy } from '../limiter/index.js'
import type { Duration, Limit } from '../limits/index.js'
import type { Explanation } from './explanation.js'
import type { AttributeValue, PathValue } from './matching/facts.js'
import type { JointVerdict, Verdict } from './verdict.js'

/**
 * A request: an object of attributes. Every attribute that the policy asks about must be there, if only as `undefined`;
 * other attributes are ignored. If the compiler does not know the policy's attributes, any object is accepted.
 */
export type PolicyRequest<Attribute extends string> = string extends Attribute
  ? object
  : { readonly [A in Attribute]: A extends 'path' ? PathValue : AttributeValue }

/** One of the requests of `checkAll`. */
export interface JointRequest<Attributes = object> {
  readonly attributes: Attributes
  /** Units that the request takes: a safe integer from 0. Default 1. 0 only looks, also in levels with a cost of their own. */
  readonly cost?: number
  /**
   * Replace the limits of every level that matches the request, for this call: those of the level, of its overrides and of
   * run-time overrides. The state is that of the level, so `limits` of another window begin a count of their own. A store remembers
   * each limit that differs, so use few different ones.
   */
  readonly limits?: Limit | readonly Limit[]
}

/** The list that `checkAll` takes, from the type of the attributes of each request. */
export type JointRequests<Requests extends readonly object[]> = {
  readonly [I in keyof Requests]: JointRequest<Requests[I]>
}

/** The options of `refund`. */
export interface PolicyRefundOptions extends CostOptions {
  /** The limits that `checkAll` counted the request by, if it was given `limits`. */
  readonly limits?: Limit | readonly Limit[]
}

/** The options of `reset`. */
export interface ResetOptions<LevelName extends string> {
  /** Resets only these levels. Default: all levels that match, including those with one state for all requests. */
  readonly levels?: readonly LevelName[]
}

/** The options of `block`. */
export interface PolicyBlockOptions<LevelName extends string> extends BlockOptions {
  /**
   * Blocks the request's keys in these levels. Default: every level that matches and has a key. A level without a key has
   * one state for all requests, and a shadow level denies nothing, so each is blocked only if it is named here.
   */
  readonly levels?: readonly LevelName[]
}

/** The options of `set`. */
export interface PolicySetOptions<LevelName extends string> extends SetOptions {
  /** Sets the request's keys in these levels. Default: every level that matches, has a key and is no shadow. */
  readonly levels?: readonly LevelName[]
}

/** A run-time override, as `overrides` lists it. */
export interface RunTimeOverride<LevelName extends string = string> {
  readonly level: LevelName
  /** The key as `override` and `removeOverride` take it. */
  readonly key: string | readonly string[]
  /** The limits in force for the key: at least one. */
  readonly limits: readonly Limit[]
  /** When it ends, in epoch milliseconds; absent if it stays until it is removed. */
  readonly untilMs?: number
}

/** The options of `override`. */
export interface OverrideOptions {
  /** When the override ends: a date, or a time in epoch milliseconds. Default: it stays until it is removed. */
  readonly until?: Date | number
}

/** The key that an override is for: the value of the level's key attribute, or a list if the key has several or none. */
export type OverrideKey = string | number | readonly (string | number)[]

/** The members that are the same on every store. */
interface PolicyBase<Attribute extends string, LevelName extends string> {
  readonly name: string
  /** The attributes that the policy asks about. */
  readonly attributes: readonly Attribute[]
  /** Is any limit a leaky bucket? Then a verdict may say to wait for a turn (`delayMs`). */
  readonly queues: boolean
  /** May any limit be a concurrency limit? Then a request must be released when it is over. */
  readonly leases: boolean
  /**
   * The names of the levels that match a request, in the order of the policy. Does not ask the store. Throws for each
   * request that `check` throws for, so a caller can look at several requests before it decides the first.
   */
  levelsFor<Request extends PolicyRequest<Attribute>>(request: Request): readonly LevelName[]
}

/** A policy on a store that answers at once. */
export interface Policy<Attribute extends string = string, LevelName extends string = string>
  extends PolicyBase<Attribute, LevelName> {
  /** Takes from every level that matches, or from none. A denial is a verdict, not an error. */
  check<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Verdict
  /**
   * Decides several requests together: all pass, or none takes anything. Demands on the same state are added up, so two requests
   * of one user need two units. With one request the verdict is that of `check`, save that a cost of 0 takes nothing.
   *
   * @example
   * ```ts
   * import { createPolicy, tokenBucket } from 'sluice'
   *
   * const limit = tokenBucket({ capacity: 20, refill: '5/s' })
   * const policy = createPolicy({ levels: [{ name: 'user', key: ['user'], limit }] })
   * const { allowed, verdicts } = policy.checkAll([{ attributes: { user: 'ann' } }, { attributes: { user: 'bob' }, cost: 3 }])
   * ```
   */
  checkAll<Requests extends readonly PolicyRequest<Attribute>[]>(requests: JointRequests<Requests>): JointVerdict
  /**
   * The verdict that `check` would give now. Takes nothing and blocks nothing: `remaining` of each level is what is there
   * before the request.
   */
  peek<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Verdict
  /**
   * Takes from every level that matches, even more than is left: that leaves a debt. The verdict says for each level what a
   * peek at a cost of 1 says afterwards.
   */
  charge<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Verdict
  /** Gives units back to every level that matches. The verdict is like that of `charge`. */
  refund<Request extends PolicyRequest<Attribute>>(request: Request, options?: PolicyRefundOptions): Verdict
  /**
   * Takes an estimated cost now. The reservation settles the actual cost later. With a `ttl` it ends by itself, and other
   * processes can settle it by its `id`.
   */
  reserve<Request extends PolicyRequest<Attribute>, Ttl extends Duration | undefined = undefined>(
    request: Request,
    options?: ReserveOptions<Ttl>,
  ): PolicyReservation<Attribute> & TimedBy<Ttl>
  /**
   * Sets the actual cost of a reservation with a `ttl`, and ends it: also the units of `concurrency` limits are given back.
   * True if this call ended it; false if it was over, and then nothing changes. If the store fails, the call throws, and
   * may be repeated. The cost of a level that the policy no longer has stays as it was.
   */
  settle(id: string, actual: ActualCost<Attribute>): boolean
  /** Gives back everything that a reservation with a `ttl` took. True if this call ended it. */
  cancel(id: string): boolean
  /** The work is over: ends a reservation with a `ttl`, gives back units of `concurrency` limits, and keeps all others. */
  release(id: string): boolean
  /**
   * Leaves the request's keys exactly `remaining` units of each limit in force, as if the rest of its quota had just been
   * taken from a fresh key. Blocks stay. The verdict is like that of `charge`, and has the levels that were set. If no level
   * would be set, or `remaining` is more than the quota of one, throws and changes nothing.
   */
  set<Request extends PolicyRequest<Attribute>>(request: Request, options: PolicySetOptions<LevelName>): Verdict
  /** Forgets the request's keys in the levels that match: their whole quota is available again. */
  reset<Request extends PolicyRequest<Attribute>>(request: Request, options?: ResetOptions<LevelName>): void
  /**
   * Denies every request of the request's keys for this long, even if units are left, and returns the names of the levels
   * that it blocked. A later block replaces an earlier one, and `reset` ends it. Throws an `InvalidValueError` if no level
   * would be blocked.
   */
  block<Request extends PolicyRequest<Attribute>>(
    request: Request,
    options: PolicyBlockOptions<LevelName>,
  ): readonly LevelName[]
  /** Sets other limits for one key of a level, from now on. The store keeps them, so all its users share them. */
  override(level: LevelName, key: OverrideKey, limit: Limit | readonly Limit[], options?: OverrideOptions): void
  /** Removes an override: the level's own limits apply to the key again. */
  removeOverride(level: LevelName, key: OverrideKey): void
  /** The run-time overrides in force, in the order of the levels. Leaves out those of levels that the policy does not have. */
  overrides(): readonly RunTimeOverride<LevelName>[]
  /** Says which levels match and why, with their keys, limits, costs and decisions. Takes nothing. */
  explain<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): readonly Explanation[]
}

/** A policy on a store that answers later: every method that asks the store returns a promise. */
export interface AsyncPolicy<Attribute extends string = string, LevelName extends string = string>
  extends PolicyBase<Attribute, LevelName> {
  /** See {@link Policy.check}. */
  check<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Promise<Verdict>
  /** See {@link Policy.checkAll}. */
  checkAll<Requests extends readonly PolicyRequest<Attribute>[]>(
    requests: JointRequests<Requests>,
  ): Promise<JointVerdict>
  /** See {@link Policy.peek}. */
  peek<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Promise<Verdict>
  /** See {@link Policy.charge}. */
  charge<Request extends PolicyRequest<Attribute>>(request: Request, options?: CostOptions): Promise<Verdict>
  /** See {@link Policy.refund}. */
  refund<Request extends PolicyRequest<Attribute>>(request: Request, options?: PolicyRefundOptions): Promise<Verdict>
  /** See {@link Policy.reserve}. */
  reserve<Request extends PolicyRequest<Attribute>, Ttl extends Duration | undefined = undefined>(
    request: Request,
    options?: ReserveOptions<Ttl>,
  ): Promise<AsyncPolicyReservation<Attribute> & TimedBy<Ttl>>
  /** See {@link Policy.settle}. */
  settle(id: string, actual: ActualCost<Attribute>): Promise<boolean>
  /** See {@link Policy.cancel}. */
  cancel(id: string): Promise<boolean>
  /** See {@link Policy.release}. */
  release(id: string): Promise<boolean>
  /** See {@link Policy.set}. */
  set<Request extends PolicyRequest<Attribute>>(
    request: Request,
    options: PolicySetOptions<LevelName>,
  ): Promise<Verdict>
  /** See {@link Policy.reset}. */
  reset<Request extends PolicyRequest<Attribute>>(request: Request, options?: ResetOptions<LevelName>): Promise<void>
  /** See {@link Policy.block}. */
  block<Request extends PolicyRequest<Attribute>>(
    request: Request,
    options: PolicyBlockOptions<LevelName>,
  ): Promise<readonly LevelName[]>
  /** See {@link Policy.override}. On Redis, every process applies the override within two seconds. */
  override(
    level: LevelName,
    key: OverrideKey,
    limit: Limit | readonly Limit[],
    options?: OverrideOptions,
  ): Promise<void>
  /** See {@link Policy.removeOverride}. */
  removeOverride(level: LevelName, key: OverrideKey): Promise<void>
  /**
   * See {@link Policy.overrides}. On Redis, an override that another process has set is listed within two seconds. Rejects
   * with a `StoreUnavailableError` if the store does not report the overrides in time.
   */
  overrides(): Promise<readonly RunTimeOverride<LevelName>[]>
  /** See {@link Policy.explain}. */
  explain<Request extends PolicyRequest<Attribute>>(
    request: Request,
    options?: CostOptions,
  ): Promise<readonly Explanation[]>
}

/** The actual cost of a request: the cost of the call as a number, or the attributes that levels take their costs from. */
export type ActualCost<Attribute extends string> = number | { readonly [A in Attribute]?: AttributeValue }

/**
 * Units that were taken from every level before the actual cost was known. The first `settle` or `cancel` takes effect;
 * later calls are ignored. If neither is called, the units stay taken. After a denial, no method does anything.
 *
 * The units of `concurrency` limits are held until `release` or `cancel`, or until their `ttl` is over. `settle` does not
 * release them, because the work may continue.
 *
 * A reservation with a `ttl` ends once: the first of `settle`, `cancel` and `release` ends it and gives back the units of
 * `concurrency` limits. If none is called, all units come back when the `ttl` is over.
 */
export interface PolicyReservation<Attribute extends string = string> {
  readonly verdict: Verdict
  /**
   * Sets the actual cost: each level refunds the excess, or charges the shortfall. True if this call took effect; false if
   * the reservation was settled or over before, and then nothing changes.
   */
  settle(actual: ActualCost<Attribute>): boolean
  /** Gives back everything that has not been settled or released. True if there was anything to give back. */
  cancel(): boolean
  /** The work is over: gives back the units of `concurrency` limits. All other units stay taken. True for the first call. */
  release(): boolean
  /** `release`, for a variable declared with `using`. */
  [Symbol.dispose](): void
}

/** See {@link PolicyReservation}. */
export interface AsyncPolicyReservation<Attribute extends string = string> {
  readonly verdict: Verdict
  settle(actual: ActualCost<Attribute>): Promise<boolean>
  cancel(): Promise<boolean>
  release(): Promise<boolean>
  /** `release`, for a variable declared with `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

type NamesIn<Key> = Key extends readonly (infer Name extends string)[] ? Name : Key extends string ? Key : never
type NamesInWhen<W> = W extends unknown ? keyof W & string : never
type PropertyOf<L, Property extends string> = Property extends keyof L ? NonNullable<L[Property]> : never
type WhenIn<Overrides> = Overrides extends readonly { readonly when: infer W }[] ? W : never

/** The attributes that levels ask about, as far as the compiler knows: any string if the levels are not literals. */
export type AttributesOf<L> = L extends readonly (infer Each)[] ? AttributesOfLevel<Each> : never

type AttributesOfLevel<L> = L extends unknown
  ?
      | NamesInWhen<PropertyOf<L, 'when'>>
      | NamesIn<PropertyOf<L, 'key'>>
      | Extract<PropertyOf<L, 'cost'>, string>
      | NamesInWhen<WhenIn<PropertyOf<L, 'overrides'>>>
  : never
