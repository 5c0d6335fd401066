import type { AsyncPolicy, Awaitable, JointVerdict, Limit, Policy, Verdict } from 'sluice'
import { allThere, whenThere } from '../envoy/when-there.js'
import type { AskedLimit } from './asked-limit.js'
import { type Outcome, outcomeOf } from './outcome.js'

/** What was decided about a request. */
export interface RulesVerdict {
  /** One for each limit that was asked, in the order of the request. */
  readonly outcomes: readonly Outcome[]
  /** The request is over the limit, so it took nothing. */
  readonly isOver: boolean
}

/**
 * One request, decided by all of its limits together: it takes from all of them or from none.
 *
 * Quota rules deny only if all of them are over. So if there are several, the decision looks at them first, and those that are over
 * are not asked: the request then needs each of the others, and there is at least one. If another request was faster and one of
 * those is over now, it begins again without it.
 */
export class RulesDecision {
  readonly #policy: Policy | AsyncPolicy
  readonly #asked: readonly AskedLimit[]
  readonly #takes: readonly AskedLimit[]
  readonly #quotas: readonly AskedLimit[]
  /** Quota rules that are over. */
  readonly #left = new Map<AskedLimit, Outcome>()

  constructor(policy: Policy | AsyncPolicy, asked: readonly AskedLimit[]) {
    this.#policy = policy
    this.#asked = asked
    this.#takes = asked.filter(({ isRefund }) => !isRefund)
    this.#quotas = this.#takes.filter(isQuota)
  }

  decide(): Awaitable<RulesVerdict> {
    if (this.#quotas.length < 2) return this.#check()
    return whenThere(this.#look(this.#quotas), (looked) => {
      for (const outcome of looked) if (outcome.isOver) this.#left.set(outcome.asked, outcome)
      return this.#check()
    })
  }

  /** Asks for everything but the quota rules that are over. */
  #check(): Awaitable<RulesVerdict> {
    const isAnyQuotaLeft = this.#quotas.length === 0 || this.#left.size < this.#quotas.length
    const included = this.#takes.filter((asked) => !this.#left.has(asked))
    if (!isAnyQuotaLeft) return whenThere(this.#look(included), (outcomes) => this.#end(outcomes, false))
    if (included.length === 0) return this.#end([], true)
    return whenThere(this.#checkAll(included), ({ allowed, verdicts }) => {
      let at = 0
      const outcomes = included.map((asked) => {
        const from = at
        at += asked.demands.length
        return outcomeOf(asked, verdicts.slice(from, at))
      })
      return allowed || !this.#leave(outcomes) ? this.#end(outcomes, allowed) : this.#check()
    })
  }

  /** Leaves out quota rules that are over now. False if that would not help: another rule denies, or no quota rule has room. */
  #leave(outcomes: readonly Outcome[]): boolean {
    const over = outcomes.filter(({ isOver, asked }) => isOver && !asked.isShadow)
    const quotas = over.filter(({ asked }) => isQuota(asked))
    if (quotas.length < over.length || this.#left.size + quotas.length === this.#quotas.length) return false
    for (const outcome of quotas) this.#left.set(outcome.asked, outcome)
    return quotas.length > 0
  }

  /** `isTaken`: the limits of `decided` that are not over have taken their hits. */
  #end(decided: readonly Outcome[], isTaken: boolean): Awaitable<RulesVerdict> {
    const isOver = isRequestOver([...decided, ...this.#left.values()])
    // A look at a quota of 0 is over the limit, but the store had no reason to deny it.
    const kept = isOver && isTaken ? this.#undo(decided) : decided
    return whenThere(kept, (outcomes) => this.#finish([...outcomes, ...this.#left.values()], isOver))
  }

  #finish(outcomes: readonly Outcome[], isOver: boolean): Awaitable<RulesVerdict> {
    const debts = outcomes.filter(leavesDebt).flatMap(({ asked }) => this.#charge(asked))
    const refunds = this.#asked.filter(({ isRefund }) => isRefund)
    return whenThere(allThere(debts), () => {
      const given = isOver ? this.#look(refunds) : this.#refundAll(refunds)
      return whenThere(given, (more) => ({ outcomes: this.#inOrder([...outcomes, ...more]), isOver }))
    })
  }

  /** Gives back what was taken. */
  #undo(decided: readonly Outcome[]): Awaitable<readonly Outcome[]> {
    return allThere(
      decided.map((outcome) => {
        const { asked, isOver } = outcome
        if (isOver) return outcome
        return whenThere(allThere(this.#refund(asked)), (verdicts) => ({
          ...outcomeOf({ ...asked, isRefund: true }, verdicts),
          asked,
        }))
      }),
    )
  }

  #inOrder(outcomes: Outcome[]): readonly Outcome[] {
    return outcomes.length < 2 ? outcomes : outcomes.sort((one, other) => one.asked.index - other.asked.index)
  }

  #checkAll(included: readonly AskedLimit[]): Awaitable<JointVerdict> {
    return this.#policy.checkAll(
      included.flatMap(({ demands, hits, given }) =>
        demands.map(({ attributes }) =>
          given === undefined ? { attributes, cost: hits } : { attributes, cost: hits, limits: given },
        ),
      ),
    )
  }

  /** What `#checkAll` would say of each, without taking anything. */
  #look(asked: readonly AskedLimit[]): Awaitable<readonly Outcome[]> {
    return this.#each(asked, ({ demands, given, hits, isRefund }) =>
      demands.map(({ attributes }) =>
        given === undefined
          ? this.#policy.peek(attributes, { cost: isRefund ? 0 : hits })
          : whenThere(this.#checkGiven(attributes, given), ({ verdicts }) => verdicts[0]),
      ),
    )
  }

  /** A look at a limit that came with the request: a `peek` would look at the level's own. */
  #checkGiven(attributes: object, limits: Limit): Awaitable<JointVerdict> {
    return this.#policy.checkAll([{ attributes, cost: 0, limits }])
  }

  #refundAll(asked: readonly AskedLimit[]): Awaitable<readonly Outcome[]> {
    return this.#each(asked, (one) => this.#refund(one))
  }

  #each(
    asked: readonly AskedLimit[],
    ask: (one: AskedLimit) => readonly Awaitable<Verdict>[],
  ): Awaitable<readonly Outcome[]> {
    return allThere(asked.map((one) => whenThere(allThere(ask(one)), (verdicts) => outcomeOf(one, verdicts))))
  }

  #refund({ demands, hits, given }: AskedLimit): readonly Awaitable<Verdict>[] {
    const options = given === undefined ? { cost: hits } : { cost: hits, limits: given }
    return demands.map(({ attributes }) => this.#policy.refund(attributes, options))
  }

  #charge({ demands, hits }: AskedLimit): readonly Awaitable<Verdict>[] {
    return demands.map(({ attributes }) => this.#policy.charge(attributes, { cost: hits }))
  }
}

function isQuota({ rule, isShadow }: AskedLimit): boolean {
  return rule?.quotaMode === true && !isShadow
}

/** Is the request over the limit? If any ordinary rule is, or all quota rules are. Shadows do not count. */
export function isRequestOver(outcomes: readonly Outcome[]): boolean {
  const counting = outcomes.filter(({ asked }) => !asked.isShadow)
  const quotas = counting.filter(({ asked }) => isQuota(asked))
  const isAnyOver = counting.some(({ asked, isOver }) => isOver && !isQuota(asked))
  return isAnyOver || (quotas.length > 0 && quotas.every(({ isOver }) => isOver))
}

/** Hits that exceed what is left are counted by a rule with `count_over_limit`, once: then nothing is left. */
function leavesDebt({ asked, isOver, tightest }: Outcome): boolean {
  return isOver && asked.rule?.countOverLimit === true && asked.hits > 0 && (tightest?.decision.remaining ?? 0) > 0
}
