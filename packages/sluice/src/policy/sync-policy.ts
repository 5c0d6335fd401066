import type { PolicyProblem } from '../errors.js'
import { checkCostOptions } from '../limiter/call.js'
import type { CostOptions } from '../limiter/index.js'
import type { Decision, Limit } from '../limits/index.js'
import type { SyncOverrides, SyncStore } from '../stores/index.js'
import { checkOverride, checkRemoval, checkReset, type OverrideCall, overridesOf } from './call.js'
import { type Explanation, explained } from './explain.js'
import type { Matcher } from './matcher.js'
import type {
  OverrideKey,
  OverrideOptions,
  Policy,
  PolicyRequest,
  PolicyReservation,
  ResetOptions,
  Verdict,
} from './policy.js'
import { CANCELLED, settlingAll } from './settling.js'
import { type LevelDemand, verdictOf } from './verdict.js'

export class SyncPolicy implements Policy {
  readonly name: string
  readonly warnings: readonly PolicyProblem[]
  readonly #matcher: Matcher
  readonly #store: SyncStore
  readonly #overrides: SyncOverrides | undefined

  constructor(name: string, matcher: Matcher, store: SyncStore, warnings: readonly PolicyProblem[]) {
    this.name = name
    this.warnings = warnings
    this.#matcher = matcher
    this.#store = store
    this.#overrides = store.overrides?.(name)
  }

  get attributes(): readonly string[] {
    return this.#matcher.attributes
  }

  check(request: PolicyRequest<string>, options?: CostOptions): Verdict {
    const demands = this.#matcher.demandsOf(request, checkCostOptions(options), this.#overrides)
    return verdictOf(demands, this.#store.decide(demands).decisions)
  }

  peek(request: PolicyRequest<string>): Verdict {
    const demands = this.#matcher.demandsOf(request, 0, this.#overrides, true)
    return verdictOf(demands, this.#store.decide(demands).decisions)
  }

  charge(request: PolicyRequest<string>, options?: CostOptions): Verdict {
    return this.#each(request, options, (demand) => this.#store.charge(demand))
  }

  refund(request: PolicyRequest<string>, options?: CostOptions): Verdict {
    return this.#each(request, options, (demand) => this.#store.giveBack(demand, undefined))
  }

  reserve(request: PolicyRequest<string>, options?: CostOptions): PolicyReservation {
    const cost = checkCostOptions(options)
    const demands = this.#matcher.demandsOf(request, cost, this.#overrides)
    const answer = this.#store.decide(demands)
    const settle = settlingAll(this.#store, demands, answer, this.#matcher.costsFor(demands, request, cost))
    return {
      verdict: verdictOf(demands, answer.decisions),
      settle: (actual) => void settle(actual),
      cancel: () => void settle(CANCELLED),
    }
  }

  reset(request: PolicyRequest<string>, options?: ResetOptions<string>): void {
    for (const { name, key } of checkReset(this.#matcher, request, this.#overrides, options))
      this.#store.reset(name, key)
  }

  override(level: string, key: OverrideKey, limit: Limit | readonly Limit[], options?: OverrideOptions): void {
    this.#set(checkOverride(this.#matcher, level, key, limit, options))
  }

  removeOverride(level: string, key: OverrideKey): void {
    this.#set(checkRemoval(this.#matcher, level, key))
  }

  explain(request: PolicyRequest<string>, options?: CostOptions): readonly Explanation[] {
    const levels = this.#matcher.explain(request, checkCostOptions(options), this.#overrides)
    return explained(levels, this.peek(request).levels)
  }

  #set({ level, key, limits, untilMs }: OverrideCall): void {
    overridesOf(this.#store, this.name).set(level, key, limits, untilMs)
  }

  #each(
    request: PolicyRequest<string>,
    options: CostOptions | undefined,
    run: (demand: LevelDemand) => Decision,
  ): Verdict {
    const demands = this.#matcher.demandsOf(request, checkCostOptions(options), this.#overrides)
    return verdictOf(demands, demands.map(run))
  }
}
