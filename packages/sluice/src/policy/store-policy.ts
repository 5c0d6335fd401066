import { checkOptions } from '../checks/check-options.js'
import { decideJointlyObserved } from '../diagnostics/decide-jointly-observed.js'
import { type Asker, decideObserved, decisionChannel } from '../diagnostics/decision-channel.js'
import { invalidType, StoreUnavailableError } from '../errors.js'
import { checkCostOptions, checkReserve } from '../limiter/check-call.js'
import type { CostOptions, ReserveOptions } from '../limiter/index.js'
import type { Decision, Limit } from '../limits/index.js'
import type { Answer, Awaitable, Overrides, Store } from '../stores/index.js'
import { blockedStates, checkBlockArguments, checkLevels } from './block-arguments.js'
import { type CheckedRequest, checkRefund, checkRequests, copiesOfRequests, verdictsOf } from './check-requests.js'
import { type Explanation, withDecisions } from './explanation.js'
import type { Matcher } from './matcher.js'
import { checkOverride, checkRemoval, type OverrideArguments } from './override-arguments.js'
import type {
  JointRequest,
  OverrideKey,
  OverrideOptions,
  PolicyBlockOptions,
  PolicyRefundOptions,
  PolicySetOptions,
  ResetOptions,
  RunTimeOverride,
} from './policy.js'
import { checkSetArguments, setDemands } from './set-arguments.js'
import { TakenDemands } from './taken-demands.js'
import { type StoreReservation, TimedPolicyReservations } from './timed-policy-reservations.js'
import { type JointVerdict, type LevelDemand, type Verdict, verdictOf } from './verdict.js'

/** Continues with the demands of a request. `isKnown`: all run-time overrides were known when they were made. */
type WithDemands<R> = (demands: readonly LevelDemand[], isKnown: boolean, request: object, cost: number) => Awaitable<R>

/**
 * A policy on any store. If the store is synchronous, every method returns its value, and this is a `Policy` as it
 * stands. Otherwise every method returns a promise, or throws if an argument is wrong; `AsyncStorePolicy` turns that
 * into a rejection.
 *
 * A method reaches the store before it returns, unless it must wait for run-time overrides first. So calls of one task
 * reach the store in their order.
 */
export class StorePolicy {
  readonly name: string
  readonly #matcher: Matcher
  readonly #store: Store
  readonly #isSynchronous: boolean
  readonly #overrides: Overrides | undefined
  readonly #timed: TimedPolicyReservations
  readonly #asker: Asker

  constructor(name: string, matcher: Matcher, store: Store, isSynchronous: boolean) {
    this.name = name
    this.#matcher = matcher
    this.#store = store
    this.#isSynchronous = isSynchronous
    this.#overrides = store.overrides?.(name)
    this.#asker = { kind: 'policy', name }
    this.#timed = new TimedPolicyReservations(this.#asker, matcher, store)
  }

  get attributes(): readonly string[] {
    return this.#matcher.attributes
  }

  get queues(): boolean {
    return this.#matcher.queues
  }

  get leases(): boolean {
    if (this.#matcher.leases) return true
    // A run-time override may be a concurrency limit. A store that answers later may have some that are not read yet.
    return this.#overrides !== undefined && (!this.#isSynchronous || this.#overrides.size > 0)
  }

  levelsFor(request: object): readonly string[] {
    return this.#matcher.levelsFor(request)
  }

  check(request: object, options?: CostOptions): Awaitable<Verdict> {
    const cost = checkCostOptions('check', options)
    if (decisionChannel.hasSubscribers) return this.#withDemands(request, cost, this.#decideObserved)
    return this.#withDemands(request, cost, this.#decide)
  }

  checkAll(requests: readonly JointRequest[]): Awaitable<JointVerdict> {
    const checked = checkRequests(requests)
    const refreshed = this.#refresh()
    if (!(refreshed instanceof Promise)) return this.#decideJointly(checked, refreshed)
    // The caller may change the requests while this waits.
    const copies = copiesOfRequests((attributes) => this.#matcher.copyOf(attributes), checked)
    return refreshed.then((isKnown) => this.#decideJointly(copies, isKnown))
  }

  peek(request: object, options?: CostOptions): Awaitable<Verdict> {
    return this.#withDemands(request, checkCostOptions('peek', options), (demands, isKnown) =>
      this.#then(this.#store.peek(demands), ({ decisions }) => verdictOf(demands, decisions, isKnown)),
    )
  }

  charge(request: object, options?: CostOptions): Awaitable<Verdict> {
    return this.#each(request, checkCostOptions('charge', options), (demand) => this.#store.charge(demand))
  }

  refund(request: object, options?: PolicyRefundOptions): Awaitable<Verdict> {
    const refund = (demand: LevelDemand) => this.#store.refund(demand, undefined)
    const { cost, limits } = checkRefund(options)
    if (limits === undefined) return this.#each(request, cost, refund)
    const asked = { attributes: this.#matcher.copyOf(request), cost, limits }
    return this.#afterRefresh((isKnown) =>
      this.#verdictOfAll(this.#matcher.jointDemandsOf([asked], this.#overrides).demands, refund, isKnown),
    )
  }

  reserve(request: object, options?: ReserveOptions): Awaitable<StoreReservation> {
    const { cost, ttlMs, id } = checkReserve(options)
    const copy = this.#matcher.copyOf(request)
    return this.#withDemands(copy, cost, (demands, isKnown) => {
      if (ttlMs !== undefined) return this.#timed.reserve(id, { request: copy, cost, demands, isKnown }, ttlMs)
      const costsFor = this.#matcher.costsFor(demands, copy, cost)
      const asked = decisionChannel.hasSubscribers
        ? decideObserved(this.#store, this.#asker, 'reserve', demands, isKnown, copy, cost)
        : this.#store.decide(demands)
      return this.#then(asked, (answer) => {
        const taken = new TakenDemands(this.#store, demands, answer, costsFor)
        const release = () => this.#ended(taken.release())
        return {
          verdict: verdictOf(demands, answer.decisions, isKnown),
          settle: (actual: unknown) => this.#ended(taken.settle(actual)),
          cancel: () => this.#ended(taken.cancel()),
          release,
          [Symbol.dispose]: release,
        }
      })
    })
  }

  settle(id: string, actual: unknown): Awaitable<boolean> {
    return this.#timed.settle(id, actual)
  }

  cancel(id: string): Awaitable<boolean> {
    return this.#timed.cancel(id)
  }

  release(id: string): Awaitable<boolean> {
    return this.#timed.release(id)
  }

  set(request: object, options: PolicySetOptions<string>): Awaitable<Verdict> {
    const given = checkSetArguments(this.#matcher, options)
    const copy = this.#matcher.copyOf(request)
    return this.#withDemands(copy, 0, (demands, isKnown) => {
      const { chosen, units } = setDemands(this.#matcher, copy, demands, given)
      return this.#verdictOfAll(chosen, (demand) => this.#store.set(demand, units), isKnown)
    })
  }

  reset(request: object, options: ResetOptions<string> = {}): Awaitable<void> {
    const levels = checkLevels(this.#matcher, checkOptions('reset', options, ['levels']).levels)
    const copy = this.#matcher.copyOf(request)
    return this.#afterRefresh(() => {
      const states = this.#matcher.statesOf(copy, this.#overrides)
      const chosen = levels === undefined ? states : states.filter(({ level }) => levels.includes(level))
      return this.#done(chosen.map(({ name, key }) => this.#store.reset(name, key)))
    })
  }

  block(request: object, options: PolicyBlockOptions<string>): Awaitable<readonly string[]> {
    const blocked = checkBlockArguments(this.#matcher, options)
    const copy = this.#matcher.copyOf(request)
    return this.#afterRefresh(() => {
      const states = blockedStates(this.#matcher, copy, this.#overrides, blocked)
      const answers = states.map(({ name, key }) => this.#store.block(name, key, blocked.durationUs))
      return this.#then(this.#all(answers), () => [...new Set(states.map(({ level }) => level))])
    })
  }

  override(
    level: string,
    key: OverrideKey,
    limit: Limit | readonly Limit[],
    options?: OverrideOptions,
  ): Awaitable<void> {
    return this.#setOverride(checkOverride(this.#matcher, level, key, limit, options))
  }

  removeOverride(level: string, key: OverrideKey): Awaitable<void> {
    return this.#setOverride(checkRemoval(this.#matcher, level, key))
  }

  overrides(): Awaitable<readonly RunTimeOverride[]> {
    return this.#afterRefresh((isKnown) => {
      if (!isKnown) throw new StoreUnavailableError('the store did not report the run-time overrides in time')
      return this.#overrides === undefined ? [] : this.#matcher.runTimeOverrides(this.#overrides.entries())
    })
  }

  explain(request: object, options?: CostOptions): Awaitable<readonly Explanation[]> {
    const cost = checkCostOptions('explain', options)
    const copy = this.#matcher.copyOf(request)
    return this.#withDemands(copy, cost, (demands, isKnown) => {
      const levels = this.#matcher.explain(copy, cost, this.#overrides)
      return this.#then(this.#store.peek(demands), ({ decisions }) =>
        withDecisions(levels, verdictOf(demands, decisions).levels, isKnown),
      )
    })
  }

  /**
   * Calls `next` with the demands of the request: now, unless the run-time overrides must be read first. `isKnown` says
   * whether all of them were known in time.
   *
   * This is the path of every check. The closures of the case that waits are in `#withDemandsLater`, because V8 would
   * allocate their context here even if they are not made.
   */
  #withDemands<R>(request: object, cost: number, next: WithDemands<R>): Awaitable<R> {
    const refreshed = this.#refresh()
    if (refreshed instanceof Promise) return this.#withDemandsLater(refreshed, request, cost, next)
    return next(this.#matcher.demandsOf(request, cost, this.#overrides), refreshed, request, cost)
  }

  #withDemandsLater<R>(refreshed: Promise<boolean>, request: object, cost: number, next: WithDemands<R>): Promise<R> {
    // The caller may change the request while this waits.
    const copy = this.#matcher.copyOf(request)
    return refreshed.then((isKnown) => next(this.#matcher.demandsOf(copy, cost, this.#overrides), isKnown, copy, cost))
  }

  /** Calls `next` once the run-time overrides are known, or are known to be incomplete. */
  #afterRefresh<R>(next: (isKnown: boolean) => Awaitable<R>): Awaitable<R> {
    const refreshed = this.#refresh()
    return refreshed instanceof Promise ? refreshed.then(next) : next(refreshed)
  }

  #refresh(): Awaitable<boolean> {
    return this.#overrides === undefined ? true : this.#overrides.refresh()
  }

  readonly #decide: WithDemands<Verdict> = (demands, isKnown) => {
    const answer = this.#store.decide(demands)
    return this.#isSynchronous
      ? verdictOf(demands, (answer as Answer).decisions, isKnown)
      : this.#verdictLater(demands, answer, isKnown)
  }

  /** `#decide`, for the case that a subscriber listens. */
  readonly #decideObserved: WithDemands<Verdict> = (demands, isKnown, request, cost) => {
    const answer = decideObserved(this.#store, this.#asker, 'check', demands, isKnown, request, cost)
    return this.#isSynchronous
      ? verdictOf(demands, (answer as Answer).decisions, isKnown)
      : this.#verdictLater(demands, answer, isKnown)
  }

  #decideJointly(requests: readonly CheckedRequest[], isKnown: boolean): Awaitable<JointVerdict> {
    const joint = this.#matcher.jointDemandsOf(requests, this.#overrides)
    const answer = decisionChannel.hasSubscribers
      ? decideJointlyObserved(this.#store, this.#asker, joint, isKnown)
      : this.#store.decide(joint.demands)
    return this.#then(answer, ({ allowed, decisions }) => ({
      allowed,
      verdicts: verdictsOf(joint, decisions, isKnown),
    }))
  }

  async #verdictLater(demands: readonly LevelDemand[], answer: Awaitable<Answer>, isKnown: boolean): Promise<Verdict> {
    return verdictOf(demands, (await answer).decisions, isKnown)
  }

  #each(request: object, cost: number, run: (demand: LevelDemand) => Awaitable<Decision>): Awaitable<Verdict> {
    return this.#withDemands(request, cost, (demands, isKnown) => this.#verdictOfAll(demands, run, isKnown))
  }

  /** Calls `run` for each demand, and combines the decisions. */
  #verdictOfAll(
    demands: readonly LevelDemand[],
    run: (demand: LevelDemand) => Awaitable<Decision>,
    isKnown: boolean,
  ): Awaitable<Verdict> {
    return this.#then(this.#all(demands.map(run)), (decisions) => verdictOf(demands, decisions, isKnown))
  }

  #setOverride({ level, key, limits, untilMs }: OverrideArguments): Awaitable<void> {
    if (this.#overrides !== undefined) return this.#overrides.set(level, key, limits, untilMs)
    throw invalidType('store', 'one that keeps overrides, as memoryStore() and redisStore(client) do', this.#store)
  }

  /** Calls `next` with the store's answer: now if the store is synchronous, otherwise when the answer is there. */
  #then<T, R>(answer: Awaitable<T>, next: (answer: T) => R): Awaitable<R> {
    return this.#isSynchronous ? next(answer as T) : Promise.resolve(answer).then(next)
  }

  #all<T>(answers: readonly Awaitable<T>[]): Awaitable<readonly T[]> {
    return this.#isSynchronous ? (answers as readonly T[]) : Promise.all(answers)
  }

  /** Returns nothing once all the store's answers are there. */
  #done(answers: readonly unknown[]): Awaitable<void> {
    return this.#then(this.#all(answers), () => {})
  }

  /** True when all of the answers are there; false if nothing was asked, because it was over before. */
  #ended(answers: readonly unknown[] | undefined): Awaitable<boolean> {
    return answers === undefined ? false : this.#then(this.#all(answers), () => true)
  }
}
