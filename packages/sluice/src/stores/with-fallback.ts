import { systemClock } from '../clock.js'
import {
  InvalidTypeError,
  InvalidValueError,
  reasonOf,
  StoreFullError,
  StoreUnavailableError,
  warn,
} from '../errors.js'
import type { Decision, Limit, Taken } from '../limits/index.js'
import { cannotFail } from './cannot-fail.js'
import { checkAnswer, checkAtOnce, checkDecision, MalformedAnswerError } from './check-answer.js'
import { checkLocalOptions, checkOnFailure, Fallback } from './fallback.js'
import type {
  Answer,
  AsyncStore,
  Demand,
  LimitedKey,
  NamedLimit,
  OnFailure,
  Overrides,
  Reservations,
  Store,
  SyncStore,
} from './store.js'
import { type Awaitable, isPromiseLike } from './store.js'

/** An outage of this length gets a warning. */
const LONG_MS = 5_000

/** One wrapper for each store, so that all limiters of a store share its local limits. */
const wrapped = new WeakMap<Store, Store>()

/**
 * Wraps a store so that `onFailure` answers its failures. Returns a store that cannot fail as it is, and a store with
 * `prepare`, because it answers its own failures.
 */
export function withFallback(store: SyncStore | AsyncStore): SyncStore | AsyncStore {
  if (cannotFail(store) || typeof store.prepare === 'function') return store
  let known = wrapped.get(store)
  if (known === undefined) {
    known = new FallbackStore(store)
    wrapped.set(store, known)
  }
  return known as SyncStore | AsyncStore
}

/**
 * Stands in front of another store, and is synchronous if that store is. If the other store throws, rejects or returns a
 * malformed answer, this one answers by the rule of each demand. If a demand has no rule, the failure stays an error,
 * because a limit must not be lost silently. Mistakes of the caller stay errors too.
 */
class FallbackStore implements Store {
  readonly clock: Store['clock']
  readonly synchronous: boolean
  readonly onFailure: OnFailure | undefined
  readonly blocksByRule: boolean
  /** Present if the other store has it, and the same. Reservations are opened without it if it fails. */
  readonly reservations?: Reservations
  /** Present if the other store has it. */
  readonly overrides?: (policy: string) => Overrides
  readonly #store: Store
  readonly #fallback: Fallback
  /** The names of limits without a rule. */
  readonly #unruled = new Set<string>()
  /** Has this wrapper ever answered for the store? If not, a degraded answer came from the store itself. */
  #hasAnswered = false
  /** When the current run of failures began. */
  #failingSinceMs = Infinity
  #hasWarned = false

  constructor(store: Store) {
    const { clock, onFailure } = store
    this.#store = store
    this.clock = clock
    this.synchronous = store.synchronous === true
    this.blocksByRule = store.blocksByRule === true
    this.onFailure = onFailure === undefined ? undefined : checkOnFailure(onFailure)
    this.#fallback = new Fallback({ onFailure: this.onFailure, clock, ...checkLocalOptions(store) })
    if (store.reservations !== undefined) this.reservations = store.reservations
    if (store.overrides !== undefined) this.overrides = (policy) => this.#overridesOf(policy, store)
  }

  prepare(named: NamedLimit): void {
    this.#fallback.prepare(named)
    if (this.#fallback.ruleOf(named) === undefined) this.#unruled.add(named.name)
  }

  decide(demands: readonly Demand[]): Awaitable<Answer> {
    const check = (answer: Answer) => {
      this.#fallback.keepBlocks(demands, checkAnswer(answer, demands))
      return answer
    }
    return this.#answer(
      demands,
      () => this.#store.decide(demands),
      check,
      () => this.#fallback.decide(demands),
    )
  }

  decideOne(name: string, limit: Limit, key: string, cost: number): Awaitable<Decision> {
    const demand = { name, limit, key, cost }
    const store = this.#store as SyncStore
    const decideOne = () =>
      store.decideOne === undefined
        ? checkAnswer(checkAtOnce(store.decide([demand])), [demand]).decisions[0]
        : store.decideOne(name, limit, key, cost)
    return this.#answerOne(demand, decideOne, () => this.#fallback.decide([demand]).decisions[0])
  }

  peek(demands: readonly Demand[]): Awaitable<Answer> {
    const check = (answer: Answer) => checkAnswer(answer, demands)
    const peek = () => this.#store.peek(demands)
    return this.#answer(demands, peek, check, () => this.#fallback.peek(demands))
  }

  peekOne(name: string, limit: Limit, key: string, cost: number): Awaitable<Decision> {
    const demand = { name, limit, key, cost }
    const store = this.#store as SyncStore
    const peekOne = () =>
      store.peekOne === undefined
        ? checkAnswer(checkAtOnce(store.peek([demand])), [demand]).decisions[0]
        : store.peekOne(name, limit, key, cost)
    return this.#answerOne(demand, peekOne, () => this.#fallback.peek([demand]).decisions[0])
  }

  charge(demand: Demand): Awaitable<Decision> {
    const charge = () => this.#store.charge(demand)
    return this.#answerOne(demand, charge, () => this.#fallback.charge(demand))
  }

  /** Units that were not taken from the store are not refunded to it. */
  refund(demand: Demand, taken: Taken | undefined): Awaitable<Decision> {
    const isDegraded = taken?.degraded !== undefined && this.#hasAnswered
    if (isDegraded && taken.degraded === 'local') {
      const decision = this.#fallback.refund(demand, taken)
      return this.synchronous ? decision : Promise.resolve(decision)
    }
    const refund = () =>
      isDegraded ? this.#store.refund({ ...demand, cost: 0 }, undefined) : this.#store.refund(demand, taken)
    return this.#answerOne(demand, refund, () => this.#fallback.refund(demand, taken))
  }

  /** Sets the state of the store alone: a share of this process stays as it is. */
  set(limited: LimitedKey, remaining: number): Awaitable<Decision> {
    return this.#change(
      'set',
      () => this.#store.set(limited, remaining),
      (given) => checkDecision(given, limited),
    )
  }

  reset(name: string, key: string): Awaitable<void> {
    this.#fallback.reset(name, key)
    return this.#change('reset', () => this.#store.reset(name, key), ignore)
  }

  block(name: string, key: string, durationUs: number): Awaitable<void> {
    this.#fallback.block(name, key, durationUs)
    return this.#change('blocked', () => this.#store.block(name, key, durationUs), ignore)
  }

  /**
   * The store's overrides. If reading them fails, those known so far count, unless a level of the policy has no rule: then
   * the failure stays an error. If setting fails, it always does, because no answer can stand for it.
   */
  #overridesOf(policy: string, store: Store): Overrides {
    const overrides = store.overrides?.(policy) as Overrides
    const failed = <T>(error: unknown, known: T): T => {
      if ([...this.#unruled].some((name) => name.startsWith(`${policy}/`))) throw error
      this.#failed(error)
      return known
    }
    const read = <T>(run: () => T, known: T): T => {
      try {
        return run()
      } catch (error) {
        return failed(error, known)
      }
    }
    return {
      get size() {
        return read(() => overrides.size, 0)
      },
      get: (level, key) => read(() => overrides.get(level, key), undefined),
      entries: () => overrides.entries(),
      set: (...change) => overrides.set(...change),
      refresh() {
        const refreshed = read<Awaitable<boolean>>(() => overrides.refresh(), false)
        return isPromiseLike(refreshed) ? Promise.resolve(refreshed).catch((error) => failed(error, false)) : refreshed
      },
    }
  }

  #answerOne(demand: Demand, run: () => Awaitable<Decision>, instead: () => Decision): Awaitable<Decision> {
    return this.#answer([demand], run, (decision) => checkDecision(decision, demand), instead)
  }

  /** Asks the store. If it fails and every demand has a rule, answers by `instead`; otherwise the failure stays an error. */
  #answer<T>(
    demands: readonly Demand[],
    run: () => Awaitable<T>,
    check: (value: T) => T,
    instead: () => T,
  ): Awaitable<T> {
    return this.#ask(run, check, (error) => {
      if (isMistake(error) || demands.some((demand) => this.#fallback.ruleOf(demand) === undefined)) throw error
      this.#failed(error)
      this.#hasAnswered = true
      return instead()
    })
  }

  /** Makes a change that no answer can stand for. */
  #change<T>(done: string, run: () => Awaitable<T>, check: (value: T) => T): Awaitable<T> {
    return this.#ask(run, check, (cause) => {
      if (isMistake(cause) || cause instanceof StoreFullError || cause instanceof StoreUnavailableError) throw cause
      throw new StoreUnavailableError(`the store failed; the key may not have been ${done}`, { cause })
    })
  }

  #ask<T>(run: () => Awaitable<T>, check: (value: T) => T, fail: (error: unknown) => T): Awaitable<T> {
    if (!this.synchronous) return this.#askLater(run, check, fail)
    try {
      return this.#worked(check(checkAtOnce(run())))
    } catch (error) {
      return fail(error)
    }
  }

  async #askLater<T>(run: () => Awaitable<T>, check: (value: T) => T, fail: (error: unknown) => T): Promise<T> {
    try {
      return this.#worked(check(await run()))
    } catch (error) {
      return fail(error)
    }
  }

  #worked<T>(answer: T): T {
    this.#failingSinceMs = Infinity
    return answer
  }

  /** Warns once if the store fails for long. A short failure shows only in the answers' `degraded`. */
  #failed(error: unknown): void {
    if (this.#hasWarned) return
    const nowMs = (this.clock ?? systemClock).now()
    this.#failingSinceMs = Math.min(this.#failingSinceMs, nowMs)
    if (nowMs - this.#failingSinceMs < LONG_MS) return
    this.#hasWarned = true
    warn(
      `a store has failed for a while (${reasonOf(error)}). Until it answers, limits answer by onFailure.`,
      'SLUICE_STORE_UNAVAILABLE',
    )
  }
}

/** What `reset` and `block` return has no meaning. */
function ignore(): void {}

/** Did the caller make a mistake, rather than the store fail? */
function isMistake(error: unknown): boolean {
  if (error instanceof MalformedAnswerError) return false
  return error instanceof InvalidTypeError || error instanceof InvalidValueError
}
