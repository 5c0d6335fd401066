import type { PolicyProblem } from '../errors.js'
import { checkCostOptions } from '../limiter/check-call.js'
import type { CostOptions } from '../limiter/index.js'
import type { Decision, Limit } from '../limits/index.js'
import type { SyncOverrides, SyncStore } from '../stores/index.js'
import { checkOverride, checkRemoval, checkReset, type OverrideCall, overridesOf } from './call.js'
import { type Explanation, explained } from './explain.js'
import type { Matcher } from './matcher.js'
import type { OverrideKey, OverrideOptions, Policy, PolicyReservation, ResetOptions, Verdict } from './policy.js'
import { TakenDemands } from './settling.js'
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

  get queues(): boolean {
    return this.#matcher.queues
  }

  get leases(): boolean {
    // An override at run time may be any limit.
    return this.#matcher.leases || (this.#overrides !== undefined && this.#overrides.size > 0)
  }

  check(request: object, options?: CostOptions): Verdict {
    const demands = this.#matcher.demandsOf(request, checkCostOptions('check', options), this.#overrides)
    return verdictOf(demands, this.#store.decide(demands).decisions)
  }

  peek(request: object): Verdict {
    const demands = this.#matcher.demandsOf(request, 0, this.#overrides, true)
    return verdictOf(demands, this.#store.decide(demands).decisions)
  }

  charge(request: object, options?: CostOptions): Verdict {
    return this.#each(request, checkCostOptions('charge', options), (demand) => this.#store.charge(demand))
  }

  refund(request: object, options?: CostOptions): Verdict {
    return this.#each(request, checkCostOptions('refund', options), (demand) => this.#store.refund(demand, undefined))
  }

  reserve(request: object, options?: CostOptions): PolicyReservation {
    const cost = checkCostOptions('reserve', options)
    const copy = this.#matcher.copyOf(request)
    const demands = this.#matcher.demandsOf(copy, cost, this.#overrides)
    const answer = this.#store.decide(demands)
    const taken = new TakenDemands(this.#store, demands, answer, this.#matcher.costsFor(demands, copy, cost))
    const release = () => void taken.release()
    return {
      verdict: verdictOf(demands, answer.decisions),
      settle: (actual) => void taken.settle(actual),
      cancel: () => void taken.cancel(),
      release,
      [Symbol.dispose]: release,
    }
  }

  reset(request: object, options?: ResetOptions<string>): void {
    for (const { name, key } of checkReset(this.#matcher, request, this.#overrides, options))
      this.#store.reset(name, key)
  }

  override(level: string, key: OverrideKey, limit: Limit | readonly Limit[], options?: OverrideOptions): void {
    this.#set(checkOverride(this.#matcher, level, key, limit, options))
  }

  removeOverride(level: string, key: OverrideKey): void {
    this.#set(checkRemoval(this.#matcher, level, key))
  }

  explain(request: object, options?: CostOptions): readonly Explanation[] {
    const levels = this.#matcher.explain(request, checkCostOptions('explain', options), this.#overrides)
    return explained(levels, this.peek(request).levels)
  }

  #set({ level, key, limits, untilMs }: OverrideCall): void {
    overridesOf(this.#store, this.name).set(level, key, limits, untilMs)
  }

  #each(request: object, cost: number, run: (demand: LevelDemand) => Decision): Verdict {
    const demands = this.#matcher.demandsOf(request, cost, this.#overrides)
    return verdictOf(demands, demands.map(run))
  }
}
