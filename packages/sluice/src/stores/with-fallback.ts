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
import { checkAnswer, checkAtOnce, checkDecision, MalformedAnswerError } from './check-answer.js'
import { Fallback } from './fallback.js'
import { FallbackOverrides } from './fallback-overrides.js'
import { MemoryStore } from './memory/memory-store.js'
import { checkLocalOptions, checkOnFailure, type OnFailure } from './on-failure.js'
import type { Answer, AsyncStore, Awaitable, Demand, NamedLimit, Overrides, Store, SyncStore } from './store.js'

/** An outage of this length gets a warning. */
const LONG_MS = 5_000

/** One wrapper for each store, so that all limiters of a store share its local limits. */
const wrapped = new WeakMap<Store, Store>()

/**
 * Wraps a store so that `onFailure` answers its failures. Returns a memory store as it is, because it cannot fail, and a
 * store with `prepare`, because it answers its own failures.
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

/** Is it exactly a `MemoryStore`? A subclass may fail. */
export function cannotFail(store: Store): boolean {
  return Object.getPrototypeOf(store) === MemoryStore.prototype
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
    this.onFailure = onFailure === undefined ? undefined : checkOnFailure(onFailure)
    this.#fallback = new Fallback({ onFailure: this.onFailure, clock, ...checkLocalOptions(store) })
    if (store.overrides !== undefined) this.overrides = (policy) => this.#overridesOf(policy, store)
  }

  prepare(named: NamedLimit): void {
    this.#fallback.prepare(named)
    if (this.#fallback.ruleOf(named) === undefined) this.#unruled.add(named.name)
  }

  decide(demands: readonly Demand[]): Awaitable<Answer> {
    return this.#ask(
      () => this.#store.decide(demands),
      (answer) => checkAnswer(answer, demands),
      (error) => this.#instead(demands, error, () => this.#fallback.decide(demands)),
    )
  }

  decideOne(name: string, limit: Limit, key: string, cost: number): Awaitable<Decision> {
    const demand = { name, limit, key, cost }
    const store = this.#store as SyncStore
    const decideOne = () =>
      store.decideOne === undefined
        ? checkAnswer(checkAtOnce(store.decide([demand])), [demand]).decisions[0]
        : store.decideOne(name, limit, key, cost)
    return this.#ask(decideOne, checkDecision, (error) =>
      this.#instead([demand], error, () => this.#fallback.decide([demand]).decisions[0]),
    )
  }

  charge(demand: Demand): Awaitable<Decision> {
    return this.#ask(
      () => this.#store.charge(demand),
      checkDecision,
      (error) => this.#instead([demand], error, () => this.#fallback.charge(demand)),
    )
  }

  /** Units that were not taken from the store are not refunded to it. */
  refund(demand: Demand, taken: Taken | undefined): Awaitable<Decision> {
    const isDegraded = taken?.degraded !== undefined && this.#hasAnswered
    if (isDegraded && taken.degraded === 'local') {
      const decision = this.#fallback.refund(demand, taken)
      return this.synchronous ? decision : Promise.resolve(decision)
    }
    return this.#ask(
      () => (isDegraded ? this.#store.refund({ ...demand, cost: 0 }, undefined) : this.#store.refund(demand, taken)),
      checkDecision,
      (error) => this.#instead([demand], error, () => this.#fallback.refund(demand, taken)),
    )
  }

  reset(name: string, key: string): Awaitable<void> {
    this.#fallback.reset(name, key)
    return this.#ask(
      () => this.#store.reset(name, key),
      ignored,
      (error) => this.#refuse('reset', error),
    )
  }

  block(name: string, key: string, durationUs: number): Awaitable<void> {
    this.#fallback.block(name, key, durationUs)
    return this.#ask(
      () => this.#store.block(name, key, durationUs),
      ignored,
      (error) => this.#refuse('blocked', error),
    )
  }

  #overridesOf(policy: string, store: Store): Overrides {
    const overrides = store.overrides?.(policy) as Overrides
    return new FallbackOverrides(overrides, (error) => {
      if ([...this.#unruled].some((name) => name.startsWith(`${policy}/`))) throw error
      this.#failed(error)
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

  /** Answers by `answer` if every demand has a rule; otherwise throws the error. */
  #instead<T>(demands: readonly Demand[], error: unknown, answer: () => T): T {
    if (isMistake(error) || demands.some((demand) => this.#fallback.ruleOf(demand) === undefined)) throw error
    this.#failed(error)
    this.#hasAnswered = true
    return answer()
  }

  #refuse(done: string, cause: unknown): never {
    if (isMistake(cause) || cause instanceof StoreFullError || cause instanceof StoreUnavailableError) throw cause
    throw new StoreUnavailableError(`the store failed; the key may not have been ${done}`, { cause })
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

function ignored(): void {}

/** Did the caller make a mistake, rather than the store fail? */
function isMistake(error: unknown): boolean {
  if (error instanceof MalformedAnswerError) return false
  return error instanceof InvalidTypeError || error instanceof InvalidValueError
}
