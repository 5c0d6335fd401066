import type { Clock } from '../clock.js'
import type { BlockRule, Decision, Limit, Taken } from '../limits/index.js'

/**
 * How a request is answered if its store fails: `'open'` admits it, `'closed'` denies it, `'local'` limits it in this
 * process. Even `'open'` denies everything under a quota of 0.
 */
export type OnFailure = 'open' | 'closed' | 'local'

/** How an answer was made if the store did not decide it; `'overrides'`: without knowing all run-time overrides. */
export type Degraded = OnFailure | 'overrides'

/** Denied without the store outweighs allowed without it. */
const WORST_FIRST = ['closed', 'open', 'local', 'overrides'] as const

/** The one of two rules that describes a request which both were applied to. */
export function worseOf(one: Degraded | undefined, other: Degraded | undefined): Degraded | undefined {
  return WORST_FIRST.find((each) => each === one || each === other)
}

/** A limit as a store knows it. */
export interface NamedLimit {
  /** Names the limit, so that two limits with equal numbers and keys never share a state by accident. */
  readonly name: string
  readonly limit: Limit
  /** How to answer if the store fails. Default: the store's own rule. */
  readonly onFailure?: OnFailure | undefined
  /** Evaluated and charged like any demand, but its denial does not deny the request. */
  readonly shadow?: boolean | undefined
}

/** A key under a limit. */
export interface LimitedKey extends NamedLimit {
  /** The client, user or resource that is limited: any non-empty string. */
  readonly key: string
}

/** One request's demand on one limit. */
export interface Demand extends LimitedKey {
  /** Units to take: a safe integer from 0. */
  readonly cost: number
  /**
   * How a key that exceeds is blocked. A demand exceeds if its cost is above 0, its key is not blocked and its limit lacks
   * the units. A store blocks every such key, also that of a shadow, and then decides the request: both are one step, so
   * of many requests at the same time one makes the block. A demand that the store lacks memory for does not exceed.
   */
  readonly blockFor?: BlockRule | undefined
}

/** A store's answer to the demands of one request. */
export interface Answer {
  /** True if every demand that is not a shadow fits. Then all that fit were taken; otherwise nothing was. */
  readonly allowed: boolean
  /** One for each demand, in their order. */
  readonly decisions: readonly Decision[]
  /**
   * For each demand, when its units count as taken: the store's own time in epoch microseconds, or a later time if the
   * state had seen one before the clock stepped back. For a cost of 0 it is the time of the decision. For any other demand
   * that took nothing, as every demand of `peek`, the value has no meaning.
   */
  readonly takenUs: readonly number[]
}

/**
 * Keeps the state of limits. Its main method is `decide`: it takes all demands of one request or none, by the store's own
 * clock. Demands for the same state (equal name, key and `stateId`) are added up first; they are a shadow if all of them
 * are.
 *
 * Stores may trust their callers: names and keys are non-empty strings, costs are safe integers from 0, limits are made by
 * their functions, and `checkRemaining` of `sluice/limits` accepts what `set` gets. `sluice/testing` has the contract that
 * every store keeps.
 *
 * A store that fails throws or rejects. Limiters, policies and shapers answer a failure or a malformed answer by
 * `onFailure`: the limit's, else the store's. If neither is set, the failure stays an error.
 */
export interface Store {
  /** The clock by which it decides, if the clock is in this process. Waiters then wait by it. */
  readonly clock?: Clock | undefined
  /** True if its methods return values, not promises. Then the methods of its limiters return values too. */
  readonly synchronous?: boolean
  /** How its limits answer if it fails, unless a limit has its own rule. */
  readonly onFailure?: OnFailure | undefined
  /** Among how many processes `onFailure: 'local'` divides a limit: a whole number from 1 to 1,000,000. Default 1. */
  readonly instances?: number | undefined
  /**
   * The most keys, and the most timestamps of logs and concurrency limits, that `onFailure: 'local'` keeps in this process: a
   * whole number from 1 to 2^30. Default 1,000,000.
   */
  readonly maxLocalKeys?: number | undefined
  /** True if `decide` obeys `blockFor` of demands. A limiter or level with `blockFor` is refused on any other store. */
  readonly blocksByRule?: boolean
  decide(demands: readonly Demand[]): Awaitable<Answer>
  /** `decide` for one demand, if this process can decide it without asking elsewhere; otherwise `undefined`. */
  decideNow?(demand: Demand): Decision | undefined
  /**
   * Says what `decide` would say now, and changes nothing: takes no units and ignores `blockFor`. Whether a demand is allowed,
   * its wait and its delay are those of its cost. The other numbers describe the state as it stands, because nothing is
   * taken: a demand that fits is described as for a cost of 0.
   */
  peek(demands: readonly Demand[]): Awaitable<Answer>
  /** Takes the cost whether it fits or not. Returns what `peek` says afterwards for a cost of 1. */
  charge(demand: Demand): Awaitable<Decision>
  /**
   * Gives `cost` units back: those of `taken` if it is given, else the newest. Returns what `peek` says afterwards for a cost
   * of 1.
   */
  refund(demand: Demand, taken: Taken | undefined): Awaitable<Decision>
  /**
   * Leaves a key exactly `remaining` units of a limit, as if the rest of the quota had just been taken from a fresh state. Its
   * block, and its states under limits of another `stateId`, stay as they are. Returns what `peek` says afterwards for a cost
   * of 1.
   */
  set(limited: LimitedKey, remaining: number): Awaitable<Decision>
  /** Forgets every state of a key under a name, and its block: its whole quota is there again. */
  reset(name: string, key: string): Awaitable<void>
  /**
   * Denies every request of a key for this long. A later block replaces an earlier one. `redisStore` blocks the states of
   * limits that this store object knows, so a block does not survive a changed window.
   */
  block(name: string, key: string, durationUs: number): Awaitable<void>
  /**
   * Keeps reservations with a `ttl`. Without it, each process keeps the reservations that it makes, and no other process
   * can settle them.
   */
  readonly reservations?: Reservations | undefined
  /** The run-time overrides of the policy of that name. Without this method, policies of the store have none. */
  overrides?(policy: string): Overrides
  /**
   * Called for each limit before the first demand for it. It may throw for a limit that the store cannot keep. Only for a
   * store that cannot fail, or that answers its own failures by `onFailure`, as `redisStore` does: it prepares now for an
   * outage. A store with this method gets no fallback from the library.
   */
  prepare?(named: NamedLimit): void
}

/** A store whose methods return values. */
export interface SyncStore extends Store {
  readonly synchronous: true
  decide(demands: readonly Demand[]): Answer
  /** `decide` for one demand: the same decision, without allocating an answer. */
  decideOne(name: string, limit: Limit, key: string, cost: number): Decision
  peek(demands: readonly Demand[]): Answer
  /** `peek` for one demand, without allocating an answer. */
  peekOne(name: string, limit: Limit, key: string, cost: number): Decision
  charge(demand: Demand): Decision
  refund(demand: Demand, taken: Taken | undefined): Decision
  set(limited: LimitedKey, remaining: number): Decision
  reset(name: string, key: string): void
  block(name: string, key: string, durationUs: number): void
  overrides?(policy: string): SyncOverrides
}

/** A store whose methods return promises. */
export interface AsyncStore extends Store {
  readonly synchronous?: false
  decide(demands: readonly Demand[]): Promise<Answer>
  peek(demands: readonly Demand[]): Promise<Answer>
  charge(demand: Demand): Promise<Decision>
  refund(demand: Demand, taken: Taken | undefined): Promise<Decision>
  set(limited: LimitedKey, remaining: number): Promise<Decision>
  reset(name: string, key: string): Promise<void>
  block(name: string, key: string, durationUs: number): Promise<void>
}

/** A store whose methods return promises, and that decides many demands in this process, as `leasedStore` does. */
export interface PromptStore extends AsyncStore {
  decideNow(demand: Demand): Decision | undefined
}

/** A run-time override as a store keeps it. */
export interface OverrideEntry {
  readonly level: string
  /** The key as one text, as `get` takes it. */
  readonly key: string
  readonly limits: readonly Limit[]
  /** When it ends, in epoch milliseconds; `Infinity` if it stays until it is removed. */
  readonly untilMs: number
}

/**
 * Run-time overrides: limits that replace those of a policy's level for one key, until they are removed or end. A store
 * keeps them, so every process that uses the store has the same ones.
 */
export interface Overrides {
  /** How many are known here, perhaps with some that have ended. */
  readonly size: number
  /** The limits in force for a key, as far as this process knows. */
  get(level: string, key: string): readonly Limit[] | undefined
  /** Every override that `get` would find now, in any order. A caller that sets one while it iterates may miss some. */
  entries(): Iterable<OverrideEntry>
  /** Sets the limits of a key, until a time in epoch milliseconds if one is given, or removes them. */
  set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs: number | undefined): Awaitable<void>
  /**
   * Reads changes from the store. True if `get` then knows every override that was set more than about two seconds ago;
   * false if it does not. Returns a promise if it must wait, for at most the store's deadline.
   */
  refresh(): Awaitable<boolean>
}

/** Overrides of a synchronous store. */
export interface SyncOverrides extends Overrides {
  set(level: string, key: string, limits: readonly Limit[] | undefined, untilMs: number | undefined): void
  refresh(): true
}

/** A reservation that is open: its units are taken, and are given back when it ends without having been settled. */
export interface OpenReservation {
  /** Chosen by the layer above. No two open reservations of a store have the same. */
  readonly id: string
  /** What was asked for. */
  readonly demands: readonly Demand[]
  /** What was answered: which demands took, and when. */
  readonly answer: Answer
  /** A text of the layer above, which the store keeps as it is. */
  readonly data: string
  /** When it was opened, in epoch microseconds by the store's clock. Tells it apart from an earlier one of the same id. */
  readonly openedUs: number
  /** When it ends by itself, in epoch milliseconds by the store's clock. */
  readonly endsAtMs: number
}

/** The outcome of `open`. */
export interface Opening {
  /** The reservation. If its answer is a denial, nothing was taken and nothing is open. */
  readonly reservation: OpenReservation
  /** False if a reservation of this id was open already: this call took nothing. */
  readonly isNew: boolean
  /** Has the store kept it? False after a denial, and if the store did not answer: then the process keeps it. */
  readonly isKept: boolean
}

/** Changes units that a reservation took: refunds `demand.cost` units of `taken` or, without it, charges them. */
export interface Correction {
  readonly demand: Demand
  readonly taken: Taken | undefined
}

/**
 * Keeps open reservations, so that any process ends them: by `close`, or when their time is over. A reservation is ended
 * once, whatever happens at the same time. The store gives back by itself what has ended, about once a second from the
 * first call on.
 */
export interface Reservations {
  /**
   * Decides as `Store.decide` does and, if the request is allowed, keeps it for `ttlMs`. If a reservation of this id is
   * open, returns that one and takes nothing. Answers by `onFailure` if the store does not answer.
   */
  open(id: string, demands: readonly Demand[], ttlMs: number, data: string): Awaitable<Opening>
  /** The open reservation of this id; `undefined` if there is none, or if it has ended. Rejects if the store fails. */
  find(id: string): Awaitable<OpenReservation | undefined>
  /**
   * Ends a reservation that `find` or `open` returned, and makes the corrections. True if this call ended it; false if it
   * was over already, and then nothing is corrected. Rejects if the store fails: then it may have ended or not, and a later
   * call tells.
   */
  close(reservation: OpenReservation, corrections: readonly Correction[]): Awaitable<boolean>
  /** Gives back now what has ended. */
  sweep?(): Awaitable<void>
  /**
   * True if a failure of `open` is told to the caller. Default: this process then decides by `onFailure` and keeps the
   * reservation itself, so that no other process can settle it.
   */
  readonly tellsFailures?: boolean
}

/** Either a value or the promise of one. */
export type Awaitable<T> = T | Promise<T>

/** Is it a promise or any other thenable? */
export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  return 'then' in value && typeof value.then === 'function'
}

/** Calls `next` with the value: now, or when the promise of it is fulfilled. */
export function after<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return isPromiseLike(value) ? value.then(next) : next(value)
}
