import type { PolicyProblem } from '../errors.js'
import { checkCostOptions } from '../limiter/check-call.js'
import type { CostOptions } from '../limiter/index.js'
import type { Decision, Limit } from '../limits/index.js'
import type { AsyncStore, Overrides } from '../stores/index.js'
import { checkOverride, checkRemoval, checkReset, type OverrideCall, overridesOf } from './call.js'
import { type Explanation, explained } from './explain.js'
import type { Matcher } from './matcher.js'
import type {
  AsyncPolicy,
  AsyncPolicyReservation,
  OverrideKey,
  OverrideOptions,
  ResetOptions,
  Verdict,
} from './policy.js'
import { TakenDemands } from './settling.js'
import { type LevelDemand, verdictOf } from './verdict.js'

/** What a request demands, and whether all run-time overrides were known when that was made out. */
interface Matched {
  readonly demands: LevelDemand[]
  readonly isKnown: boolean
}

/** Every method is `async`, so that a wrong argument is a rejection like any other failure. */
export class StorePolicy implements AsyncPolicy {
  readonly name: string
  readonly warnings: readonly PolicyProblem[]
  readonly #matcher: Matcher
  readonly #store: AsyncStore
  readonly #overrides: Overrides | undefined

  constructor(name: string, matcher: Matcher, store: AsyncStore, warnings: readonly PolicyProblem[]) {
    this.name = name
    this.warnings = warnings
    this.#matcher = matcher
    this.#store = store
    this.#overrides = store.overrides?.(name)
  }

  get attributes(): readonly string[] {
    return this.#matcher.attributes
  }

  get queues(): boolean {
    return this.#matcher.queues
  }

  get leases(): boolean {
    // Which overrides there are is known only once the store has been asked, and then it has decided.
    return this.#matcher.leases || this.#overrides !== undefined
  }

  async check(request: object, options?: CostOptions): Promise<Verdict> {
    const matched = this.#match(request, checkCostOptions('check', options))
    const { demands, isKnown } = matched instanceof Promise ? await matched : matched
    return verdictOf(demands, (await this.#store.decide(demands)).decisions, isKnown)
  }

  async peek(request: object): Promise<Verdict> {
    const matched = this.#match(request, 0, true)
    const { demands, isKnown } = matched instanceof Promise ? await matched : matched
    return verdictOf(demands, (await this.#store.decide(demands)).decisions, isKnown)
  }

  async charge(request: object, options?: CostOptions): Promise<Verdict> {
    return this.#each(request, checkCostOptions('charge', options), (demand) => this.#store.charge(demand))
  }

  async refund(request: object, options?: CostOptions): Promise<Verdict> {
    return this.#each(request, checkCostOptions('refund', options), (demand) => this.#store.refund(demand, undefined))
  }

  async reserve(request: object, options?: CostOptions): Promise<AsyncPolicyReservation> {
    const cost = checkCostOptions('reserve', options)
    const copy = this.#matcher.copyOf(request)
    const matched = this.#match(copy, cost)
    const { demands, isKnown } = matched instanceof Promise ? await matched : matched
    const costsFor = this.#matcher.costsFor(demands, copy, cost)
    const answer = await this.#store.decide(demands)
    const taken = new TakenDemands(this.#store, demands, answer, costsFor)
    const release = async () => void (await Promise.all(taken.release()))
    return {
      verdict: verdictOf(demands, answer.decisions, isKnown),
      settle: async (actual) => void (await Promise.all(taken.settle(actual))),
      cancel: async () => void (await Promise.all(taken.cancel())),
      release,
      [Symbol.asyncDispose]: release,
    }
  }

  async reset(request: object, options?: ResetOptions<string>): Promise<void> {
    const refreshed = this.#overrides?.refresh()
    const copy = this.#matcher.copyOf(request)
    if (refreshed instanceof Promise) await refreshed
    const states = checkReset(this.#matcher, copy, this.#overrides, options)
    await Promise.all(states.map(({ name, key }) => this.#store.reset(name, key)))
  }

  async override(
    level: string,
    key: OverrideKey,
    limit: Limit | readonly Limit[],
    options?: OverrideOptions,
  ): Promise<void> {
    await this.#set(checkOverride(this.#matcher, level, key, limit, options))
  }

  async removeOverride(level: string, key: OverrideKey): Promise<void> {
    await this.#set(checkRemoval(this.#matcher, level, key))
  }

  async explain(request: object, options?: CostOptions): Promise<readonly Explanation[]> {
    const copy = this.#matcher.copyOf(request)
    const isKnown = (await this.#overrides?.refresh()) ?? true
    const levels = this.#matcher.explain(copy, checkCostOptions('explain', options), this.#overrides)
    const demands = this.#matcher.demandsOf(copy, 0, this.#overrides, true)
    const { decisions } = await this.#store.decide(demands)
    return explained(levels, verdictOf(demands, decisions).levels, isKnown)
  }

  /**
   * What a request demands. Not an async function: where there is nothing to wait for, calls reach the store in their
   * order. The request may be another by the time that the overrides are known.
   */
  #match(request: object, cost: number, look = false): Matched | Promise<Matched> {
    const refreshed = this.#overrides?.refresh() ?? true
    if (!(refreshed instanceof Promise)) return this.#matchKnown(request, cost, look, refreshed)
    const copy = this.#matcher.copyOf(request)
    return refreshed.then((isKnown) => this.#matchKnown(copy, cost, look, isKnown))
  }

  #matchKnown(request: object, cost: number, look: boolean, isKnown: boolean): Matched {
    return { demands: this.#matcher.demandsOf(request, cost, this.#overrides, look), isKnown }
  }

  async #set({ level, key, limits, untilMs }: OverrideCall): Promise<void> {
    await overridesOf(this.#store, this.name).set(level, key, limits, untilMs)
  }

  async #each(request: object, cost: number, run: (demand: LevelDemand) => Promise<Decision>): Promise<Verdict> {
    const matched = this.#match(request, cost)
    const { demands, isKnown } = matched instanceof Promise ? await matched : matched
    return verdictOf(demands, await Promise.all(demands.map(run)), isKnown)
  }
}
