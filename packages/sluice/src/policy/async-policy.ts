import type { PolicyProblem } from '../errors.js'
import { checkCostOptions } from '../limiter/call.js'
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
  PolicyRequest,
  ResetOptions,
  Verdict,
} from './policy.js'
import { CANCELLED, settlingAll } from './settling.js'
import { type LevelDemand, verdictOf } from './verdict.js'

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

  async check(request: PolicyRequest<string>, options?: CostOptions): Promise<Verdict> {
    const found = this.#demandsOf(request, checkCostOptions(options))
    const demands = found instanceof Promise ? await found : found
    return verdictOf(demands, (await this.#store.decide(demands)).decisions)
  }

  async peek(request: PolicyRequest<string>): Promise<Verdict> {
    const demands = await this.#demandsOf(request, 0, true)
    return verdictOf(demands, (await this.#store.decide(demands)).decisions)
  }

  async charge(request: PolicyRequest<string>, options?: CostOptions): Promise<Verdict> {
    return this.#each(request, options, (demand) => this.#store.charge(demand))
  }

  async refund(request: PolicyRequest<string>, options?: CostOptions): Promise<Verdict> {
    return this.#each(request, options, (demand) => this.#store.giveBack(demand, undefined))
  }

  async reserve(request: PolicyRequest<string>, options?: CostOptions): Promise<AsyncPolicyReservation> {
    const cost = checkCostOptions(options)
    const demands = await this.#demandsOf(request, cost)
    const costsFor = this.#matcher.costsFor(demands, request, cost)
    const answer = await this.#store.decide(demands)
    const settle = settlingAll(this.#store, demands, answer, costsFor)
    return {
      verdict: verdictOf(demands, answer.decisions),
      settle: async (actual) => void (await Promise.all(settle(actual))),
      cancel: async () => void (await Promise.all(settle(CANCELLED))),
    }
  }

  async reset(request: PolicyRequest<string>, options?: ResetOptions<string>): Promise<void> {
    await this.#overrides?.refresh()
    const demands = checkReset(this.#matcher, request, this.#overrides, options)
    await Promise.all(demands.map(({ name, key }) => this.#store.reset(name, key)))
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

  async explain(request: PolicyRequest<string>, options?: CostOptions): Promise<readonly Explanation[]> {
    await this.#overrides?.refresh()
    const levels = this.#matcher.explain(request, checkCostOptions(options), this.#overrides)
    return explained(levels, (await this.peek(request)).levels)
  }

  /** Not an async function: where there is nothing to wait for, nobody does. */
  #demandsOf(request: object, cost: number, look = false): LevelDemand[] | Promise<LevelDemand[]> {
    const refreshed = this.#overrides?.refresh()
    if (refreshed === undefined) return this.#matcher.demandsOf(request, cost, this.#overrides, look)
    return refreshed.then(() => this.#matcher.demandsOf(request, cost, this.#overrides, look))
  }

  async #set({ level, key, limits, untilMs }: OverrideCall): Promise<void> {
    await overridesOf(this.#store, this.name).set(level, key, limits, untilMs)
  }

  async #each(
    request: PolicyRequest<string>,
    options: CostOptions | undefined,
    run: (demand: LevelDemand) => Promise<Decision>,
  ): Promise<Verdict> {
    const demands = await this.#demandsOf(request, checkCostOptions(options))
    return verdictOf(demands, await Promise.all(demands.map(run)))
  }
}
